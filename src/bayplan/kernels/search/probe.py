"""How large the steps of a walk are: the scale of its temperatures."""

import numpy as np
import numpy.typing as npt

from bayplan.kernels.search.board import Board
from bayplan.kernels.search.chance import below
from bayplan.kernels.search.compiled import kernel
from bayplan.kernels.search.moving import drop, lift
from bayplan.kernels.search.standing import fits_alone, price


@kernel
def probe(board: Board, movable: npt.NDArray[np.int64], chance: npt.NDArray[np.uint64], tries: int) -> float:
    """The mean size of a price change over random moves that the rules allow; 0 if none was found. Nothing moves."""
    at = board.at[0]
    size, found = 0.0, 0
    for _ in range(tries):
        i = movable[below(chance, len(movable))]
        total = board.real[at.total]
        origin = lift(board, i)
        here = price(board, i, origin)
        for _ in range(4):
            m = below(chance, at.machines)
            if m != origin and fits_alone(board, i, m):
                size += abs(price(board, i, m) - here)
                found += 1
        drop(board, i, origin)
        board.real[at.total] = total
    return size / found if found > 0 else 0.0
