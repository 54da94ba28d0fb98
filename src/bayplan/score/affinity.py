"""Gained affinity ([RASA] Definition 1): the share of the traffic that can stay inside of machines. A gain, not a cost."""

from typing import NamedTuple

import numpy as np

from bayplan.model import Cluster, FloatArray, IntArray, Placement, Traffic
from bayplan.score.counts import Counts, workload_counts


class SharedGroups(NamedTuple):
    """One entry per edge and group in which both of its workloads run."""

    edge: IntArray
    of_a: IntArray  # containers of the edge's first workload there
    of_b: IntArray  # containers of its second


class SharedCells(NamedTuple):
    """One entry per edge and group in which both of its workloads run, as positions in the counts."""

    edge: IntArray
    of_a: IntArray  # position of the edge's first row there
    of_b: IntArray  # of its second


def shared_cells(a: IntArray, b: IntArray, counts: Counts) -> SharedCells:
    """Where both rows of each edge have a count.

    Walks the shorter of the two rows of each edge and looks its groups up in the other one:
    O(sum over edges of the shorter row, times a logarithm), so a hub with many edges is cheap.
    """
    length = np.diff(counts.indptr).astype(np.int64)  # (row,) groups it runs in
    a_is_longer = length[a] > length[b]
    short = np.where(a_is_longer, b, a)
    long = np.where(a_is_longer, a, b)

    edge = np.repeat(np.arange(len(short)), length[short])
    within_row = np.arange(len(edge)) - np.repeat(np.cumsum(length[short]) - length[short], length[short])
    at = counts.indptr[short[edge]] + within_row
    group = counts.indices[at]

    width = counts.shape[1]
    known = np.repeat(np.arange(len(length)), length) * width + counts.indices  # ascending
    key = long[edge] * width + group
    index = np.minimum(np.searchsorted(known, key), max(0, len(known) - 1))
    shared = known[index] == key if len(known) else np.zeros(0, dtype=np.bool_)

    edge, of_short, of_long = edge[shared], at[shared], index[shared]
    swapped = a_is_longer[edge]
    return SharedCells(edge, np.where(swapped, of_long, of_short), np.where(swapped, of_short, of_long))


def shared_groups(traffic: Traffic, counts: Counts) -> SharedGroups:
    """The groups that both ends of each edge share, under (workload, group) counts."""
    cells = shared_cells(traffic.a, traffic.b, counts)
    return SharedGroups(cells.edge, counts.data[cells.of_a], counts.data[cells.of_b])


def total_affinity(cluster: Cluster) -> float:
    """The weight of all edges, as the file states it; every gain below is relative to it."""
    return float(cluster.traffic.weight.sum())


def gained_shares(cluster: Cluster, placement: Placement) -> FloatArray:
    """(edge,) sum over machines of min(x_a / d_a, x_b / d_b) ([RASA] (1)): 0 none, 1 all of the edge's traffic."""
    traffic, replicas = cluster.traffic, cluster.replicas
    shared = shared_groups(traffic, workload_counts(cluster, placement))
    share_a = shared.of_a / replicas[traffic.a[shared.edge]]
    share_b = shared.of_b / replicas[traffic.b[shared.edge]]
    share = np.bincount(shared.edge, weights=np.minimum(share_a, share_b), minlength=len(traffic.a))
    return np.minimum(share, 1.0)  # 1/3 + 1/3 + 1/3 may round above it


def gained_affinity(cluster: Cluster, placement: Placement) -> float:
    """The gained part of a total affinity of 1 ([RASA] (2)); 0 if there is no traffic."""
    total = total_affinity(cluster)
    return float(cluster.traffic.weight @ gained_shares(cluster, placement)) / total if total else 0.0
