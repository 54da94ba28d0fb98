"""The first three stages (004 IV-B1 to IV-B3): which services matter, and which of them can meet at all."""

import math
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from bayplan.decide.collocate.partition.graph import Graph
from bayplan.errors import UsageError
from bayplan.model import IntArray, ints


class Blocks(NamedTuple):
    """Services told apart by the machines they may use."""

    sets: tuple[IntArray, ...]  # no machine may host services of two of them; by their first service
    nowhere: IntArray  # services that no machine may host


def affine(graph: Graph) -> IntArray:
    """Services that have affinity to another one (IV-B1), ascending. Traffic of a service without containers is none."""
    counts = (graph.weight > 0) & (graph.replicas[graph.a] > 0) & (graph.replicas[graph.b] > 0)
    return ints(np.unique(np.concatenate([graph.a[counts], graph.b[counts]])))


def master_count(services: int) -> int:
    """floor(45 ln^0.66 N) (V-B): how many of all N services are masters if nobody says otherwise."""
    return math.floor(45.0 * math.log(services) ** 0.66) if services > 1 else 0


def masters(graph: Graph, services: IntArray, n: int | None = None) -> IntArray:
    """Those n of some services with the largest total affinity T(s) (IV-B2), ascending; of equals, the first."""
    most = master_count(graph.n) if n is None else n
    if most < 0:
        raise UsageError(f"{most} master services; expected zero or more")
    order = np.argsort(-graph.affinity[services], kind="stable")
    return ints(np.sort(services[order[:most]]))


def compatible(graph: Graph, services: IntArray) -> Blocks:
    """The blocks of the compatibility matrix (IV-B3): services are in one if a chain of shared machines links them."""
    row_of = graph.row_of[services]
    n_rows = len(graph.allow)
    used = np.zeros(n_rows, dtype=np.bool_)
    used[row_of] = True
    row, machine = np.nonzero(graph.allow & used[:, None])
    n = n_rows + graph.allow.shape[1]
    links = csr_array((np.ones(len(row), dtype=np.int8), (row, n_rows + machine)), shape=(n, n))
    _, block = connected_components(links, directed=False)
    hosted = np.isin(row_of, row)
    placed = services[hosted]
    _, first, number = np.unique(block[row_of[hosted]], return_index=True, return_inverse=True)
    sets = [placed[number == k] for k in np.argsort(first)]
    return Blocks(sets=tuple(ints(members) for members in sets), nowhere=ints(services[~hosted]))
