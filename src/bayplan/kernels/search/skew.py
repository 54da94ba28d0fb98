"""Skew rules: how unevenly containers stand in the groups of a level.

A rule compares groups 0..groups - 1 of the level of its rows; what is in another group is neither counted nor judged. A histogram
says how many groups have 0, 1, 2, ... containers, so the emptiest is known without looking at all of them. The groups are looked
at one by one only where the emptiest changes and some are beyond the limit.

The *excess* of a group that has a container of the judged workload: what it has above the emptiest and the limit.
"""

from bayplan.kernels.jit import inlined, kernel
from bayplan.kernels.search.state import (
    SKEW_FLOOR,
    SKEW_GROUPS,
    SKEW_HISTOGRAM,
    SKEW_LIMIT,
    SKEW_OWN_ROW,
    SKEW_ROW,
    SKEW_RULE_WIDTH,
    SKEW_WIDTH,
)


@inlined
def skew_group(state, rule, m):
    """The group of a machine, on the level of a skew rule."""
    at, ints = state.at[0], state.ints
    return ints[at.group_of + ints[at.row_level + ints[rule + SKEW_ROW]] * at.machines + m]


@inlined
def lowest(state, rule):
    """Containers in the emptiest group; 0 if there are too few groups to compare."""
    return state.ints[state.at[0].skew_low + state.ints[rule + SKEW_FLOOR]] if state.ints[rule + SKEW_FLOOR] >= 0 else 0


@kernel
def lowest_with(state, rule, count, by):
    """The same, once a group that has `count` containers has `by` more."""
    low, histogram = lowest(state, rule), state.at[0].skew_histogram + state.ints[rule + SKEW_HISTOGRAM]
    if by == 0 or count > low or state.ints[rule + SKEW_FLOOR] < 0 or state.ints[histogram + low] > 1:
        return low
    low += 1
    while low < count + by and state.ints[histogram + low] == 0:
        low += 1
    return low


@kernel
def within_skew(state, rule, group, by, own):
    """Is a group within the limit once it has `by` counted and `own` judged containers more, or is none there judged?"""
    at, ints, small = state.at[0], state.ints, state.small
    if own == 0 and small[at.count + ints[at.row_start + ints[rule + SKEW_OWN_ROW]] + group] == 0:
        return True
    count = small[at.count + ints[at.row_start + ints[rule + SKEW_ROW]] + group]
    if count + by - lowest(state, rule) <= ints[rule + SKEW_LIMIT]:
        return True
    return count + by - lowest_with(state, rule, count, by) <= ints[rule + SKEW_LIMIT]


@kernel
def keeps_skew(state, i, m):
    """Would the group of machine m be within the limits of item i's skew rules with it? Kubernetes asks the same."""
    at, ints = state.at[0], state.ints
    k = ints[at.kind_of + i]
    for e in range(ints[at.skew_start + k], ints[at.skew_start + k + 1]):
        entry = at.skew + SKEW_WIDTH * e
        rule = at.skew_rule + SKEW_RULE_WIDTH * ints[entry]
        group = skew_group(state, rule, m)
        if group < ints[rule + SKEW_GROUPS] and not within_skew(state, rule, group, ints[entry + 1], ints[entry + 2]):
            return False
    return True


@kernel
def extra_skew(state, i, m):
    """The change in the excess of all groups, if item i comes to m."""
    at, ints = state.at[0], state.ints
    k = ints[at.kind_of + i]
    change = 0
    for e in range(ints[at.skew_start + k], ints[at.skew_start + k + 1]):
        entry = at.skew + SKEW_WIDTH * e
        rule = at.skew_rule + SKEW_RULE_WIDTH * ints[entry]
        group = skew_group(state, rule, m)
        if group < ints[rule + SKEW_GROUPS]:
            change += extra_excess(state, rule, group, ints[entry + 1], ints[entry + 2])
    return change


@kernel
def extra_excess(state, rule, group, by, own):
    """The same of one rule, if a group gets `by` counted and `own` judged containers more."""
    at, ints, small = state.at[0], state.ints, state.small
    counts, judged = (
        at.count + ints[at.row_start + ints[rule + SKEW_ROW]],
        at.count + ints[at.row_start + ints[rule + SKEW_OWN_ROW]],
    )
    count, low = small[counts + group], lowest(state, rule)
    then, limit = lowest_with(state, rule, count, by), ints[rule + SKEW_LIMIT]
    change = 0
    if own > 0 or small[judged + group] > 0:
        change += max(0, count + by - then - limit)
    if small[judged + group] > 0:
        change -= max(0, count - low - limit)
    if then > low:
        for other in range(ints[rule + SKEW_GROUPS]):
            beyond = small[counts + other] - low - limit
            if beyond > 0 and other != group and small[judged + other] > 0:
                change -= min(beyond, then - low)
    return change


@kernel
def others_keep_skew(state, i, m, then):
    """Is the excess of no rule larger if item i goes from machine m to machine `then`?"""
    at, ints = state.at[0], state.ints
    k = ints[at.kind_of + i]
    for e in range(ints[at.skew_start + k], ints[at.skew_start + k + 1]):
        entry = at.skew + SKEW_WIDTH * e
        rule = at.skew_rule + SKEW_RULE_WIDTH * ints[entry]
        here, there, groups = skew_group(state, rule, m), skew_group(state, rule, then), ints[rule + SKEW_GROUPS]
        if here == there:
            continue
        before = extra_excess(state, rule, here, ints[entry + 1], ints[entry + 2]) if here < groups else 0
        after = extra_excess(state, rule, there, ints[entry + 1], ints[entry + 2]) if there < groups else 0
        if after > before:
            return False
    return True


@kernel
def count_skew(state, k, m, by):
    """Update the histograms after `by` (1 or -1) items of kind k have been added to the counts of a machine."""
    at, ints, small = state.at[0], state.ints, state.small
    for e in range(ints[at.skew_start + k], ints[at.skew_start + k + 1]):
        entry = at.skew + SKEW_WIDTH * e
        rule = at.skew_rule + SKEW_RULE_WIDTH * ints[entry]
        group = skew_group(state, rule, m)
        if group >= ints[rule + SKEW_GROUPS] or ints[entry + 1] == 0:
            continue
        now = small[at.count + ints[at.row_start + ints[rule + SKEW_ROW]] + group]
        histogram, low = at.skew_histogram + ints[rule + SKEW_HISTOGRAM], at.skew_low + ints[entry]
        ints[histogram + now - by * ints[entry + 1]] -= 1
        ints[histogram + now] += 1
        ints[low] = min(ints[low], now)
        while ints[histogram + ints[low]] == 0:
            ints[low] += 1
