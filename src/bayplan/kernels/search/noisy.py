"""Noisy local search: one item at a time goes where the objective is least, alone, in a swap, or by ejecting others.

After Gavranović, Buljubašić, Demirović: Variable neighborhood search for Google machine reassignment problem (2012). Steps
never worsen the objective of the moment. What leads out of local optima is that the objective changes for a while
(`restart.reweigh`).
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.search.board import BREACHES, MOST_MOVES, MOVED
from bayplan.kernels.search.book import Book, enter, judge, make_room
from bayplan.kernels.search.chance import below, share
from bayplan.kernels.search.compiled import kernel
from bayplan.kernels.search.force import choose_victims, possible
from bayplan.kernels.search.moving import drop, lift
from bayplan.kernels.search.party import Party, undo
from bayplan.kernels.search.standing import (
    extra_moves,
    fits,
    fits_alone,
    keeps_counts,
    leaves_well,
    may_ever,
    price,
)


class Tour(NamedTuple):
    """What the visits share."""

    order: npt.NDArray[np.int64]  # movable items, the biggest first
    chance: npt.NDArray[np.uint64]  # (1,)
    book: Book
    party: Party
    look: int  # machines that an item looks at
    swap_share: float  # of the visits
    eject_share: float  # of the visits
    quiet: bool  # the objective is not the true one: no placement counts as the best


@kernel
def judge_unless_quiet(board, tour):
    """Note the present if it is the best so far."""
    if not tour.quiet:
        judge(tour.book, board)


@kernel
def no_worse(board, total, breaches):
    """After a step: does it cost no more, is no dependency lost, and is the churn budget kept?"""
    at, whole = board.at[0], board.whole
    kept = whole[at.tally + BREACHES] <= breaches and whole[at.tally + MOVED] <= whole[at.tally + MOST_MOVES]
    return kept and board.real[at.total] <= total


@kernel
def cheapest(board, i, never, look, chance):
    """The machine but `never` where the lifted item costs least, of all or of `look` random ones; -1 if none fits."""
    n_m = board.at[0].machines
    best, least = -1, np.inf
    first = below(chance, n_m)
    for t in range(min(look, n_m)):
        m = first + t if look >= n_m else below(chance, n_m)
        m = m if m < n_m else m - n_m
        if m != never and fits(board, i, m):
            cost = price(board, i, m)
            if cost < least:
                best, least = m, cost
    return best


@kernel
def shift_visit(board, i, tour):
    """Put an item where it costs least."""
    at, whole = board.at[0], board.whole
    origin = lift(board, i)
    m = cheapest(board, i, origin, tour.look, tour.chance)
    here = origin
    if m >= 0 and price(board, i, m) < price(board, i, origin) and leaves_well(board, i, origin, m):
        if whole[at.tally + MOVED] + extra_moves(board, i, m) <= whole[at.tally + MOST_MOVES]:
            here = m
    drop(board, i, here)
    if here != origin:
        enter(tour.book, i, origin)
        judge_unless_quiet(board, tour)


@kernel
def swap_visit(board, i, m, tour):
    """Exchange an item with the first on machine m for which that is no worse."""
    at, whole, small = board.at[0], board.whole, board.small
    n, origin = whole[at.on_size + m], whole[at.machine_of + i]
    total, breaches = board.real[at.total], whole[at.tally + BREACHES]
    lift(board, i)
    first = below(tour.chance, n) if n > 0 else 0
    for e in range(min(n, tour.look)):
        j = small[at.on + m * at.slots + (first + e if first + e < n else first + e - n)]
        if whole[at.movable + j] == 0 or whole[at.kind_of + j] == whole[at.kind_of + i] or not may_ever(board, j, origin):
            continue
        lift(board, j)
        if fits_alone(board, i, m):
            drop(board, i, m)
            if fits_alone(board, j, origin):
                drop(board, j, origin)
                if no_worse(board, total, breaches):
                    enter(tour.book, i, origin)
                    enter(tour.book, j, m)
                    judge_unless_quiet(board, tour)
                    return
                lift(board, j)
            lift(board, i)
        drop(board, j, m)
    drop(board, i, origin)
    board.real[at.total] = total


@kernel
def eject_visit(board, i, m, tour):
    """Force an item onto machine m; what gives way goes where it costs least. Undone if that costs more."""
    at, party = board.at[0], tour.party
    total, breaches = board.real[at.total], board.whole[at.tally + BREACHES]
    party.item[0] = i
    party.origin[0] = lift(board, i)
    n, placed = 1, 0
    if keeps_counts(board, i, m) and not fits(board, i, m):
        n = choose_victims(board, tour.chance, i, m, at.slots, party)
        for e in range(1, n):
            party.origin[e] = lift(board, party.item[e])
    good = fits(board, i, m)
    while good and placed < n:
        target = m if placed == 0 else cheapest(board, party.item[placed], m, tour.look, tour.chance)
        good = target >= 0
        if good:
            drop(board, party.item[placed], target)
            placed += 1
            good = board.real[at.total] <= total  # what is still to be placed hardly ever pays
    if not (good and no_worse(board, total, breaches)):
        undo(board, party, placed, n, total)
        return
    for e in range(n):
        enter(tour.book, party.item[e], party.origin[e])
    judge_unless_quiet(board, tour)


@kernel
def visit(board, tour, prefix, visits):
    """So many visits of random items among the biggest."""
    for _ in range(visits):
        make_room(tour.book, board)
        i = tour.order[below(tour.chance, prefix)]
        kind = share(tour.chance)
        if kind >= tour.swap_share + tour.eject_share:
            shift_visit(board, i, tour)
            continue
        m = possible(board, i, tour.chance)
        if m >= 0 and kind < tour.swap_share:
            swap_visit(board, i, m, tour)
        elif m >= 0:
            eject_visit(board, i, m, tour)
    return visits
