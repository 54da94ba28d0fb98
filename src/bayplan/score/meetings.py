"""Where the two ends of a traffic edge run side by side."""

from typing import NamedTuple

import numpy as np

from bayplan.model import IntArray, Traffic
from bayplan.score.counts import Counts


class Meetings(NamedTuple):
    """One entry per edge and group in which both of its workloads run."""

    edge: IntArray
    of_a: IntArray  # containers of the edge's first workload there
    of_b: IntArray  # containers of its second


def meetings(traffic: Traffic, counts: Counts) -> Meetings:
    """All meetings of the traffic's edges under (workload, group) counts.

    Walks the shorter of the two rows of each edge and looks its groups up in the other one:
    O(sum over edges of the shorter row, times a logarithm), so a hub with many edges is cheap.
    """
    length = np.diff(counts.indptr).astype(np.int64)  # (workload,) groups it runs in
    a_is_longer = length[traffic.a] > length[traffic.b]
    short = np.where(a_is_longer, traffic.b, traffic.a)
    long = np.where(a_is_longer, traffic.a, traffic.b)

    edge = np.repeat(np.arange(len(short)), length[short])
    within_row = np.arange(len(edge)) - np.repeat(np.cumsum(length[short]) - length[short], length[short])
    at = counts.indptr[short[edge]] + within_row
    group = counts.indices[at]

    width = counts.shape[1]
    have = np.repeat(np.arange(len(length)), length) * width + counts.indices  # ascending
    ask = long[edge] * width + group
    found = np.minimum(np.searchsorted(have, ask), max(0, len(have) - 1))
    meets = have[found] == ask if len(have) else np.zeros(0, dtype=np.bool_)

    edge, of_short, of_long = edge[meets], counts.data[at[meets]], counts.data[found[meets]]
    swapped = a_is_longer[edge]
    return Meetings(edge, np.where(swapped, of_long, of_short), np.where(swapped, of_short, of_long))
