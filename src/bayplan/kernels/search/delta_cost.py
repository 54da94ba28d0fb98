"""What the objective changes by if a lifted item comes to a machine; nothing is moved here.

The total is a sum of: the cost of each machine's load, the part of U that reads the sum of all utilisations, traffic, moves, and
what a walk charges for unmet dependencies.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import kernel
from bayplan.kernels.search.feasible import extra_unmet
from bayplan.kernels.search.state import (
    AFFINITY_BY_WIDTH,
    AFFINITY_WIDTH,
    BUSIEST,
    BUSIEST_MOVE,
    BY_MACHINE,
    CAPACITY,
    EACH_MOVE,
    LOAD,
    NOWHERE,
    PAIR_BY_WIDTH,
    PAIR_WIDTH,
    SAFETY,
    SERVICE_WIDTH,
    amount_index,
    count_index,
)


class LoadPrices(NamedTuple):
    """The blocks of the state that say what load costs, before any noise."""

    overload: npt.NDArray[np.float64]  # (resource,)
    mean: npt.NDArray[np.float64]  # (resource,)
    square: npt.NDArray[np.float64]  # (machine * resource,)


@kernel
def machine_cost(state, m, into, out):
    """What the load of a machine costs, with one item of kind `into` more and one of kind `out` less."""
    at, ints, floats = state.at[0], state.ints, state.floats
    n_r = at.resources
    more, less = at.request + into * n_r, at.request + out * n_r
    load_at, safety, capacity = amount_index(state, m, LOAD), amount_index(state, m, SAFETY), amount_index(state, m, CAPACITY)
    variance = at.variance_priced == 1
    cost = 0.0
    for r in range(n_r):
        load = ints[load_at + r] + ints[more + r] - ints[less + r]
        above = load - ints[safety + r]
        if above > 0:
            cost += floats[at.overload + r] * above
        if variance:
            cost += floats[at.square + m * n_r + r] * load * load
    for e in range(at.pairs):
        r1, r2 = ints[at.pair + PAIR_WIDTH * e], ints[at.pair + PAIR_WIDTH * e + 1]
        c1, c2 = ints[capacity + r1], ints[capacity + r2]
        if ints[at.pair + PAIR_WIDTH * e + 2] == 0 or (c1 > 0 and c2 > 0):
            free_1 = c1 - ints[load_at + r1] - ints[more + r1] + ints[less + r1]
            free_2 = c2 - ints[load_at + r2] - ints[more + r2] + ints[less + r2]
            term = at.pair_by + PAIR_BY_WIDTH * e
            cost += floats[term] * max(0.0, floats[term + 1] * free_1 - floats[term + 2] * free_2)
    return cost


@kernel
def mean_cost(state, m, k):
    """The part of U that reads the sum of all utilisations: its change if an item of kind k comes to m."""
    at, floats = state.at[0], state.floats
    n_r = at.resources
    cost = 0.0
    if at.variance_priced == 0:
        return cost
    for r in range(n_r):
        weight = floats[at.mean + r]
        if weight > 0.0:
            more = floats[at.slope + m * n_r + r] * state.ints[at.request + k * n_r + r]
            cost -= weight * more * (2.0 * floats[at.utilisation_sum + r] + more)
    return cost


@kernel
def traffic_gain(state, k, m):
    """Communication that stays local and affinity that is gained, if an item of kind k comes to m."""
    at, ints, floats, small = state.at[0], state.ints, state.floats, state.small
    gain = 0.0
    for e in range(ints[at.local_start + k], ints[at.local_start + k + 1]):
        gain += floats[at.local_gain + e] * small[count_index(state, ints[at.local_row + e], m)]
    for e in range(ints[at.affinity_start + k], ints[at.affinity_start + k + 1]):
        entry, by = at.affinity_edge + AFFINITY_WIDTH * e, at.affinity_by + AFFINITY_BY_WIDTH * e
        of_a, of_b = small[count_index(state, ints[entry], m)], small[count_index(state, ints[entry + 1], m)]
        then = min((of_a + ints[entry + 2]) * floats[by + 1], (of_b + ints[entry + 3]) * floats[by + 2])
        gain += floats[by] * (then - min(of_a * floats[by + 1], of_b * floats[by + 2]))
    return gain


@kernel
def extra_moves(state, i, m):
    """The change in the number of moved containers, if item i comes to m: 0 or below. What is lifted counts as moved.

    Items of one kind are interchangeable: any of them fills the gap that another has left.
    """
    at, ints = state.at[0], state.ints
    k = ints[at.kind_of + i]
    row = ints[at.surplus_row + k]
    if row == NOWHERE:
        return -ints[at.size + k] if ints[at.home + i] == m else 0
    return -ints[at.size + k] if state.small[at.surplus + row * at.machines + m] < 0 else 0


@kernel
def move_cost(state, i, m):
    """The change in the cost of moves, if item i comes to m."""
    at, ints, floats = state.at[0], state.ints, state.floats
    cost = 0.0
    if floats[at.move_price + EACH_MOVE] > 0.0:
        cost += floats[at.move_price + EACH_MOVE] * extra_moves(state, i, m)
    home = ints[at.home + i]
    if home == m or home == NOWHERE:
        return cost
    k = ints[at.kind_of + i]
    cost += floats[at.leaving_cost + k]
    if floats[at.move_price + BY_MACHINE] > 0.0:
        cost += floats[at.machine_move_cost + home * at.machines + m] * ints[at.size + k]  # for each container of a unit
    if floats[at.move_price + BUSIEST_MOVE] > 0.0:
        busiest = ints[at.tally + BUSIEST]
        top = busiest
        for e in range(ints[at.service_start + k], ints[at.service_start + k + 1]):
            top = max(top, ints[at.moved_of + ints[at.service + SERVICE_WIDTH * e]] + ints[at.service + SERVICE_WIDTH * e + 1])
        cost += floats[at.move_price + BUSIEST_MOVE] * (top - busiest)
    return cost


@kernel
def unmet_cost(state, i, m):
    """The change in what the walk charges for unmet dependencies, if item i comes to m."""
    at = state.at[0]
    each = state.floats[at.unmet_price]
    return each * extra_unmet(state, i, m) if each > 0.0 else 0.0


@kernel
def delta_cost(state, i, m):
    """The change of the objective if the lifted item comes to the machine."""
    at = state.at[0]
    k = state.ints[at.kind_of + i]
    cost = machine_cost(state, m, k, at.empty_kind) - state.floats[at.cost + m] + mean_cost(state, m, k)
    return cost - traffic_gain(state, k, m) + move_cost(state, i, m) + unmet_cost(state, i, m)


@kernel
def reweight(state, true, factor):
    """Multiply the true cost of each resource's load by its factor; every sum follows."""
    at, floats = state.at[0], state.floats
    n_r = at.resources
    for r in range(n_r):
        floats[at.overload + r] = true.overload[r] * factor[r]
        then = true.mean[r] * factor[r]
        floats[at.total] -= (then - floats[at.mean + r]) * floats[at.utilisation_sum + r] * floats[at.utilisation_sum + r]
        floats[at.mean + r] = then
        for m in range(at.machines):
            floats[at.square + m * n_r + r] = true.square[m * n_r + r] * factor[r]
    for m in range(at.machines):
        cost = machine_cost(state, m, at.empty_kind, at.empty_kind)
        floats[at.total] += cost - floats[at.cost + m]
        floats[at.cost + m] = cost
