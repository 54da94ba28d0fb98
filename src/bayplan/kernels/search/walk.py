"""Annealing: items are lifted and dropped, worse states are accepted by Metropolis' rule.

`shift_step` lifts one item and lets it walk over a few machines. `eject_step` forces an item onto a machine and puts what
must give way elsewhere: one that goes to the item's machine is a swap, one that goes to a third is a replace, several
are the ejection of a big container's neighbours.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.search.board import BREACHES, CHARGE, LIMIT, LOAD, MOST_MOVES, MOVED
from bayplan.kernels.search.book import enter, judge, make_room
from bayplan.kernels.search.chance import below, share
from bayplan.kernels.search.compiled import kernel
from bayplan.kernels.search.moving import drop, lift
from bayplan.kernels.search.standing import extra_moves, finds_needed, fits_alone, keeps_counts, leaves_well, may_ever, price

MOST_LIFTED = 32  # items that one step moves at most
SHIFTS, SHIFTS_MADE, EJECTIONS, EJECTIONS_TRIED, EJECTIONS_MADE, PRICED = range(6)


class Party(NamedTuple):
    """Items that are lifted together; scratch of `eject_step`."""

    item: npt.NDArray[np.int64]
    origin: npt.NDArray[np.int64]
    short: npt.NDArray[np.int64]  # (resource,)


class Style(NamedTuple):
    """How to walk."""

    shift_tries: int  # machines a lifted item looks at
    eject_tries: int  # machines an ejected item looks at
    eject_share: float  # of the steps
    scan: int  # most items of a machine looked at for a victim


@kernel
def warm_enough(chance, worse, heat):
    """Metropolis' rule."""
    return worse <= 0.0 or (heat > 0.0 and worse < -heat * np.log(share(chance)))


@kernel
def stays_whole(board, i, origin, m):
    """Dependencies: item i finds what it needs on machine m and leaves nobody alone on its origin."""
    return finds_needed(board, i, m) and leaves_well(board, i, origin, m)


@kernel
def shift_step(board, i, style, chance, heat, book, stat):
    """Lift one item, let it walk over a few machines, drop it where it ends."""
    at, whole = board.at[0], board.whole
    soft = board.real[at.breach_price] > 0.0
    origin = lift(board, i)
    here, here_price = origin, price(board, i, origin)
    for _ in range(style.shift_tries):
        m = below(chance, at.machines)
        if m == here or not fits_alone(board, i, m) or not (soft or stays_whole(board, i, origin, m)):
            continue
        if whole[at.tally + MOVED] + extra_moves(board, i, m) > whole[at.tally + MOST_MOVES]:
            continue
        stat[PRICED] += 1
        there = price(board, i, m)
        if warm_enough(chance, there - here_price, heat):
            here, here_price = m, there
    drop(board, i, here)
    stat[SHIFTS] += 1
    if here != origin:
        stat[SHIFTS_MADE] += 1
        enter(book, i, origin)
        judge(book, board)


@kernel
def shortage(board, i, m, short):
    """Is machine m too full for item i? What is lacking goes into `short`."""
    at, whole = board.at[0], board.whole
    n_r = at.resources
    machine = at.machine + m * 5 * n_r
    used = machine + (LOAD if whole[at.home + i] == m else CHARGE) * n_r
    lacking = False
    for r in range(n_r):
        q = whole[at.request + whole[at.kind_of + i] * n_r + r]
        short[r] = whole[used + r] - (whole[machine + LIMIT * n_r + r] - q) if q > 0 else 0
        lacking = lacking or short[r] > 0
    return lacking


@kernel
def relief(board, j, m, short):
    """How much of the shortage on machine m goes away with item j: shares summed over resources, negative if all of it."""
    at, whole = board.at[0], board.whole
    want = at.request + whole[at.kind_of + j] * at.resources
    stays_charged = whole[at.home + j] == m
    helped, enough = 0.0, True
    for r in range(at.resources):
        if short[r] > 0:
            q = 0 if stays_charged and whole[at.joint + r] == 1 else whole[want + r]
            helped += min(1.0, q / short[r])
            enough = enough and q >= short[r]
    return -1.0 if enough else helped


