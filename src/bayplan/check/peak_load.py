"""The highest load of half-open intervals (start, end] at one time."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.model import FloatArray, IntArray

SAFE = 2.0**62  # sums below it are exact in int64, even if this bound was computed in floats


class Peak(NamedTuple):
    """The highest load, and the first interval (start, end] in which it is reached."""

    load: float
    start: float
    end: float


def exact(amount: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same amounts, as Python integers where int64 could not hold all of them together; floats stay floats."""
    return amount.astype(object) if amount.dtype == np.int64 and amount.sum(dtype=np.float64) >= SAFE else amount


def peak(start: FloatArray, end: FloatArray, amount: IntArray | FloatArray) -> Peak:
    """One sweep over all starts and ends; what ends at t is gone when another starts at t. O(n log n)."""
    time, demand = np.concatenate([end, start]), exact(amount)
    change = np.concatenate([-demand, demand])
    starts = np.repeat([False, True], len(start))
    order = np.lexsort((starts, time))
    load = np.cumsum(change[order])
    top = int(load.argmax())
    later = time[order][top:]
    return Peak(load[top : top + 1].tolist()[0], float(later[0]), float(later[later > later[0]].min()))
