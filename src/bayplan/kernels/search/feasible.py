"""May an item run on a machine, by all rules? Nothing is changed here.

The item has been lifted: no count and no load includes it. All tests are monotone: where a rule is violated already, the
item may come if the violation does not grow.
"""

import numpy as np

from bayplan.kernels.jit import inlined, kernel
from bayplan.kernels.search.skew import keeps_skew, others_keep_skew
from bayplan.kernels.search.state import (
    CHARGE,
    DEPENDS_WIDTH,
    INTERFERENCE_WIDTH,
    LIMIT,
    LOAD,
    MAX_COUNT_WIDTH,
    NOWHERE,
    SPREAD_WIDTH,
    SUPPORTS_WIDTH,
    amount_index,
    count_index,
)


@inlined
def within_capacity(state, i, m):
    """Capacity, with what a move is charged on the way."""
    at, ints = state.at[0], state.ints
    n_r, k = at.resources, ints[at.kind_of + i]
    want = at.request + k * n_r
    at_home = ints[at.home + i] == m
    used = amount_index(state, m, LOAD if at_home else CHARGE)
    limit = amount_index(state, m, LIMIT)
    dominant = ints[at.dominant + k]
    if ints[want + dominant] > 0 and ints[used + dominant] > ints[limit + dominant] - ints[want + dominant]:
        return False
    for r in range(n_r):
        q = ints[want + r]
        if ints[used + r] > ints[limit + r] - q and (q > 0 or (ints[at.strict + r] == 1 and not at_home)):
            return False
    return True


@kernel
def fits_if_emptied(state, i, m):
    """Could the item run on the machine if everything that can leave it had left?"""
    at, ints = state.at[0], state.ints
    n_r, k = at.resources, ints[at.kind_of + i]
    if state.small[at.allowed + ints[at.allow_row + k] * at.machines + m] == 0:
        return False
    if ints[at.only_machine + i] != NOWHERE and ints[at.only_machine + i] != m:
        return False
    if ints[at.home + i] == m:
        return True
    limit = amount_index(state, m, LIMIT)
    for r in range(n_r):
        q = ints[at.request + k * n_r + r]
        if ints[at.home_charge + m * n_r + r] > ints[limit + r] - q and (q > 0 or ints[at.strict + r] == 1):
            return False
    return True


@kernel
def keeps_count_rules(state, i, m):
    """Anti-affinity, interference, spread and skew."""
    at, ints, small = state.at[0], state.ints, state.small
    k = ints[at.kind_of + i]
    for e in range(ints[at.max_count_start + k], ints[at.max_count_start + k + 1]):
        if small[count_index(state, ints[at.max_count + MAX_COUNT_WIDTH * e], m)] >= ints[at.max_count + MAX_COUNT_WIDTH * e + 1]:
            return False
    for e in range(ints[at.interference_start + k], ints[at.interference_start + k + 1]):
        entry = at.interference + INTERFERENCE_WIDTH * e
        of_a, of_b = small[count_index(state, ints[entry], m)], small[count_index(state, ints[entry + 1], m)]
        then = of_b + ints[entry + 3] - ints[entry + 4] if of_a + ints[entry + 2] > 0 else 0
        if then > 0 and (of_a == 0 or then > of_b - ints[entry + 4]):
            return False
    for e in range(ints[at.spread_start + k], ints[at.spread_start + k + 1]):
        row = ints[at.spread + SPREAD_WIDTH * e]
        placed = ints[at.row_placed + row] + ints[at.spread + SPREAD_WIDTH * e + 1]
        need = ints[at.groups_needed + row] if placed >= ints[at.row_size + row] else min(ints[at.groups_needed + row], placed)
        used = ints[at.groups_used + row]
        if used < need and (used + 1 < need or small[count_index(state, row, m)] > 0):
            return False
    return keeps_skew(state, i, m)


@kernel
def dependencies_met(state, i, m):
    """Dependency of the item itself: what it depends on runs where it goes."""
    at, ints = state.at[0], state.ints
    k = ints[at.kind_of + i]
    for e in range(ints[at.depends_start + k], ints[at.depends_start + k + 1]):
        if state.small[count_index(state, ints[at.depends_on + DEPENDS_WIDTH * e], m)] == 0:
            return False
    return True


@kernel
def extra_unmet(state, i, m):
    """The change in the number of containers without what they depend on, if item i comes to m."""
    at, ints, small = state.at[0], state.ints, state.small
    k = ints[at.kind_of + i]
    change = 0
    for e in range(ints[at.depends_start + k], ints[at.depends_start + k + 1]):
        if small[count_index(state, ints[at.depends_on + DEPENDS_WIDTH * e], m)] == 0:
            change += ints[at.depends_on + DEPENDS_WIDTH * e + 1]
    for e in range(ints[at.supports_start + k], ints[at.supports_start + k + 1]):
        if small[count_index(state, ints[at.supports + SUPPORTS_WIDTH * e], m)] == 0:
            change -= small[count_index(state, ints[at.supports + SUPPORTS_WIDTH * e + 1], m)]
    return change


@kernel
def keeps_confidence(state, i, m):
    """Confidence: mean + D * deviation stays within capacity."""
    at, floats = state.at[0], state.floats
    k = state.ints[at.kind_of + i]
    for e in range(at.risks):
        there, mine = m * at.risks + e, k * at.risks + e
        mean, variance, d = floats[at.risk_mean + there], floats[at.risk_variance + there], floats[at.risk + e]
        then = mean + floats[at.usage_mean + mine] + d * np.sqrt(max(0.0, variance + floats[at.usage_variance + mine]))
        if then > floats[at.risk_capacity + there] and then > mean + d * np.sqrt(max(0.0, variance)):
            return False
    return True


@kernel
def fits(state, i, m):
    """May the lifted item run on the machine? Whether others may be left without it: see `others_kept`."""
    return fits_ignoring_dependencies(state, i, m) and dependencies_met(state, i, m)


@kernel
def fits_ignoring_dependencies(state, i, m):
    """May it run there, whether what it depends on runs there or not?"""
    at, ints = state.at[0], state.ints
    if not within_capacity(state, i, m):
        return False
    k = ints[at.kind_of + i]
    if state.small[at.allowed + ints[at.allow_row + k] * at.machines + m] == 0 or ints[at.items_on_size + m] >= at.slots:
        return False
    if ints[at.only_machine + i] != NOWHERE and ints[at.only_machine + i] != m:
        return False
    return keeps_count_rules(state, i, m) and keeps_confidence(state, i, m)


@kernel
def dependants_kept(state, i, m, then):
    """Does everything that depends on item i keep one like it, if i goes from machine m to machine `then`?"""
    at, ints, small = state.at[0], state.ints, state.small
    k = ints[at.kind_of + i]
    for e in range(ints[at.supports_start + k], ints[at.supports_start + k + 1]):
        on = count_index(state, ints[at.supports + SUPPORTS_WIDTH * e], m)
        if small[on] == 0 and small[count_index(state, ints[at.supports + SUPPORTS_WIDTH * e + 1], m)] > 0:
            if count_index(state, ints[at.supports + SUPPORTS_WIDTH * e], then) != on:
                return False
    return True


@kernel
def others_kept(state, i, m, then):
    """Do rules allow that item i leaves machine m for machine `then`, for all that depends on it, and by skew?"""
    return dependants_kept(state, i, m, then) and others_keep_skew(state, i, m, then)
