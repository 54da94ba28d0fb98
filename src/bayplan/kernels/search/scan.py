"""Look at all moves of some items, one by one, and make none: what a step of any search costs, without the search."""

import numpy as np

from bayplan.kernels.search.board import NOWHERE
from bayplan.kernels.search.compiled import kernel
from bayplan.kernels.search.moving import drop, lift
from bayplan.kernels.search.standing import fits, leaves_well, price
from bayplan.kernels.search.survey import survey


@kernel
def scan_shifts(board, items, view, best_out):
    """How many shifts of these standing items keep every rule and were priced; the least change of the objective in `best_out`.

    Each item is tried on every other machine. A move that a rule forbids is not priced and does not count.
    """
    at, whole = board.at[0], board.whole
    total = board.real[at.total]
    priced = 0
    best_out[0] = np.inf
    for i in items:
        origin = lift(board, i)
        here = price(board, i, origin)
        k = whole[at.kind_of + i]
        needed = whole[at.prop_start + k + 1] > whole[at.prop_start + k]
        for e in range(survey(board, i, view)):
            m = view.machine[e]
            if m != origin and (not needed or leaves_well(board, i, origin, m)):
                best_out[0] = min(best_out[0], view.price[e] - here)
                priced += 1
        drop(board, i, origin)
        board.real[at.total] = total  # exactly as before
    return priced


@kernel
def scan_swaps(board, items, others, best_out):
    """How many swaps of an item with one of the others keep every rule and were priced; as `scan_shifts`.

    The price is exact: that of the second item is taken with the first in its new place.
    """
    at, whole = board.at[0], board.whole
    total = board.real[at.total]
    priced = 0
    best_out[0] = np.inf
    for i in items:
        origin = lift(board, i)
        for j in others:
            m = whole[at.machine_of + j]
            if m == NOWHERE or m == origin:
                continue
            lift(board, j)
            if fits(board, i, m) and leaves_well(board, i, origin, m):
                drop(board, i, m)
                if fits(board, j, origin) and leaves_well(board, j, m, origin):
                    best_out[0] = min(best_out[0], board.real[at.total] + price(board, j, origin) - total)
                    priced += 1
                lift(board, i)
            drop(board, j, m)
        drop(board, i, origin)
        board.real[at.total] = total
    return priced
