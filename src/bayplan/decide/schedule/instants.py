"""The instants at which capacity has to be looked at: when a request starts and one of those that run ends before the next start.

Between two starts requests only end, so the load is highest just after a start (002 asks for all of T). If nobody ends between
two starts, whoever runs at the first still runs at the second, so the first need not be looked at either. What is left
are the maximal cliques of the interval graph: never more than half as many as there are starts and ends.
"""

from dataclasses import dataclass

import numpy as np

from bayplan.model import FloatArray, IntArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Instants:
    """Request j runs at instants first[j], ..., past[j] - 1: at least at one."""

    time: FloatArray  # (instant,) ascending; a request runs at t if start <= t < end: just after t, that is
    first: IntArray  # (request,)
    past: IntArray  # (request,)


def instants_of(start: FloatArray, end: FloatArray) -> Instants:
    """The maximal instants of requests that run during (start, end]. O(n log n)."""
    starts, ends = np.unique(start), np.unique(end)
    if not len(starts):
        return Instants(time=np.zeros(0), first=np.zeros(0, dtype=np.int64), past=np.zeros(0, dtype=np.int64))
    until = np.append(starts[1:], np.inf)
    somebody_ends = np.searchsorted(ends, until, side="right") > np.searchsorted(ends, starts, side="right")
    time = starts[somebody_ends]
    return Instants(time=time, first=np.searchsorted(time, start), past=np.searchsorted(time, end))