@kernel
def find_victim(board, chance, i, m, scan, short):
    """An item on machine m that makes room for item i, or the one that helps most; -1 if nothing helps."""
    at, whole, small = board.at[0], board.whole, board.small
    n = whole[at.on_size + m]
    if n == 0:
        return -1
    first = below(chance, n)
    if not shortage(board, i, m, short):
        j = small[at.on + m * at.slots + first]
        return j if whole[at.movable + j] == 1 else -1
    best, best_help = -1, 0.0
    for e in range(min(n, scan)):
        slot = first + e
        j = small[at.on + m * at.slots + (slot if slot < n else slot - n)]
        if whole[at.movable + j] == 0:
            continue
        helped = relief(board, j, m, short)
        if helped < 0.0:
            return j
        if helped > best_help:
            best, best_help = j, helped
    return best


@kernel
def best_of_some(board, j, m, style, chance, party):
    """The cheapest machine but m for an ejected item, of all or of some; -1 if none fits."""
    at = board.at[0]
    target, least = -1, np.inf
    soft = board.real[at.breach_price] > 0.0
    tries = min(style.eject_tries, at.machines)
    some = tries < at.machines
    first = below(chance, at.machines)
    for t in range(tries + (1 if some else 0)):
        if some:
            there = party.origin[0] if t == 0 else below(chance, at.machines)
        else:
            there = first + t if first + t < at.machines else first + t - at.machines
        if there != m and fits_alone(board, j, there) and (soft or finds_needed(board, j, there)):
            cost = price(board, j, there)
            if cost < least:
                target, least = there, cost
    return target


@kernel
def undo(board, party, placed, n, total):
    """Everything back to where it was."""
    for e in range(placed):
        lift(board, party.item[e])
    for e in range(n):
        drop(board, party.item[e], party.origin[e])
    board.real[board.at[0].total] = total


@kernel
def eject_step(board, i, m, style, chance, heat, book, stat, party):
    """Force item i onto machine m; what must give way goes to the item's machine or elsewhere."""
    at, whole = board.at[0], board.whole
    stat[EJECTIONS] += 1
    if m == whole[at.machine_of + i]:
        return
    total, breaches = board.real[at.total], whole[at.tally + BREACHES]
    party.item[0] = i
    party.origin[0] = lift(board, i)
    soft = board.real[at.breach_price] > 0.0
    n, placed, good = 1, 0, keeps_counts(board, i, m)
    while good and n < MOST_LIFTED:
        j = find_victim(board, chance, i, m, style.scan, party.short)
        if j < 0:
            good = False
            break
        party.item[n] = j
        party.origin[n] = lift(board, j)
        n += 1
        if fits_alone(board, i, m):
            break
    good = good and fits_alone(board, i, m)
    while good and placed < n:
        target = m if placed == 0 else best_of_some(board, party.item[placed], m, style, chance, party)
        if target < 0:
            good = False
            break
        drop(board, party.item[placed], target)
        placed += 1
    if good:
        stat[EJECTIONS_TRIED] += 1
        good = warm_enough(chance, board.real[at.total] - total, heat) and whole[at.tally + MOVED] <= whole[at.tally + MOST_MOVES]
        good = good and (soft or whole[at.tally + BREACHES] <= breaches)
    if not good:
        undo(board, party, placed, n, total)
        return
    stat[EJECTIONS_MADE] += 1
    for e in range(n):
        enter(book, party.item[e], party.origin[e])
    judge(book, board)


@kernel
def walk(board, movable, sized, style, chance, heat, steps, book, stat, party):
    """So many steps at one temperature."""
    at = board.at[0]
    for _ in range(steps):
        make_room(book, board)
        if share(chance) < style.eject_share:
            i = sized[below(chance, len(sized))]
            for _ in range(64):
                m = below(chance, at.machines)
                if m != board.whole[at.machine_of + i] and may_ever(board, i, m):
                    eject_step(board, i, m, style, chance, heat, book, stat, party)
                    break
        else:
            i = movable[below(chance, len(movable))]
            shift_step(board, i, style, chance, heat, book, stat)
