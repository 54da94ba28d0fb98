"""The affinity graph of a cluster, and what a partition of its workloads is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bayplan.errors import ModelError
from bayplan.model import BoolArray, Cluster, FloatArray, IntArray, allowed, floats, ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AffinityGraph:
    """What a partitioner sees of a cluster: workloads, edges, and the machines that workloads may use."""

    a: IntArray  # (edge,) workload
    b: IntArray  # (edge,) workload
    weight: FloatArray  # (edge,) not negative, of a total of 1; without edges the total is 0
    replicas: IntArray  # (workload,) d of [RASA] (3)
    share: FloatArray  # (workload, resource) what all its containers request, of the capacity of all machines
    row_of: IntArray  # (workload,) row of `allow`
    allow: BoolArray  # (row, machine) b of [RASA] (6)

    def __post_init__(self) -> None:
        if not np.isfinite(self.weight).all() or (self.weight < 0).any():
            raise ModelError("an affinity is negative or not finite")

    @property
    def n(self) -> int:
        """How many workloads."""
        return len(self.replicas)

    @property
    def affinity(self) -> FloatArray:
        """(workload,) T(w): the weight of all its edges."""
        ends = np.concatenate([self.a, self.b])
        return floats(np.bincount(ends, weights=np.tile(self.weight, 2), minlength=self.n))


def affinity_graph(cluster: Cluster) -> AffinityGraph:
    """The graph of a cluster."""
    row_of, allow = allowed(cluster)
    capacity = np.maximum(cluster.machines.capacity.sum(axis=0, dtype=np.float64), 1.0)
    total = cluster.traffic.weight.sum()
    return AffinityGraph(
        a=cluster.traffic.a,
        b=cluster.traffic.b,
        weight=floats(cluster.traffic.weight / total if total > 0 else np.zeros(len(cluster.traffic.weight))),
        replicas=cluster.replicas,
        share=floats(cluster.workloads.request * cluster.replicas[:, None].astype(np.float64) / capacity),
        row_of=ints(row_of),
        allow=allow,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Partition:
    """Every workload once: in a crucial set, which becomes a subproblem, or among the trivial ones ([RASA] §IV-B5)."""

    sets: tuple[IntArray, ...]  # workloads of each crucial set, ascending
    trivial: IntArray  # workloads, ascending
    lost: float  # share of the total affinity on edges whose ends are not in the same set
    balanced: bool = True  # of every set that was split, is the largest part less than twice the smallest?
    notes: tuple[str, ...] = ()  # what the user should know, a sentence each

    def __post_init__(self) -> None:
        workloads = np.sort(np.concatenate([self.trivial, *self.sets]))
        if not np.array_equal(workloads, np.arange(len(workloads))):
            raise ModelError("a partition has a workload twice or leaves one out")

    @property
    def set_of(self) -> IntArray:
        """(workload,) number of its set; -1 if it is trivial."""
        return _set_of(self.sets, len(self.trivial) + sum(map(len, self.sets)))


class Partitioner(Protocol):
    """A way to partition. `masters`: how many workloads may be crucial; None: the partitioner decides."""

    def __call__(self, graph: AffinityGraph, *, masters: int | None, seed: int) -> Partition:
        """A partition of all workloads; the same seed gives the same one."""
        ...


def partition_of(
    graph: AffinityGraph, sets: Sequence[IntArray], *, balanced: bool = True, notes: Sequence[str] = ()
) -> Partition:
    """The partition with these crucial sets; all other workloads are trivial. So are sets without an edge inside."""
    set_of = _set_of(sets, graph.n)
    inside = (set_of[graph.a] == set_of[graph.b]) & (set_of[graph.a] >= 0) & (graph.weight > 0)
    gaining = np.unique(set_of[graph.a[inside]])
    without = sum(len(members) > 0 for members in sets) - len(gaining)
    note = [f"{without} of the sets have no affinity inside: trivial"] if without else []
    return Partition(
        sets=tuple(ints(np.sort(sets[k])) for k in gaining),
        trivial=ints(np.flatnonzero(~np.isin(set_of, gaining))),
        lost=lost_affinity(graph, set_of),
        balanced=balanced,
        notes=(*notes, *note),
    )


def lost_affinity(graph: AffinityGraph, set_of: IntArray) -> float:
    """The weight of edges whose ends are not in one set, of a total of 1; set -1 is no set."""
    inside = (set_of[graph.a] == set_of[graph.b]) & (set_of[graph.a] >= 0)
    return float(graph.weight[~inside].sum())


def demand_of_sets(graph: AffinityGraph, sets: Sequence[IntArray]) -> FloatArray:
    """(set, resource) what all containers of each set request, as a share of the capacity of all machines."""
    return floats(np.array([graph.share[members].sum(axis=0) for members in sets]).reshape(len(sets), graph.share.shape[1]))


def _set_of(sets: Sequence[IntArray], n: int) -> IntArray:
    """(workload,) number of its set; -1 if it is in none."""
    set_of = np.full(n, -1, dtype=np.int64)
    for k, members in enumerate(sets):
        set_of[members] = k
    return ints(set_of)
