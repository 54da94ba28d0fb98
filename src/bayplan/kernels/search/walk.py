"""Annealing: items are lifted and dropped, worse states are accepted by Metropolis' rule.

`shift_step` lifts one item and lets it walk over a few machines. `eject_step` forces an item onto a machine and puts what
must give way elsewhere: one that goes to the item's machine is a swap, one that goes to a third is a replace, several
are the ejection of a big container's neighbours.
"""

from typing import NamedTuple

import numpy as np

from bayplan.kernels.search.board import BREACHES, CHARGE, LIMIT, LOAD, MOST_MOVES, MOVED
from bayplan.kernels.search.book import enter, judge, make_room
from bayplan.kernels.search.chance import below, share
from bayplan.kernels.search.compiled import kernel
from bayplan.kernels.search.moving import drop, lift
from bayplan.kernels.search.party import MOST_LIFTED, undo
from bayplan.kernels.search.standing import extra_breaches, extra_moves, fits_alone, keeps_counts, may_ever, price
from bayplan.kernels.search.trade import swap_step

STRIDE = 1_000_003  # prime, so that every machine is met
SHIFTS, SHIFTS_MADE, EJECTIONS, EJECTIONS_TRIED, EJECTIONS_MADE, PRICED, SWAPS, SWAPS_MADE = range(8)


class Style(NamedTuple):
    """How to walk."""

    shift_tries: int  # machines a lifted item looks at
    eject_tries: int  # machines an ejected item looks at, at most
    eject_finds: int  # until it has found so many that it fits on
    eject_share: float  # of the steps
    swap_share: float  # of the steps
    scan: int  # most items of a machine looked at for a victim


@kernel
def warm_enough(chance, worse, heat):
    """Metropolis' rule."""
    return worse <= 0.0 or (heat > 0.0 and worse < -heat * np.log(share(chance)))


@kernel
def shift_step(board, i, style, chance, heat, loose, book, stat):
    """Lift one item, let it walk over a few machines, drop it where it ends."""
    at, whole = board.at[0], board.whole
    origin = lift(board, i)
    here, here_price, breaches = origin, price(board, i, origin), extra_breaches(board, i, origin)
    for _ in range(style.shift_tries):
        m = below(chance, at.machines)
        if m == here or not fits_alone(board, i, m) or (not loose and extra_breaches(board, i, m) > breaches):
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
def is_chosen(party, n, j):
    """Is item j among the first n of the party?"""
    for e in range(n):
        if party.item[e] == j:
            return True
    return False


@kernel
def list_lacking(board, m, party):
    """How many resources machine m is short of; which, and one over the shortage of each, go into the party's lists."""
    n = 0
    for r in range(board.at[0].resources):
        if party.short[r] > 0:
            party.lack[n] = r
            party.one_over[n] = 1.0 / party.short[r]
            n += 1
    return n


@kernel
def help_of(board, j, m, party, lacking):
    """How much of the shortage on machine m goes away with item j: shares summed over resources, negative if all of it."""
    at, whole = board.at[0], board.whole
    want = at.request + whole[at.kind_of + j] * at.resources
    stays_charged = whole[at.home + j] == m
    helped, enough = 0.0, True
    for e in range(lacking):
        r = party.lack[e]
        share_of = 0.0 if stays_charged and whole[at.joint + r] == 1 else whole[want + r] * party.one_over[e]
        if share_of < 1.0:
            enough = False
            helped += share_of
        else:
            helped += 1.0
    return -1.0 if enough else helped


@kernel
def choose_victims(board, chance, i, m, scan, party):
    """The party that item i needs to come to machine m: itself, and items of m that together make room; 1 if none do.

    Each victim is the first one, from a random one on, that makes room alone, or else the one that helps most. If there
    is room already, one random item: a swap. Nothing is lifted.
    """
    at, whole, small = board.at[0], board.whole, board.small
    size = whole[at.on_size + m]
    if size == 0:
        return 1
    first = below(chance, size)
    if not shortage(board, i, m, party.short):
        party.item[1] = small[at.on + m * at.slots + first]
        return 2 if whole[at.movable + party.item[1]] == 1 else 1
    n = 1
    while n < MOST_LIFTED:
        lacking = list_lacking(board, m, party)
        best, best_help = -1, 0.0
        for e in range(min(size, scan)):
            slot = first + e
            j = small[at.on + m * at.slots + (slot if slot < size else slot - size)]
            if whole[at.movable + j] == 0 or is_chosen(party, n, j):
                continue
            helped = help_of(board, j, m, party, lacking)
            if helped < 0.0 or helped > best_help:
                best, best_help = j, helped
                if helped < 0.0:
                    break
        if best < 0:
            return 1
        party.item[n] = best
        n += 1
        if best_help < 0.0:
            return n
        relieve_of(board, best, m, party.short)
    return 1


