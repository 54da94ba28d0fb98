"""Tests and prices of items that have not been lifted: cheap, and never against what the full ones would allow.

A lift, a drop and the way back cost as much as dozens of these. What they let pass is lifted and tested with all rules.
"""

import numpy as np

from bayplan.kernels.jit import inlined, kernel
from bayplan.kernels.search.delta_cost import machine_cost, traffic_gain
from bayplan.kernels.search.feasible import within_capacity
from bayplan.kernels.search.skew import skew_group, within_skew
from bayplan.kernels.search.state import (
    ADD_WIDTH,
    AFFINITY_BY_WIDTH,
    AFFINITY_WIDTH,
    BUSIEST_MOVE,
    BY_MACHINE,
    CHARGE,
    EACH_MOVE,
    LIMIT,
    LOAD,
    MAX_COUNT_WIDTH,
    NOWHERE,
    SKEW_GROUPS,
    SKEW_RULE_WIDTH,
    SKEW_WIDTH,
    UNMET,
    amount_index,
    count_index,
)


@kernel
def counts(state, i, row):
    """How much item i adds to the count of a row."""
    at, ints = state.at[0], state.ints
    k = ints[at.kind_of + i]
    for e in range(ints[at.add_start + k], ints[at.add_start + k + 1]):
        if ints[at.add + ADD_WIDTH * e] == row:
            return ints[at.add + ADD_WIDTH * e + 1]
    return 0


@inlined
def keeps_anti_affinity(state, i, m, leaving):
    """Anti-affinity of item i on machine m, once it and the item `leaving` (or NOWHERE) have left where they are."""
    at, ints = state.at[0], state.ints
    k = ints[at.kind_of + i]
    for e in range(ints[at.max_count_start + k], ints[at.max_count_start + k + 1]):
        row = ints[at.max_count + MAX_COUNT_WIDTH * e]
        there, limit = count_index(state, row, m), ints[at.max_count + MAX_COUNT_WIDTH * e + 1]
        if state.small[there] < limit:
            continue
        stay = state.small[there]
        if there == count_index(state, row, ints[at.machine_of + i]):
            stay -= counts(state, i, row)
        if leaving != NOWHERE and there == count_index(state, row, ints[at.machine_of + leaving]):
            stay -= counts(state, leaving, row)
        if stay >= limit:
            return False
    return True


@kernel
def may_keep_skew(state, i, m):
    """Skew of item i in the group of machine m: what it leaves only gets emptier, so what fails before fails then."""
    at, ints = state.at[0], state.ints
    k = ints[at.kind_of + i]
    for e in range(ints[at.skew_start + k], ints[at.skew_start + k + 1]):
        entry = at.skew + SKEW_WIDTH * e
        rule = at.skew_rule + SKEW_RULE_WIDTH * ints[entry]
        group = skew_group(state, rule, m)
        if group >= ints[rule + SKEW_GROUPS] or group == skew_group(state, rule, ints[at.machine_of + i]):
            continue
        if not within_skew(state, rule, group, ints[entry + 1], ints[entry + 2]):
            return False
    return True


@inlined
def may_enter(state, i, m):
    """Capacity, anti-affinity and skew of item i on a machine other than its own."""
    return within_capacity(state, i, m) and keeps_anti_affinity(state, i, m, NOWHERE) and may_keep_skew(state, i, m)


@inlined
def fits_after_swap(state, i, m, j):
    """Does item i fit on machine m, by capacity, once item j has left it?"""
    at, ints = state.at[0], state.ints
    n_r = at.resources
    want, gone = at.request + ints[at.kind_of + i] * n_r, at.request + ints[at.kind_of + j] * n_r
    used, limit = amount_index(state, m, LOAD if ints[at.home + i] == m else CHARGE), amount_index(state, m, LIMIT)
    stays_charged = ints[at.home + j] == m and ints[at.home + i] != m
    first = ints[at.dominant + ints[at.kind_of + i]]
    if ints[want + first] > 0 and ints[used + first] - ints[gone + first] > ints[limit + first] - ints[want + first]:
        return False
    for r in range(n_r):
        q = ints[want + r]
        if q > 0:
            freed = 0 if stays_charged and ints[at.joint + r] == 1 else ints[gone + r]
            if ints[used + r] - freed > ints[limit + r] - q:
                return False
    return True


