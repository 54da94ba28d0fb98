"""May an item stand on a machine, and what would that cost? Nothing is changed here.

The item has been lifted: no count and no load includes it. All tests are monotone: where a rule is broken already, the
item may come if the breach does not grow.
"""

import numpy as np

from bayplan.kernels.search.board import (
    BUSIEST,
    BUSIEST_MOVE,
    CAPACITY,
    CHARGE,
    EACH_MOVE,
    LIMIT,
    LOAD,
    NOWHERE,
    SAFETY,
    TRIPS,
)
from bayplan.kernels.search.compiled import kernel


@kernel
def cell(board, row, m):
    """Where `small` counts the containers of a row in the group of a machine."""
    at = board.at[0]
    group = board.whole[at.group_of + board.whole[at.row_level + row] * at.machines + m]
    return at.count + board.whole[at.row_start + row] + group


@kernel
def has_room(board, i, m):
    """Capacity, with what a move is charged on the way."""
    at, whole = board.at[0], board.whole
    n_r, k = at.resources, whole[at.kind_of + i]
    want = at.request + k * n_r
    machine = at.machine + m * 5 * n_r
    at_home = whole[at.home + i] == m
    used = machine + (LOAD if at_home else CHARGE) * n_r
    limit = machine + LIMIT * n_r
    lead = whole[at.lead + k]
    if whole[want + lead] > 0 and whole[used + lead] > whole[limit + lead] - whole[want + lead]:
        return False
    for r in range(n_r):
        q = whole[want + r]
        if whole[used + r] > whole[limit + r] - q and (q > 0 or (whole[at.strict + r] == 1 and not at_home)):
            return False
    return True


@kernel
def may_ever(board, i, m):
    """Could the item stand on the machine if everything that can leave it had left?"""
    at, whole = board.at[0], board.whole
    n_r, k = at.resources, whole[at.kind_of + i]
    if board.small[at.allowed + whole[at.allow_row + k] * at.machines + m] == 0:
        return False
    if whole[at.only + i] != NOWHERE and whole[at.only + i] != m:
        return False
    if whole[at.home + i] == m:
        return True
    limit = at.machine + m * 5 * n_r + LIMIT * n_r
    for r in range(n_r):
        q = whole[at.request + k * n_r + r]
        if whole[at.kept + m * n_r + r] > whole[limit + r] - q and (q > 0 or whole[at.strict + r] == 1):
            return False
    return True


@kernel
def keeps_counts(board, i, m):
    """Anti-affinity, interference and spread."""
    at, whole, small = board.at[0], board.whole, board.small
    k = whole[at.kind_of + i]
    for e in range(whole[at.most_start + k], whole[at.most_start + k + 1]):
        if small[cell(board, whole[at.most + 2 * e], m)] >= whole[at.most + 2 * e + 1]:
            return False
    for e in range(whole[at.clash_start + k], whole[at.clash_start + k + 1]):
        entry = at.clash + 5 * e
        of_a, of_b = small[cell(board, whole[entry], m)], small[cell(board, whole[entry + 1], m)]
        then = of_b + whole[entry + 3] - whole[entry + 4] if of_a + whole[entry + 2] > 0 else 0
        if then > 0 and (of_a == 0 or then > of_b - whole[entry + 4]):
            return False
    for e in range(whole[at.spread_start + k], whole[at.spread_start + k + 1]):
        row = whole[at.spread + 2 * e]
        placed = whole[at.placed + row] + whole[at.spread + 2 * e + 1]
        need = whole[at.need + row] if placed >= whole[at.row_size + row] else min(whole[at.need + row], placed)
        used = whole[at.used + row]
        if used < need and (used + 1 < need or small[cell(board, row, m)] > 0):
            return False
    return True


@kernel
def finds_needed(board, i, m):
    """Dependency of the item itself: what it needs is where it goes."""
    at, whole = board.at[0], board.whole
    k = whole[at.kind_of + i]
    for e in range(whole[at.need_start + k], whole[at.need_start + k + 1]):
        if board.small[cell(board, whole[at.need_row + 2 * e], m)] == 0:
            return False
    return True


