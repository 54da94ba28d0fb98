"""One lifted item, all machines at once: where may it stand, and what would that cost?

The same as `fits` and `price` of every machine, but with the loops turned round: lists and requests are read once, and the inner
loops run over machines, side by side in memory.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.search.board import BUSIEST_MOVE, CAPACITY, CHARGE, EACH_MOVE, LIMIT, NOWHERE, SAFETY, TRIPS
from bayplan.kernels.search.compiled import kernel
from bayplan.kernels.search.standing import breach_cost, has_room, keeps_counts, keeps_risk, move_cost, traffic_gain


class View(NamedTuple):
    """What a survey writes: `machine` and `price`; the others are scratch."""

    machine: npt.NDArray[np.int64]  # (found,) where the rules hold, ascending
    price: npt.NDArray[np.float64]  # (found,) the objective's change there
    may: npt.NDArray[np.int8]  # (machine,) 1 if the rules hold
    free: npt.NDArray[np.float64]  # (resource, found) what would be left


def new_view(machines: int, resources: int) -> View:
    """Room for one survey."""
    return View(np.zeros(machines, np.int64), np.zeros(machines), np.zeros(machines, np.int8), np.zeros((resources, machines)))


@kernel
def test_room(board, i, view):
    """Allow, the one machine of a bound item, capacity with what moves are charged, confidence."""
    at, whole, may = board.at[0], board.whole, view.may
    n_m, n_r, k = at.machines, at.resources, whole[at.kind_of + i]
    only, home = whole[at.only + i], whole[at.home + i]
    allowed, want = at.allowed + whole[at.allow_row + k] * n_m, at.request + k * n_r
    for m in range(n_m):
        used = at.machine + (m * 5 + CHARGE) * n_r
        room = at.machine + (m * 5 + LIMIT) * n_r
        fine = (board.small[allowed + m] != 0) & (whole[at.on_size + m] < at.slots) & ((only == NOWHERE) | (m == only))
        for r in range(n_r):
            q = whole[want + r]
            fine &= (whole[used + r] <= whole[room + r] - q) | ((q == 0) & (whole[at.strict + r] == 0))
        may[m] = fine and (at.risks == 0 or keeps_risk(board, i, m))
    if home != NOWHERE:
        fine = board.small[allowed + home] != 0 and whole[at.on_size + home] < at.slots and (only == NOWHERE or only == home)
        may[home] = fine and has_room(board, i, home) and keeps_risk(board, i, home)


@kernel
def test_counts(board, i, view):
    """Anti-affinity and dependency, entry by entry; interference and spread, where the kind has any, machine by machine."""
    at, whole, small, may = board.at[0], board.whole, board.small, view.may
    n_m, k = at.machines, whole[at.kind_of + i]
    for e in range(whole[at.most_start + k], whole[at.most_start + k + 1]):
        row, limit = whole[at.most + 2 * e], whole[at.most + 2 * e + 1]
        count, group = at.count + whole[at.row_start + row], at.group_of + whole[at.row_level + row] * n_m
        for m in range(n_m):
            may[m] &= small[count + whole[group + m]] < limit
    for e in range(whole[at.need_start + k], whole[at.need_start + k + 1]):
        row = whole[at.need_row + 2 * e]
        count, group = at.count + whole[at.row_start + row], at.group_of + whole[at.row_level + row] * n_m
        for m in range(n_m):
            may[m] &= small[count + whole[group + m]] != 0
    for e in range(whole[at.clash_start + k], whole[at.clash_start + k + 1]):
        test_clash(board, at.clash + 5 * e, view)
    short = False
    for e in range(whole[at.spread_start + k], whole[at.spread_start + k + 1]):
        row = whole[at.spread + 2 * e]
        short = short or whole[at.used + row] < whole[at.need + row]  # else any machine will do
    if short:
        for m in range(n_m):
            if may[m] == 1 and not keeps_counts(board, i, m):
                may[m] = 0


@kernel
def test_clash(board, entry, view):
    """One interference rule."""
    at, whole, small, may = board.at[0], board.whole, board.small, view.may
    n_m, row_a, row_b = at.machines, whole[entry], whole[entry + 1]
    more_a, more_b, limit = whole[entry + 2], whole[entry + 3], whole[entry + 4]
    count_a, group_a = at.count + whole[at.row_start + row_a], at.group_of + whole[at.row_level + row_a] * n_m
    count_b, group_b = at.count + whole[at.row_start + row_b], at.group_of + whole[at.row_level + row_b] * n_m
    for m in range(n_m):
        of_a, of_b = small[count_a + whole[group_a + m]], small[count_b + whole[group_b + m]]
        above = of_b + more_b - limit
        may[m] &= not ((of_a + more_a > 0) & (above > 0) & ((of_a == 0) | (more_b > 0)))


@kernel
def list_found(view):
    """Write the machines that are left; how many."""
    found = 0
    for m in range(len(view.may)):
        view.machine[found] = m
        found += view.may[m]
    return found


@kernel
def price_load(board, k, view, found):
    """U, the part of each machine and the part of the sum, and load above safety; True if a machine lacks a resource."""
    at, whole, real = board.at[0], board.whole, board.real
    n_r, lacks = at.resources, False
    for e in range(found):
        m = view.machine[e]
        machine, own = at.machine + m * 5 * n_r, m * n_r
        cost = -real[at.cost + m]
        for r in range(n_r):
            q = whole[at.request + k * n_r + r]
            load, capacity = np.float64(whole[machine + r] + q), whole[machine + CAPACITY * n_r + r]
            more = real[at.slope + own + r] * q
            cost += real[at.over + r] * max(0.0, load - whole[machine + SAFETY * n_r + r])
            cost += real[at.square + own + r] * load * load - real[at.mean + r] * more * (2.0 * real[at.utilised + r] + more)
            view.free[r, e] = capacity - load
            lacks |= capacity == 0
        view.price[e] = cost
    return lacks


@kernel
def price_balance(board, view, found, lacks):
    """What free amounts out of balance cost."""
    at, whole, real = board.at[0], board.whole, board.real
    n_r = at.resources
    for p in range(at.pairs):
        r1, r2, both = whole[at.pair + 3 * p], whole[at.pair + 3 * p + 1], whole[at.pair + 3 * p + 2]
        weight, f1, f2 = real[at.pair_by + 3 * p], real[at.pair_by + 3 * p + 1], real[at.pair_by + 3 * p + 2]
        free_1, free_2, price = view.free[r1], view.free[r2], view.price
        if both == 0 or not lacks:
            for e in range(found):
                price[e] += weight * max(0.0, f1 * free_1[e] - f2 * free_2[e])
        else:
            for e in range(found):
                capacity = at.machine + (view.machine[e] * 5 + CAPACITY) * n_r
                if whole[capacity + r1] > 0 and whole[capacity + r2] > 0:
                    price[e] += weight * max(0.0, f1 * free_1[e] - f2 * free_2[e])


@kernel
def price_rest(board, i, k, view, found):
    """Traffic, moves, and dependencies that are broken on the way; what has no price takes no time."""
    at, whole, real, small = board.at[0], board.whole, board.real, board.small
    machine, price = view.machine, view.price
    if whole[at.meet_start + k + 1] > whole[at.meet_start + k]:
        for e in range(found):
            price[e] -= traffic_gain(board, k, machine[e])
    else:
        for p in range(whole[at.pull_start + k], whole[at.pull_start + k + 1]):
            row, by = whole[at.pull_row + p], real[at.pull + p]
            count, group = at.count + whole[at.row_start + row], at.group_of + whole[at.row_level + row] * at.machines
            for e in range(found):
                price[e] -= by * small[count + whole[group + machine[e]]]
    each = at.move_price
    moving = real[each + EACH_MOVE] > 0.0 or real[each + BUSIEST_MOVE] > 0.0 or real[each + TRIPS] > 0.0
    if moving or real[at.leaving + k] != 0.0:
        for e in range(found):
            price[e] += move_cost(board, i, machine[e])
    if real[at.breach_price] > 0.0:
        for e in range(found):
            price[e] += breach_cost(board, i, machine[e])


@kernel
def survey(board, i, view):
    """How many machines the lifted item may stand on; which, and at what price, stands in the view.

    Those that it left behind are `leaves_well`'s business.
    """
    k = board.whole[board.at[0].kind_of + i]
    test_room(board, i, view)
    test_counts(board, i, view)
    found = list_found(view)
    lacks = price_load(board, k, view, found)
    price_balance(board, view, found, lacks)
    price_rest(board, i, k, view, found)
    return found
