"""The blocks of a state, put behind each other."""

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bayplan.kernels.search import state as layout

Blocks: TypeAlias = dict[str, npt.ArrayLike]


def packed(blocks: Mapping[str, npt.ArrayLike], sizes: Mapping[str, int]) -> layout.State:
    """A state of copies: every block must be there."""
    at = np.zeros(1, dtype=layout.AT)
    for name in layout.SIZES:
        at[name] = sizes[name]
    arrays: list[npt.NDArray[Any]] = []
    for names, dtype in ((layout.INTS, np.int64), (layout.FLOATS, np.float64), (layout.SMALL, np.int32)):
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
    return layout.State(at, *arrays)


def copied(arrays: layout.State) -> layout.State:
    """A state that changes on its own."""
    return layout.State(arrays.at, arrays.ints.copy(), arrays.floats.copy(), arrays.small.copy())


def view(arrays: layout.State, name: str, length: int) -> npt.NDArray[Any]:
    """The first numbers of a block, to read or to write."""
    start = int(arrays.at[name][0])
    flat = arrays.ints if name in layout.INTS else arrays.floats if name in layout.FLOATS else arrays.small
    part: npt.NDArray[Any] = flat[start : start + length]
    return part