@kernel
def extra_breaches(board, i, m):
    """Containers that have not what they need: how many more if item i comes to m (fewer, if it is what they need)."""
    at, whole, small = board.at[0], board.whole, board.small
    k = whole[at.kind_of + i]
    more = 0
    for e in range(whole[at.need_start + k], whole[at.need_start + k + 1]):
        if small[cell(board, whole[at.need_row + 2 * e], m)] == 0:
            more += whole[at.need_row + 2 * e + 1]
    for e in range(whole[at.prop_start + k], whole[at.prop_start + k + 1]):
        if small[cell(board, whole[at.prop + 2 * e], m)] == 0:
            more -= small[cell(board, whole[at.prop + 2 * e + 1], m)]
    return more


@kernel
def keeps_risk(board, i, m):
    """Confidence: mean + D * deviation stays within capacity."""
    at, real = board.at[0], board.real
    k = board.whole[at.kind_of + i]
    for e in range(at.risks):
        there, mine = m * at.risks + e, k * at.risks + e
        mean, variance, d = real[at.risk_mean + there], real[at.risk_variance + there], real[at.risk + e]
        then = mean + real[at.usage_mean + mine] + d * np.sqrt(max(0.0, variance + real[at.usage_variance + mine]))
        if then > real[at.risk_room + there] and then > mean + d * np.sqrt(max(0.0, variance)):
            return False
    return True


@kernel
def fits(board, i, m):
    """May the lifted item stand on the machine? Those that it left behind are `leaves_well`'s business."""
    return fits_alone(board, i, m) and finds_needed(board, i, m)


@kernel
def fits_alone(board, i, m):
    """May it stand there, whether it finds what it depends on or not?"""
    at, whole = board.at[0], board.whole
    if not has_room(board, i, m):
        return False
    k = whole[at.kind_of + i]
    if board.small[at.allowed + whole[at.allow_row + k] * at.machines + m] == 0 or whole[at.on_size + m] >= at.slots:
        return False
    if whole[at.only + i] != NOWHERE and whole[at.only + i] != m:
        return False
    return keeps_counts(board, i, m) and keeps_risk(board, i, m)


@kernel
def leaves_well(board, i, m, then):
    """Has everything that needs item i still one of its kind, if i goes from machine m to machine `then`?"""
    at, whole, small = board.at[0], board.whole, board.small
    k = whole[at.kind_of + i]
    for e in range(whole[at.prop_start + k], whole[at.prop_start + k + 1]):
        on = cell(board, whole[at.prop + 2 * e], m)
        if small[on] == 0 and small[cell(board, whole[at.prop + 2 * e + 1], m)] > 0:
            if cell(board, whole[at.prop + 2 * e], then) != on:
                return False
    return True


@kernel
def machine_cost(board, m, into, out):
    """What the load of a machine costs, with one item of kind `into` more and one of kind `out` less."""
    at, whole, real = board.at[0], board.whole, board.real
    n_r = at.resources
    more, less = at.request + into * n_r, at.request + out * n_r
    machine = at.machine + m * 5 * n_r
    cost = 0.0
    for r in range(n_r):
        load = whole[machine + r] + whole[more + r] - whole[less + r]
        above = load - whole[machine + SAFETY * n_r + r]
        if above > 0:
            cost += real[at.over + r] * above
        cost += real[at.square + m * n_r + r] * load * load
    capacity = machine + CAPACITY * n_r
    for e in range(at.pairs):
        r1, r2 = whole[at.pair + 3 * e], whole[at.pair + 3 * e + 1]
        c1, c2 = whole[capacity + r1], whole[capacity + r2]
        if whole[at.pair + 3 * e + 2] == 0 or (c1 > 0 and c2 > 0):
            free_1 = c1 - whole[machine + r1] - whole[more + r1] + whole[less + r1]
            free_2 = c2 - whole[machine + r2] - whole[more + r2] + whole[less + r2]
            term = at.pair_by + 3 * e
            cost += real[term] * max(0.0, real[term + 1] * free_1 - real[term + 2] * free_2)
    return cost