@kernel
def traffic_change(state, i, m):
    """The change of communication and lost affinity, if item i goes from its machine to m."""
    at, ints, floats, small = state.at[0], state.ints, state.floats, state.small
    k, origin = ints[at.kind_of + i], ints[at.machine_of + i]
    change = 0.0
    for e in range(ints[at.local_start + k], ints[at.local_start + k + 1]):
        row = ints[at.local_row + e]
        here, there = count_index(state, row, origin), count_index(state, row, m)
        if here != there:
            change += floats[at.local_gain + e] * (small[here] - counts(state, i, row) - small[there])
    for e in range(ints[at.affinity_start + k], ints[at.affinity_start + k + 1]):
        entry, by = at.affinity_edge + AFFINITY_WIDTH * e, at.affinity_by + AFFINITY_BY_WIDTH * e
        of_a, of_b = small[count_index(state, ints[entry], origin)], small[count_index(state, ints[entry + 1], origin)]
        left = min((of_a - ints[entry + 2]) * floats[by + 1], (of_b - ints[entry + 3]) * floats[by + 2])
        change += floats[by] * (min(of_a * floats[by + 1], of_b * floats[by + 2]) - left)
        of_a, of_b = small[count_index(state, ints[entry], m)], small[count_index(state, ints[entry + 1], m)]
        then = min((of_a + ints[entry + 2]) * floats[by + 1], (of_b + ints[entry + 3]) * floats[by + 2])
        change -= floats[by] * (then - min(of_a * floats[by + 1], of_b * floats[by + 2]))
    return change


@inlined
def move_saving(state, i, m):
    """The most that the cost of moves falls by, if item i goes from its machine to m; exact but for the busiest service."""
    at, ints, floats = state.at[0], state.ints, state.floats
    k, origin, home = ints[at.kind_of + i], ints[at.machine_of + i], ints[at.home + i]
    size, row = ints[at.size + k], ints[at.surplus_row + k]
    saving = 0.0
    if floats[at.move_price + EACH_MOVE] > 0.0:
        surplus = at.surplus + row * at.machines
        fills = home == m if row == NOWHERE else state.small[surplus + m] < 0
        opens = home == origin if row == NOWHERE else state.small[surplus + origin] <= 0
        saving += floats[at.move_price + EACH_MOVE] * size * (int(fills) - int(opens))
    if home == NOWHERE:
        return saving
    if origin != home:
        saving += floats[at.leaving_cost + k]
    if m != home:
        saving -= floats[at.leaving_cost + k]
    else:
        saving += floats[at.move_price + BUSIEST_MOVE] * size
    if floats[at.move_price + BY_MACHINE] > 0.0:
        cost = at.machine_move_cost + home * at.machines
        saving += (floats[cost + origin] - floats[cost + m]) * size
    return saving


@kernel
def max_saving(state, i):
    """The most that traffic and moves can save, wherever item i goes; infinite if traffic may save."""
    at, ints, floats = state.at[0], state.ints, state.floats
    k, origin, home = ints[at.kind_of + i], ints[at.machine_of + i], ints[at.home + i]
    has_local = ints[at.local_start + k + 1] > ints[at.local_start + k]
    if has_local or ints[at.affinity_start + k + 1] > ints[at.affinity_start + k]:
        return np.inf
    saving = floats[at.move_price + EACH_MOVE]
    if home != NOWHERE and home != origin:
        saving += floats[at.move_price + BUSIEST_MOVE]
        if floats[at.move_price + BY_MACHINE] > 0.0:
            saving += floats[at.machine_move_cost + home * at.machines + origin]
        return saving * ints[at.size + k] + floats[at.leaving_cost + k]
    return saving * ints[at.size + k]


@inlined
def unmet_saving(state):
    """The most that a walk can save by meeting dependencies."""
    at = state.at[0]
    return state.floats[at.unmet_price] * state.ints[at.tally + UNMET]


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


@inlined
def shift_floor(state, i, m, left):
    """The least that the objective changes by, if item i goes from its machine to m; `left`: what its machine then costs.

    Exact but for dependencies and the service that moves most.
    """
    at, ints, floats = state.at[0], state.ints, state.floats
    k, origin = ints[at.kind_of + i], ints[at.machine_of + i]
    change = left - floats[at.cost + origin] + machine_cost(state, m, k, at.empty_kind) - floats[at.cost + m]
    if at.variance_priced == 1:
        change += swap_mean_cost(state, m, k, origin, at.empty_kind)
    return change + traffic_change(state, i, m) - move_saving(state, i, m) - unmet_saving(state)


@inlined
def arrival_floor(state, i, m):
    """The least that traffic and moves change by, if item i, and perhaps others, go from its machine to m."""
    return -traffic_gain(state, state.ints[state.at[0].kind_of + i], m) - move_saving(state, i, m)


@kernel
def pair_mean_cost(state, i, m, j, target):
    """The change of the part of U that reads all utilisations: item i goes to m, and j from there to `target`."""
    at, ints, floats = state.at[0], state.ints, state.floats
    n_r, origin = at.resources, ints[at.machine_of + i]
    first, second = at.request + ints[at.kind_of + i] * n_r, at.request + ints[at.kind_of + j] * n_r
    cost = 0.0
    for r in range(n_r):
        weight, slope = floats[at.mean + r], at.slope + r
        if weight > 0.0:
            change = ints[first + r] * (floats[slope + m * n_r] - floats[slope + origin * n_r])
            change += ints[second + r] * (floats[slope + target * n_r] - floats[slope + m * n_r])
            cost -= weight * change * (2.0 * floats[at.utilisation_sum + r] + change)
    return cost
