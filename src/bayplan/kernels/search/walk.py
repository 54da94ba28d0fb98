"""Annealing: items are lifted and dropped, worse states are accepted by Metropolis' rule.

`shift_step` lifts one item and lets it walk over a few machines. `swap_step` trades it for the best of a few items of another
machine. `eject_step` forces it onto a machine and puts what must give way elsewhere: one that goes to a third machine is a
replace, several are the ejection of a big container's neighbours.
"""

from typing import NamedTuple

import numpy as np

from bayplan.kernels.search.board import BREACHES, MOST_MOVES, MOVED
from bayplan.kernels.search.book import enter, judge, make_room
from bayplan.kernels.search.chance import below, share
from bayplan.kernels.search.compiled import kernel
from bayplan.kernels.search.force import choose_victims, possible
from bayplan.kernels.search.moving import drop, lift
from bayplan.kernels.search.party import undo
from bayplan.kernels.search.standing import extra_breaches, extra_moves, fits_alone, keeps_counts, price
from bayplan.kernels.search.trade import swap_step

STRIDE = 1_000_003  # prime, so that every machine is met


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
def shift_step(board, i, style, chance, heat, loose, book):
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
        there = price(board, i, m)
        if warm_enough(chance, there - here_price, heat):
            here, here_price = m, there
    drop(board, i, here)
    if here != origin:
        enter(book, i, origin)
        judge(book, board)


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
def eject_step(board, i, m, style, chance, heat, loose, book, party):
    """Force item i onto machine m; what must give way goes to the item's machine or elsewhere."""
    at, whole = board.at[0], board.whole
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
        good = board.real[at.total] <= most and whole[at.tally + MOVED] <= whole[at.tally + MOST_MOVES]
        good = good and (loose or whole[at.tally + BREACHES] <= breaches)
    if not good:
        undo(board, party, placed, n, total)
        return
    for e in range(n):
        enter(book, party.item[e], party.origin[e])
    judge(book, board)


@kernel
def walk(board, movable, sized, style, chance, heat, loose, steps, book, party):
    """So many steps at one temperature. `loose`: may dependencies be broken on the way?"""
    at = board.at[0]
    for _ in range(steps):
        make_room(book, board)
        kind = share(chance)
        if kind < style.eject_share:
            i = sized[below(chance, len(sized))]
            m = possible(board, i, chance)
            if m >= 0:
                eject_step(board, i, m, style, chance, heat, loose, book, party)
        elif kind < style.eject_share + style.swap_share:
            i = sized[below(chance, len(sized))]
            swap_step(board, i, below(chance, at.machines), chance, heat, loose, book, party)
        else:
            i = movable[below(chance, len(movable))]
            shift_step(board, i, style, chance, heat, loose, book)