@kernel
def mean_cost(board, m, k):
    """The part of U that reads the sum of all utilisations: its change if an item of kind k comes to m."""
    at, real = board.at[0], board.real
    n_r = at.resources
    cost = 0.0
    for r in range(n_r):
        weight = real[at.mean + r]
        if weight > 0.0:
            more = real[at.slope + m * n_r + r] * board.whole[at.request + k * n_r + r]
            cost -= weight * more * (2.0 * real[at.utilised + r] + more)
    return cost


@kernel
def traffic_gain(board, k, m):
    """Communication that stays local and affinity that is gained, if an item of kind k comes to m."""
    at, whole, real, small = board.at[0], board.whole, board.real, board.small
    gain = 0.0
    for e in range(whole[at.pull_start + k], whole[at.pull_start + k + 1]):
        gain += real[at.pull + e] * small[cell(board, whole[at.pull_row + e], m)]
    for e in range(whole[at.meet_start + k], whole[at.meet_start + k + 1]):
        entry, by = at.meet + 4 * e, at.meet_by + 3 * e
        of_a, of_b = small[cell(board, whole[entry], m)], small[cell(board, whole[entry + 1], m)]
        then = min((of_a + whole[entry + 2]) * real[by + 1], (of_b + whole[entry + 3]) * real[by + 2])
        gain += real[by] * (then - min(of_a * real[by + 1], of_b * real[by + 2]))
    return gain


@kernel
def extra_moves(board, i, m):
    """By how much fewer containers count as moved, if item i comes to m: 0 or below. What is lifted counts as moved.

    Items of one kind are interchangeable: any of them fills the place that another has left.
    """
    at, whole = board.at[0], board.whole
    k = whole[at.kind_of + i]
    row = whole[at.surplus_row + k]
    if row == NOWHERE:
        return -whole[at.size + k] if whole[at.home + i] == m else 0
    return -whole[at.size + k] if board.small[at.surplus + row * at.machines + m] < 0 else 0


@kernel
def move_cost(board, i, m):
    """What the move costs, if item i comes to m."""
    at, whole, real = board.at[0], board.whole, board.real
    cost = 0.0
    if real[at.move_price + EACH_MOVE] > 0.0:
        cost += real[at.move_price + EACH_MOVE] * extra_moves(board, i, m)
    home = whole[at.home + i]
    if home == m or home == NOWHERE:
        return cost
    k = whole[at.kind_of + i]
    cost += real[at.leaving + k]
    if real[at.move_price + TRIPS] > 0.0:
        cost += real[at.trip + home * at.machines + m] * whole[at.size + k]  # each container of a unit pays
    if real[at.move_price + BUSIEST_MOVE] > 0.0:
        busiest = whole[at.tally + BUSIEST]
        top = busiest
        for e in range(whole[at.service_start + k], whole[at.service_start + k + 1]):
            top = max(top, whole[at.moved_of + whole[at.service + 2 * e]] + whole[at.service + 2 * e + 1])
        cost += real[at.move_price + BUSIEST_MOVE] * (top - busiest)
    return cost


@kernel
def breach_cost(board, i, m):
    """What the walk charges for dependencies that are broken on the way."""
    at = board.at[0]
    each = board.real[at.breach_price]
    return each * extra_breaches(board, i, m) if each > 0.0 else 0.0


@kernel
def price(board, i, m):
    """The objective's change if the lifted item comes to the machine."""
    at = board.at[0]
    k = board.whole[at.kind_of + i]
    cost = machine_cost(board, m, k, at.nothing) - board.real[at.cost + m] + mean_cost(board, m, k)
    return cost - traffic_gain(board, k, m) + move_cost(board, i, m) + breach_cost(board, i, m)
