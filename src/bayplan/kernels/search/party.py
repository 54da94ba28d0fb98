"""Items that are lifted together, and the way back."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.search.compiled import kernel
from bayplan.kernels.search.moving import drop, lift

MOST_LIFTED = 32  # items that one step moves at most


class Party(NamedTuple):
    """Items that are lifted together; scratch of `eject_step`."""

    item: npt.NDArray[np.int64]
    origin: npt.NDArray[np.int64]
    short: npt.NDArray[np.int64]  # (resource,) what is lacking
    lack: npt.NDArray[np.int64]  # (resource,) the first few: resources of which something is lacking
    one_over: npt.NDArray[np.float64]  # (resource,) one over what is lacking of these


def party_of(resources: int) -> Party:
    """Room for a party."""
    lifted, amount = np.zeros(MOST_LIFTED, dtype=np.int64), np.zeros(resources, dtype=np.int64)
    return Party(item=lifted, origin=lifted.copy(), short=amount, lack=amount.copy(), one_over=np.zeros(resources))


@kernel
def undo(board, party, placed, n, total):
    """Everything back to where it was."""
    for e in range(placed):
        lift(board, party.item[e])
    for e in range(n):
        drop(board, party.item[e], party.origin[e])
    board.real[board.at[0].total] = total
