"""The blocks of a board, put behind each other."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bayplan.kernels.search import board

Blocks: TypeAlias = dict[str, npt.ArrayLike]


def packed(blocks: Mapping[str, npt.ArrayLike], sizes: Mapping[str, int]) -> board.Board:
    """A board of copies: every block must be there."""
    at = np.zeros(1, dtype=board.AT)
    for name in board.SIZES:
        at[name] = sizes[name]
    arrays: list[npt.NDArray[Any]] = []
    for names, dtype in ((board.WHOLE, np.int64), (board.REAL, np.float64), (board.SMALL, np.int32)):
        parts, length = [], 0
        for name in names:
            at[name] = length
            parts.append(np.asarray(blocks[name]).ravel())
            length += len(parts[-1])
        flat = np.empty(length + 1, dtype=dtype)
        for name, part in zip(names, parts, strict=True):
            flat[int(at[name][0]) : int(at[name][0]) + len(part)] = part
        flat[length] = 0
        arrays.append(flat)
    return board.Board(at, *arrays)


def copied(some: board.Board) -> board.Board:
    """A board that changes on its own."""
    return board.Board(some.at, some.whole.copy(), some.real.copy(), some.small.copy())


def view(some: board.Board, name: str, length: int) -> npt.NDArray[Any]:
    """The first numbers of a block, to read or to write."""
    start = int(some.at[name][0])
    flat = some.whole if name in board.WHOLE else some.real if name in board.REAL else some.small
    part: npt.NDArray[Any] = flat[start : start + length]
    return part
