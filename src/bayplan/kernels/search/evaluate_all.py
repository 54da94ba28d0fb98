"""One lifted item, all machines at once: where may it run, and what would that cost?

The same as `fits` and `delta_cost` of every machine, but with the loops turned round: lists and requests are read once, and the
inner loops run over machines, side by side in memory.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import kernel
from bayplan.kernels.search.delta_cost import move_cost, traffic_gain, unmet_cost
from bayplan.kernels.search.feasible import keeps_confidence, keeps_count_rules, within_capacity
from bayplan.kernels.search.skew import skew_group, within_skew
from bayplan.kernels.search.state import (
    BUSIEST_MOVE,
    BY_MACHINE,
    CAPACITY,
    CHARGE,
    DEPENDS_WIDTH,
    EACH_MOVE,
    INTERFERENCE_WIDTH,
    LIMIT,
    LOAD,
    MAX_COUNT_WIDTH,
    NOWHERE,
    PAIR_BY_WIDTH,
    PAIR_WIDTH,
    SAFETY,
    SKEW_GROUPS,
    SKEW_RULE_WIDTH,
    SKEW_WIDTH,
    SPREAD_WIDTH,
    amount_index,
)


class Evaluation(NamedTuple):
    """What `evaluate_all` writes: `machine` and `delta`; the others are scratch."""

    machine: npt.NDArray[np.int64]  # (number,) where the rules hold, ascending
    delta: npt.NDArray[np.float64]  # (number,) the change of the objective there
    feasible: npt.NDArray[np.int8]  # (machine,) 1 if the rules hold
    free: npt.NDArray[np.float64]  # (resource, number) what would be left


def new_evaluation(machines: int, resources: int) -> Evaluation:
    """Arrays for one evaluation."""
    return Evaluation(
        np.zeros(machines, np.int64), np.zeros(machines), np.zeros(machines, np.int8), np.zeros((resources, machines))
    )


@kernel
def check_capacity(state, i, evaluation):
    """Test allow lists, the only machine of an item, capacity with what moves are charged, confidence."""
    at, ints, feasible = state.at[0], state.ints, evaluation.feasible
    n_m, n_r, k = at.machines, at.resources, ints[at.kind_of + i]
    only, home = ints[at.only_machine + i], ints[at.home + i]
    allowed, want = at.allowed + ints[at.allow_row + k] * n_m, at.request + k * n_r
    for m in range(n_m):
        used = amount_index(state, m, CHARGE)
        limit = amount_index(state, m, LIMIT)
        good = (state.small[allowed + m] != 0) & (ints[at.items_on_size + m] < at.slots) & ((only == NOWHERE) | (m == only))
        for r in range(n_r):
            q = ints[want + r]
            good &= (ints[used + r] <= ints[limit + r] - q) | ((q == 0) & (ints[at.strict + r] == 0))
        feasible[m] = good and (at.risks == 0 or keeps_confidence(state, i, m))
    if home != NOWHERE:
        good = state.small[allowed + home] != 0 and ints[at.items_on_size + home] < at.slots and (only == NOWHERE or only == home)
        feasible[home] = good and within_capacity(state, i, home) and keeps_confidence(state, i, home)


@kernel
def check_counts(state, i, evaluation):
    """Test anti-affinity, dependency, interference and skew entry by entry; spread, where too few are used, by machine."""
    at, ints, small, feasible = state.at[0], state.ints, state.small, evaluation.feasible
    n_m, k = at.machines, ints[at.kind_of + i]
    for e in range(ints[at.max_count_start + k], ints[at.max_count_start + k + 1]):
        row, limit = ints[at.max_count + MAX_COUNT_WIDTH * e], ints[at.max_count + MAX_COUNT_WIDTH * e + 1]
        count, group = at.count + ints[at.row_start + row], at.group_of + ints[at.row_level + row] * n_m
        for m in range(n_m):
            feasible[m] &= small[count + ints[group + m]] < limit
    for e in range(ints[at.depends_start + k], ints[at.depends_start + k + 1]):
        row = ints[at.depends_on + DEPENDS_WIDTH * e]
        count, group = at.count + ints[at.row_start + row], at.group_of + ints[at.row_level + row] * n_m
        for m in range(n_m):
            feasible[m] &= small[count + ints[group + m]] != 0
    for e in range(ints[at.interference_start + k], ints[at.interference_start + k + 1]):
        check_interference(state, at.interference + INTERFERENCE_WIDTH * e, evaluation)
    for e in range(ints[at.skew_start + k], ints[at.skew_start + k + 1]):
        check_skew(state, at.skew + SKEW_WIDTH * e, evaluation)
    shortage = False
    for e in range(ints[at.spread_start + k], ints[at.spread_start + k + 1]):
        row = ints[at.spread + SPREAD_WIDTH * e]
        shortage = shortage or ints[at.groups_used + row] < ints[at.groups_needed + row]  # else any machine will do
    if shortage:
        for m in range(n_m):
            if feasible[m] == 1 and not keeps_count_rules(state, i, m):
                feasible[m] = 0


@kernel
def check_interference(state, entry, evaluation):
    """Test one interference rule."""
    at, ints, small, feasible = state.at[0], state.ints, state.small, evaluation.feasible
    n_m, row_a, row_b = at.machines, ints[entry], ints[entry + 1]
    more_a, more_b, limit = ints[entry + 2], ints[entry + 3], ints[entry + 4]
    count_a, group_a = at.count + ints[at.row_start + row_a], at.group_of + ints[at.row_level + row_a] * n_m
    count_b, group_b = at.count + ints[at.row_start + row_b], at.group_of + ints[at.row_level + row_b] * n_m
    for m in range(n_m):
        of_a, of_b = small[count_a + ints[group_a + m]], small[count_b + ints[group_b + m]]
        above = of_b + more_b - limit
        feasible[m] &= not ((of_a + more_a > 0) & (above > 0) & ((of_a == 0) | (more_b > 0)))


@kernel
def check_skew(state, entry, evaluation):
    """Test one skew rule."""
    at, ints, feasible = state.at[0], state.ints, evaluation.feasible
    rule, by, own = at.skew_rule + SKEW_RULE_WIDTH * ints[entry], ints[entry + 1], ints[entry + 2]
    groups = ints[rule + SKEW_GROUPS]
    for m in range(at.machines):
        if feasible[m] == 1:
            group = skew_group(state, rule, m)
            feasible[m] = group >= groups or within_skew(state, rule, group, by, own)


@kernel
def list_feasible(evaluation):
    """List the feasible machines; their number."""
    number = 0
    for m in range(len(evaluation.feasible)):
        evaluation.machine[number] = m
        number += evaluation.feasible[m]
    return number


@kernel
def cost_load(state, k, evaluation, number):
    """Set the cost of U, both of its parts, and of load above safety; True if a machine lacks a resource."""
    at, ints, floats = state.at[0], state.ints, state.floats
    n_r, lacks = at.resources, False
    for e in range(number):
        m = evaluation.machine[e]
        load_at, safety, total = amount_index(state, m, LOAD), amount_index(state, m, SAFETY), amount_index(state, m, CAPACITY)
        own = m * n_r
        cost = -floats[at.cost + m]
        for r in range(n_r):
            q = ints[at.request + k * n_r + r]
            load, capacity = np.float64(ints[load_at + r] + q), ints[total + r]
            more = floats[at.slope + own + r] * q
            cost += floats[at.overload + r] * max(0.0, load - ints[safety + r])
            shared = floats[at.mean + r] * more * (2.0 * floats[at.utilisation_sum + r] + more)
            cost += floats[at.square + own + r] * load * load - shared
            evaluation.free[r, e] = capacity - load
            lacks |= capacity == 0
        evaluation.delta[e] = cost
    return lacks


@kernel
def cost_balance(state, evaluation, number, lacks):
    """Add the cost of free amounts out of balance."""
    at, ints, floats = state.at[0], state.ints, state.floats
    for p in range(at.pairs):
        pair, by = at.pair + PAIR_WIDTH * p, at.pair_by + PAIR_BY_WIDTH * p
        r1, r2, both = ints[pair], ints[pair + 1], ints[pair + 2]
        weight, f1, f2 = floats[by], floats[by + 1], floats[by + 2]
        free_1, free_2, delta = evaluation.free[r1], evaluation.free[r2], evaluation.delta
        if both == 0 or not lacks:
            for e in range(number):
                delta[e] += weight * max(0.0, f1 * free_1[e] - f2 * free_2[e])
        else:
            for e in range(number):
                capacity = amount_index(state, evaluation.machine[e], CAPACITY)
                if ints[capacity + r1] > 0 and ints[capacity + r2] > 0:
                    delta[e] += weight * max(0.0, f1 * free_1[e] - f2 * free_2[e])


@kernel
def cost_traffic_and_moves(state, i, k, evaluation, number):
    """Add the cost of traffic, moves, and unmet dependencies; a term without weight takes no time."""
    at, ints, floats, small = state.at[0], state.ints, state.floats, state.small
    machine, delta = evaluation.machine, evaluation.delta
    if ints[at.affinity_start + k + 1] > ints[at.affinity_start + k]:
        for e in range(number):
            delta[e] -= traffic_gain(state, k, machine[e])
    else:
        for p in range(ints[at.local_start + k], ints[at.local_start + k + 1]):
            row, by = ints[at.local_row + p], floats[at.local_gain + p]
            count, group = at.count + ints[at.row_start + row], at.group_of + ints[at.row_level + row] * at.machines
            for e in range(number):
                delta[e] -= by * small[count + ints[group + machine[e]]]
    each = at.move_price
    moving = floats[each + EACH_MOVE] > 0.0 or floats[each + BUSIEST_MOVE] > 0.0 or floats[each + BY_MACHINE] > 0.0
    if moving or floats[at.leaving_cost + k] != 0.0:
        for e in range(number):
            delta[e] += move_cost(state, i, machine[e])
    if floats[at.unmet_price] > 0.0:
        for e in range(number):
            delta[e] += unmet_cost(state, i, machine[e])


@kernel
def evaluate_all(state, i, evaluation):
    """The number of machines the lifted item may run on; they, and the cost there, are in `evaluation`.

    Whether what depends on the item may be left behind is not tested: see `others_kept`.
    """
    k = state.ints[state.at[0].kind_of + i]
    check_capacity(state, i, evaluation)
    check_counts(state, i, evaluation)
    number = list_feasible(evaluation)
    lacks = cost_load(state, k, evaluation, number)
    cost_balance(state, evaluation, number, lacks)
    cost_traffic_and_moves(state, i, k, evaluation, number)
    return number
