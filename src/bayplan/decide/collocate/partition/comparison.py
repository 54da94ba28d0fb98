"""The partitioners that the paper compares with ([RASA] §V-B): none, at random, and a minimum cut.

The paper says only that the last two partition "the services". Here they partition all workloads with affinity (or the
masters, if their number is given): the others gain nothing wherever they are, so they are trivial as in the paper's own
partitioner. They make as many sets as a large set of that size is split into (IV-B4), and at least two.
Neither looks at which machines a workload may use.
"""

import numpy as np
from scipy.sparse import csr_array

from bayplan.decide.collocate.partition.graph import AffinityGraph, Partition, lost_affinity, partition_of
from bayplan.decide.collocate.partition.multi_stage import master_workloads as masters_of
from bayplan.decide.collocate.partition.multi_stage import part_count, workloads_with_affinity
from bayplan.errors import UsageError
from bayplan.model import IntArray, ints

IMBALANCE = 0.03  # how much larger than the mean a set may be: KaHIP's own default
ECOSOCIAL = 4  # KaHIP's mode: a few workloads have most edges, as in social networks; strong modes take five times as long
UNITS = 2**28  # the total weight as KaHIP counts it: whole numbers of 32 bits


def no_partition(graph: AffinityGraph, *, masters: int | None, seed: int) -> Partition:
    """One set with all workloads; `masters` changes nothing."""
    workloads = np.arange(graph.n)
    lost = lost_affinity(graph, ints(0 * workloads))
    return Partition(sets=(ints(workloads),) if graph.n else (), trivial=ints([]), lost=lost)


def random_partition(graph: AffinityGraph, *, masters: int | None, seed: int) -> Partition:
    """The workloads with affinity, at random in sets of equal size."""
    workloads = _partitioned(graph, masters)
    order = workloads[np.random.default_rng(seed).permutation(len(workloads))]
    return partition_of(graph, [ints(np.sort(part)) for part in np.array_split(order, _sets(workloads))])


def min_cut(graph: AffinityGraph, *, masters: int | None, seed: int) -> Partition:
    """The workloads with affinity in sets of about equal size, little affinity between them, by KaHIP (the paper's choice)."""
    workloads = _partitioned(graph, masters)
    h = _sets(workloads)
    if h == 1:
        return partition_of(graph, [workloads])
    block = _kahip(graph, workloads, h, seed)
    parts = [ints(workloads[block == k]) for k in range(h)]
    sizes = [len(part) for part in parts]
    balanced = max(sizes) < 2 * min(sizes)
    note = [] if balanced else [f"KaHIP made sets of {min(sizes)} to {max(sizes)} workloads"]
    return partition_of(graph, parts, balanced=balanced, notes=note)


def _partitioned(graph: AffinityGraph, masters: int | None) -> IntArray:
    """The workloads that come into sets."""
    workloads = workloads_with_affinity(graph)
    return masters_of(graph, workloads, len(workloads) if masters is None else masters)


def _sets(workloads: IntArray) -> int:
    """How many sets there are."""
    return min(max(part_count(len(workloads)), 2), max(len(workloads), 1))


def _kahip(graph: AffinityGraph, workloads: IntArray, h: int, seed: int) -> IntArray:
    """(workload,) number of its set."""
    try:
        from kahip import kaffpa
    except ImportError as error:
        raise UsageError("partition 'min-cut' needs kahip: pip install 'bayplan[graph]'") from error
    number = np.full(graph.n, -1, dtype=np.int64)
    number[workloads] = np.arange(len(workloads))
    a, b = number[graph.a], number[graph.b]
    inside = (a >= 0) & (b >= 0) & (graph.weight > 0)
    units = np.maximum(np.rint(graph.weight[inside] * UNITS), 1).astype(np.int64)
    half = csr_array((units, (a[inside], b[inside])), shape=(len(workloads), len(workloads)))
    links = csr_array(half + half.T)
    vertex, start, weight, neighbour = [1] * len(workloads), links.indptr, links.data, links.indices
    lists = (vertex, start.tolist(), weight.tolist(), neighbour.tolist())
    _, block = kaffpa(*lists, h, IMBALANCE, True, seed % 2**31, ECOSOCIAL)
    return ints(block)
