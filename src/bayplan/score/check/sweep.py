"""The most that half-open intervals (start, end] ask for at one time."""

from typing import NamedTuple

import numpy as np

from bayplan.model import FloatArray, IntArray


class Peak(NamedTuple):
    """The highest load, and the first interval (start, end] in which it is reached."""

    load: float
    start: float
    end: float


def peak(start: FloatArray, end: FloatArray, amount: IntArray | FloatArray) -> Peak:
    """One sweep over all starts and ends; what ends at t is gone when another starts at t. O(n log n)."""
    time = np.concatenate([end, start])
    change = np.concatenate([-amount, amount])
    starts = np.repeat([False, True], len(start))
    order = np.lexsort((starts, time))
    load = np.cumsum(change[order])
    top = int(load.argmax())
    later = time[order][top:]
    return Peak(load[top].item(), float(later[0]), float(later[later > later[0]].min()))
