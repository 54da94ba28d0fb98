"""Move items that stand where no rule would let them in."""

import numpy as np
import numpy.typing as npt

from bayplan.kernels.search.board import MOST_MOVES, MOVED, NOWHERE, Board
from bayplan.kernels.search.compiled import kernel
from bayplan.kernels.search.moving import drop, lift
from bayplan.kernels.search.standing import extra_moves, fits, leaves_well
from bayplan.kernels.search.survey import View, survey


@kernel
def cheapest(board, i, origin, view):
    """The machine where the lifted item may stand for the least; NOWHERE if there is none. Ties: the first."""
    at, whole = board.at[0], board.whole
    target, least = NOWHERE, np.inf
    for e in range(survey(board, i, view)):
        m = view.machine[e]
        if m == origin or view.price[e] >= least or not leaves_well(board, i, origin, m):
            continue
        if whole[at.tally + MOVED] + extra_moves(board, i, m) <= whole[at.tally + MOST_MOVES]:
            target, least = m, view.price[e]
    return target


@kernel
def mend(board: Board, order: npt.NDArray[np.int64], view: View) -> int:
    """Take every item of `order` that is misplaced to the cheapest machine that may take it; how many went."""
    at, whole = board.at[0], board.whole
    mended = 0
    for i in order:
        if whole[at.machine_of + i] == NOWHERE:
            continue
        origin = lift(board, i)
        target = origin
        if not fits(board, i, origin):
            there = cheapest(board, i, origin, view)
            if there != NOWHERE:
                target = there
                mended += 1
        drop(board, i, target)
    return mended
