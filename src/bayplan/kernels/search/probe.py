"""How large the steps of a walk are, the scale of its temperatures; and what hinders them."""

import numpy as np
import numpy.typing as npt

from bayplan.kernels.search.board import Board
from bayplan.kernels.search.chance import below
from bayplan.kernels.search.compiled import kernel
from bayplan.kernels.search.moving import drop, lift
from bayplan.kernels.search.standing import finds_needed, fits_alone, leaves_well, price


@kernel
def probe(
    board: Board, movable: npt.NDArray[np.int64], chance: npt.NDArray[np.uint64], tries: int, found_out: npt.NDArray[np.float64]
) -> None:
    """Over random moves that all rules but dependencies allow: mean size of the price change, share that dependencies forbid.

    Both are 0 if no such move was found. Nothing moves.
    """
    at = board.at[0]
    size, found, forbidden = 0.0, 0, 0
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
                if not (finds_needed(board, i, m) and leaves_well(board, i, origin, m)):
                    forbidden += 1
        drop(board, i, origin)
        board.real[at.total] = total
    found_out[0] = size / max(1, found)
    found_out[1] = forbidden / max(1, found)
