"""Swaps of one item with an item of a machine: compared by load without lifting; the best is then tried with all rules."""

import numpy as np

from bayplan.kernels.jit import kernel
from bayplan.kernels.random import below, uniform
from bayplan.kernels.search.delta_cost import machine_cost
from bayplan.kernels.search.eject import undo
from bayplan.kernels.search.feasible import fits_ignoring_dependencies
from bayplan.kernels.search.incumbent import record_move, update_best
from bayplan.kernels.search.lift_drop import drop, lift
from bayplan.kernels.search.state import CHARGE, LIMIT, LOAD, MAX_MOVES, MOVED, UNMET, amount_index

MAX_PARTNERS = 12  # items of a machine that are compared


@kernel
def fits_after_swap(state, i, m, j):
    """Does item i fit on machine m, by capacity, once item j has left it?"""
    at, ints = state.at[0], state.ints
    n_r = at.resources
    want, gone = at.request + ints[at.kind_of + i] * n_r, at.request + ints[at.kind_of + j] * n_r
    used, limit = amount_index(state, m, LOAD if ints[at.home + i] == m else CHARGE), amount_index(state, m, LIMIT)
    stays_charged = ints[at.home + j] == m and ints[at.home + i] != m
    for r in range(n_r):
        q = ints[want + r]
        if q > 0:
            freed = 0 if stays_charged and ints[at.joint + r] == 1 else ints[gone + r]
            if ints[used + r] - freed > ints[limit + r] - q:
                return False
    return True


@kernel
def swap_mean_cost(state, m, into, origin, out):
    """The change of the part of U that reads all utilisations: kind `into` goes from `origin` to m, `out` back."""
    at, floats = state.at[0], state.floats
    n_r = at.resources
    cost = 0.0
    for r in range(n_r):
        weight = floats[at.mean + r]
        if weight > 0.0:
            more = state.ints[at.request + into * n_r + r] - state.ints[at.request + out * n_r + r]
            change = more * (floats[at.slope + m * n_r + r] - floats[at.slope + origin * n_r + r])
            cost -= weight * change * (2.0 * floats[at.utilisation_sum + r] + change)
    return cost


@kernel
def best_partner(state, i, m, limit, rng):
    """Of a few items of machine m the one whose swap with item i costs least by load; -1 if all cost more than `limit`."""
    at, ints, floats = state.at[0], state.ints, state.floats
    origin, k = ints[at.machine_of + i], ints[at.kind_of + i]
    here = floats[at.cost + origin] + floats[at.cost + m]
    partner, least = -1, limit
    size = ints[at.items_on_size + m]
    first = below(rng, size) if size > MAX_PARTNERS else 0
    for e in range(min(size, MAX_PARTNERS)):
        slot = first + e
        j = state.small[at.items_on + m * at.slots + (slot if slot < size else slot - size)]
        other = ints[at.kind_of + j]
        if (
            other == k
            or ints[at.movable + j] == 0
            or not (fits_after_swap(state, i, m, j) and fits_after_swap(state, j, origin, i))
        ):
            continue
        change = machine_cost(state, m, k, other) + machine_cost(state, origin, other, k) - here
        change += swap_mean_cost(state, m, k, origin, other)
        if change <= least:
            partner, least = j, change
    return partner


@kernel
def swap_step(state, i, m, rng, temperature, loose, incumbent, lifted):
    """Swap item i with the best partner on machine m, by Metropolis' rule; was it done?"""
    at, ints = state.at[0], state.ints
    if m == ints[at.machine_of + i]:
        return False
    slack = -temperature * np.log(uniform(rng)) if temperature > 0.0 else 0.0
    j = best_partner(state, i, m, slack, rng)
    if j < 0:
        return False
    total, unmet = state.floats[at.total], ints[at.tally + UNMET]
    lifted.item[0], lifted.item[1] = i, j
    lifted.origin[0], lifted.origin[1] = lift(state, i), lift(state, j)
    placed = 0
    if fits_ignoring_dependencies(state, i, m):
        drop(state, i, m)
        placed = 1
        if fits_ignoring_dependencies(state, j, lifted.origin[0]):
            drop(state, j, lifted.origin[0])
            placed = 2
    good = placed == 2 and state.floats[at.total] <= total + slack and ints[at.tally + MOVED] <= ints[at.tally + MAX_MOVES]
    if not (good and (loose or ints[at.tally + UNMET] <= unmet)):
        undo(state, lifted, placed, 2, total)
        return False
    record_move(incumbent, i, lifted.origin[0])
    record_move(incumbent, j, lifted.origin[1])
    update_best(incumbent, state)
    return True
