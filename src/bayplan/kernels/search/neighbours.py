"""The three neighbourhoods of Search, Algorithm 3 of 000: shift, swap and replace between hot, non-hot and spare servers."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.search.board import BREACHES, MOST_MOVES, MOVED, NOWHERE
from bayplan.kernels.search.book import Book, enter, judge, make_room
from bayplan.kernels.search.chance import below
from bayplan.kernels.search.compiled import kernel
from bayplan.kernels.search.moving import drop, lift
from bayplan.kernels.search.standing import fits_alone, price
from bayplan.kernels.search.sweep import may_go, utilisation

SELECTED = 3  # servers of each set that a search looks at
LEAST_GAIN = 1e-12  # of the objective: less is rounding
FIRST, FIRST_TO, SECOND, SECOND_TO = range(4)  # of a found move: item, machine, item or NOWHERE, machine


class Hunt(NamedTuple):
    """What the searches share."""

    heat: npt.NDArray[np.float64]  # (machine,) U(h)
    rank: npt.NDArray[np.int64]  # (machine,) machines, the hottest first
    top: int  # hot servers, and as many spare ones
    chance: npt.NDArray[np.uint64]  # (1,)
    book: Book
    found: npt.NDArray[np.int64]  # (4,) the best move of this iteration
    gain: npt.NDArray[np.float64]  # (1,) its change of the objective, negative


@kernel
def sort_by_heat(hunt):
    """Line 3: machines by utilisation. Few have changed, so insertion is fast."""
    heat, rank = hunt.heat, hunt.rank
    for e in range(1, len(rank)):
        m = rank[e]
        at = e
        while at > 0 and heat[rank[at - 1]] < heat[m]:
            rank[at] = rank[at - 1]
            at -= 1
        rank[at] = m


@kernel
def pick(hunt, first, size, e):
    """The e-th selected machine of a range of ranks: every one if they are few, else a random one."""
    return hunt.rank[first + (e if size <= SELECTED else below(hunt.chance, size))]


@kernel
def note(board, hunt, change, i, m, j, target):
    """Remember a move if it is the best so far."""
    if change < hunt.gain[0]:
        hunt.gain[0] = change
        hunt.found[FIRST], hunt.found[FIRST_TO], hunt.found[SECOND], hunt.found[SECOND_TO] = i, m, j, target


@kernel
def shift_search(board, i, origin, hunt):
    """Line 5, one item of a hot server: the best selected spare server for it. The item is lifted."""
    n_m, top = board.at[0].machines, hunt.top
    here = price(board, i, origin)
    for e in range(min(top, SELECTED)):
        m = pick(hunt, n_m - top, top, e)
        if may_go(board, i, origin, m):
            note(board, hunt, price(board, i, m) - here, i, m, NOWHERE, NOWHERE)


@kernel
def note_pair(board, hunt, total, breaches, j, target):
    """Item i of the pair has been dropped, j is lifted: would j on `target` be the best move so far? True if all rules hold."""
    at, whole = board.at[0], board.whole
    if not fits_alone(board, j, target):
        return False
    if board.real[at.total] + price(board, j, target) - total >= hunt.gain[0]:
        return False
    drop(board, j, target)
    good = whole[at.tally + BREACHES] <= breaches and whole[at.tally + MOVED] <= whole[at.tally + MOST_MOVES]
    lift(board, j)
    return good


@kernel
def swap_search(board, i, origin, hunt, total, breaches):
    """Line 6, one item of a hot server: the best item of selected non-hot servers to swap with. Item i is lifted."""
    at, whole = board.at[0], board.whole
    n_m, top = at.machines, hunt.top
    for e in range(min(n_m - top, SELECTED)):
        m = pick(hunt, top, n_m - top, e)
        for slot in range(whole[at.on_size + m] - 1, -1, -1):  # backwards: what was lifted and dropped stands at the end
            j = board.small[at.on + m * at.slots + slot]
            if whole[at.movable + j] == 0 or whole[at.kind_of + j] == whole[at.kind_of + i]:
                continue
            lift(board, j)
            if fits_alone(board, i, m):
                drop(board, i, m)
                if note_pair(board, hunt, total, breaches, j, origin):
                    note(board, hunt, board.real[at.total] + price(board, j, origin) - total, i, m, j, origin)
                lift(board, i)
            drop(board, j, m)


@kernel
def replace_search(board, i, hunt, total, breaches):
    """Line 7, one item of a hot server: the best relay server whose zombie goes to a spare server. Item i is lifted.

    A zombie is an item that is planned here but runs elsewhere: moving it again is free.
    """
    at, whole = board.at[0], board.whole
    n_m, top = at.machines, hunt.top
    for e in range(min(n_m - top, SELECTED)):
        m = pick(hunt, top, n_m - top, e)
        for slot in range(whole[at.on_size + m] - 1, -1, -1):
            j = board.small[at.on + m * at.slots + slot]
            if whole[at.movable + j] == 0 or whole[at.home + j] == m or whole[at.home + j] == NOWHERE:
                continue
            lift(board, j)
            if fits_alone(board, i, m):
                drop(board, i, m)
                for t in range(min(top, SELECTED)):
                    target = pick(hunt, n_m - top, top, t)
                    if target != m and note_pair(board, hunt, total, breaches, j, target):
                        note(board, hunt, board.real[at.total] + price(board, j, target) - total, i, m, j, target)
                lift(board, i)
            drop(board, j, m)


@kernel
def look_around(board, hunt):
    """Lines 5-7: all three searches over selected hot servers; what they find goes into `found`."""
    at, whole = board.at[0], board.whole
    total, breaches = board.real[at.total], whole[at.tally + BREACHES]
    hunt.gain[0] = -LEAST_GAIN * abs(total)
    hunt.found[FIRST] = NOWHERE
    for e in range(min(hunt.top, SELECTED)):
        h = pick(hunt, 0, hunt.top, e)
        for slot in range(whole[at.on_size + h] - 1, -1, -1):
            i = board.small[at.on + h * at.slots + slot]
            if whole[at.movable + i] == 1:
                lift(board, i)
                shift_search(board, i, h, hunt)
                swap_search(board, i, h, hunt, total, breaches)
                replace_search(board, i, hunt, total, breaches)
                drop(board, i, h)
                board.real[at.total] = total  # exactly as before


@kernel
def put(board, i, m, hunt):
    """Move one item."""
    origin = lift(board, i)
    drop(board, i, m)
    enter(hunt.book, i, origin)
    hunt.heat[origin], hunt.heat[m] = utilisation(board, origin, 0, 0), utilisation(board, m, 0, 0)


@kernel
def search(board, hunt, rounds, patience, stale):
    """Up to so many iterations of lines 2-9; how many. Fewer: `patience` iterations in a row found nothing (`stale` counts)."""
    for done in range(rounds):
        if stale[0] >= patience:
            return done
        sort_by_heat(hunt)
        look_around(board, hunt)
        stale[0] += 1
        if hunt.found[FIRST] != NOWHERE:
            stale[0] = 0
            make_room(hunt.book, board)
            put(board, hunt.found[FIRST], hunt.found[FIRST_TO], hunt)
            if hunt.found[SECOND] != NOWHERE:
                put(board, hunt.found[SECOND], hunt.found[SECOND_TO], hunt)
            judge(hunt.book, board)
    return rounds