@kernel
def relieve_of(board, j, m, short):
    """Take what leaves machine m with item j off the shortage."""
    at, whole = board.at[0], board.whole
    want = at.request + whole[at.kind_of + j] * at.resources
    stays_charged = whole[at.home + j] == m
    for r in range(at.resources):
        if not (stays_charged and whole[at.joint + r] == 1):
            short[r] -= whole[want + r]


@kernel
def best_of_some(board, j, m, style, chance, party):
    """The cheapest of the first few machines but m that an ejected item fits on; -1 if there is none.

    The first lifted item's old machine is looked at first, then others from a random one on, in large strides.
    """
    at = board.at[0]
    target, least, found = -1, np.inf, 0
    first = below(chance, at.machines)
    for t in range(min(style.eject_tries, at.machines) + 1):
        there = party.origin[0] if t == 0 else (first + t * STRIDE) % at.machines
        if there != m and fits_alone(board, j, there):
            cost = price(board, j, there)
            if cost < least:
                target, least = there, cost
            found += 1
            if found == style.eject_finds:
                break
    return target


@kernel
def eject_step(board, i, m, style, chance, heat, loose, book, stat, party):
    """Force item i onto machine m; what must give way goes to the item's machine or elsewhere."""
    at, whole = board.at[0], board.whole
    stat[EJECTIONS] += 1
    if m == whole[at.machine_of + i]:
        return
    total, breaches = board.real[at.total], whole[at.tally + BREACHES]
    most = total - heat * np.log(share(chance)) if heat > 0.0 else total  # Metropolis' rule, drawn beforehand
    party.item[0] = i
    party.origin[0] = lift(board, i)
    n, placed = choose_victims(board, chance, i, m, style.scan, party) if keeps_counts(board, i, m) else 1, 0
    for e in range(1, n):
        party.origin[e] = lift(board, party.item[e])
    if n == 1 or not fits_alone(board, i, m):
        undo(board, party, 0, n, total)
        return
    good = True
    while good and placed < n:
        target = m if placed == 0 else best_of_some(board, party.item[placed], m, style, chance, party)
        if target < 0:
            good = False
            break
        drop(board, party.item[placed], target)
        placed += 1
        sure = board.real[at.total] - board.real[at.breach_price] * whole[at.tally + BREACHES]
        good = sure <= most  # those still lifted will hardly make it cheaper
    if good:
        stat[EJECTIONS_TRIED] += 1
        good = board.real[at.total] <= most and whole[at.tally + MOVED] <= whole[at.tally + MOST_MOVES]
        good = good and (loose or whole[at.tally + BREACHES] <= breaches)
    if not good:
        undo(board, party, placed, n, total)
        return
    stat[EJECTIONS_MADE] += 1
    for e in range(n):
        enter(book, party.item[e], party.origin[e])
    judge(book, board)


@kernel
def walk(board, movable, sized, style, chance, heat, loose, steps, book, stat, party):
    """So many steps at one temperature. `loose`: may dependencies be broken on the way?"""
    at = board.at[0]
    for _ in range(steps):
        make_room(book, board)
        kind = share(chance)
        if kind < style.eject_share:
            i = sized[below(chance, len(sized))]
            for _ in range(64):
                m = below(chance, at.machines)
                if m != board.whole[at.machine_of + i] and may_ever(board, i, m):
                    eject_step(board, i, m, style, chance, heat, loose, book, stat, party)
                    break
        elif kind < style.eject_share + style.swap_share:
            stat[SWAPS] += 1
            i = sized[below(chance, len(sized))]
            if swap_step(board, i, below(chance, at.machines), chance, heat, loose, book, party):
                stat[SWAPS_MADE] += 1
        else:
            i = movable[below(chance, len(movable))]
            shift_step(board, i, style, chance, heat, loose, book, stat)
