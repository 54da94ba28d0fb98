"""The partitioners that the paper compares with (004 V-B): none, at random, and a minimum cut.

The paper says only that the last two partition "the services". Here they deal out all affine services (or the masters, if their
number is given): the others gain nothing wherever they are, so they are trivial as in the paper's own partitioner. They
make as many sets as a large set of that size is split into (IV-B4), and at least two, for one set would be no partition.
Neither looks at which machines a service may use.
"""

import numpy as np
from scipy.sparse import csr_array

from bayplan.decide.collocate.partition.graph import AffinityGraph, Partition, lost_affinity, partition_of
from bayplan.decide.collocate.partition.multi_stage import master_workloads as masters_of
from bayplan.decide.collocate.partition.multi_stage import part_count, workloads_with_affinity
from bayplan.errors import UsageError
from bayplan.model import IntArray, ints

IMBALANCE = 0.03  # how much larger than the mean a set may be: KaHIP's own default
ECOSOCIAL = 4  # KaHIP's mode: a few services have most edges, as in social networks; strong modes take five times as long
UNITS = 2**28  # the total weight as KaHIP counts it: whole numbers of 32 bits


def no_partition(graph: AffinityGraph, *, masters: int | None, seed: int) -> Partition:
    """One set with all services; `masters` changes nothing."""
    every = np.arange(graph.n)
    return Partition(sets=(ints(every),) if graph.n else (), trivial=ints([]), lost=lost_affinity(graph, ints(0 * every)))


def random_partition(graph: AffinityGraph, *, masters: int | None, seed: int) -> Partition:
    """The affine services dealt out at random to sets of equal size."""
    services = _dealt_out(graph, masters)
    order = services[np.random.default_rng(seed).permutation(len(services))]
    return partition_of(graph, [ints(np.sort(part)) for part in np.array_split(order, _sets(services))])


def min_cut(graph: AffinityGraph, *, masters: int | None, seed: int) -> Partition:
    """The affine services in sets of about equal size with little affinity between them, by KaHIP (the paper's choice)."""
    services = _dealt_out(graph, masters)
    h = _sets(services)
    if h == 1:
        return partition_of(graph, [services])
    block = _kahip(graph, services, h, seed)
    parts = [ints(services[block == k]) for k in range(h)]
    sizes = [len(part) for part in parts]
    found = max(sizes) < 2 * min(sizes)
    note = [] if found else [f"KaHIP made sets of {min(sizes)} to {max(sizes)} services"]
    return partition_of(graph, parts, balanced=found, notes=note)


def _dealt_out(graph: AffinityGraph, masters: int | None) -> IntArray:
    """The services that get into sets."""
    every = workloads_with_affinity(graph)
    return masters_of(graph, every, len(every) if masters is None else masters)


def _sets(services: IntArray) -> int:
    """How many sets they are dealt out to."""
    return min(max(part_count(len(services)), 2), max(len(services), 1))


def _kahip(graph: AffinityGraph, services: IntArray, h: int, seed: int) -> IntArray:
    """(service,) number of its set."""
    try:
        from kahip import kaffpa
    except ImportError as error:
        raise UsageError("partition 'min-cut' needs kahip: pip install 'bayplan[graph]'") from error
    number = np.full(graph.n, -1, dtype=np.int64)
    number[services] = np.arange(len(services))
    a, b = number[graph.a], number[graph.b]
    inside = (a >= 0) & (b >= 0) & (graph.weight > 0)
    units = np.maximum(np.rint(graph.weight[inside] * UNITS), 1).astype(np.int64)
    half = csr_array((units, (a[inside], b[inside])), shape=(len(services), len(services)))
    links = csr_array(half + half.T)
    vertex, start, weight, neighbour = [1] * len(services), links.indptr, links.data, links.indices
    lists = (vertex, start.tolist(), weight.tolist(), neighbour.tolist())
    _, block = kaffpa(*lists, h, IMBALANCE, True, seed % 2**31, ECOSOCIAL)
    return ints(block)
