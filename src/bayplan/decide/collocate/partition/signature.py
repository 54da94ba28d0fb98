"""What a partition is, and what every partitioner is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bayplan.decide.collocate.partition.graph import Graph
from bayplan.errors import ModelError
from bayplan.model import FloatArray, IntArray, floats, ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Partition:
    """Every service once: in a crucial set, which becomes a sub-problem, or among the trivial ones (004 IV-B5)."""

    sets: tuple[IntArray, ...]  # services of each crucial set, ascending
    trivial: IntArray  # services, ascending
    lost: float  # share of the total affinity on edges whose ends are not in the same set
    balanced: bool = True  # of every set that was split, is the largest part less than twice the smallest?
    notes: tuple[str, ...] = ()  # what the user should know, a sentence each

    def __post_init__(self) -> None:
        every = np.sort(np.concatenate([self.trivial, *self.sets]))
        if not np.array_equal(every, np.arange(len(every))):
            raise ModelError("a partition has a service twice, or leaves one out")

    @property
    def set_of(self) -> IntArray:
        """(service,) number of its set; -1 if it is trivial."""
        return _set_of(self.sets, len(self.trivial) + sum(map(len, self.sets)))


class Partitioner(Protocol):
    """A way to partition. `masters`: how many services may be crucial; None: as the partitioner thinks best."""

    def __call__(self, graph: Graph, *, masters: int | None, seed: int) -> Partition:
        """A partition of all services; the same seed gives the same one."""
        ...


def partition_of(graph: Graph, sets: Sequence[IntArray], *, balanced: bool = True, notes: Sequence[str] = ()) -> Partition:
    """These crucial sets; every other service is trivial. So are sets without an edge inside: they have nothing to gain."""
    set_of = _set_of(sets, graph.n)
    inside = (set_of[graph.a] == set_of[graph.b]) & (set_of[graph.a] >= 0) & (graph.weight > 0)
    gaining = np.unique(set_of[graph.a[inside]])
    barren = sum(len(members) > 0 for members in sets) - len(gaining)
    more = [f"{barren} of the sets have no affinity inside: trivial"] if barren else []
    return Partition(
        sets=tuple(ints(np.sort(sets[k])) for k in gaining),
        trivial=ints(np.flatnonzero(~np.isin(set_of, gaining))),
        lost=lost_affinity(graph, set_of),
        balanced=balanced,
        notes=(*notes, *more),
    )


def lost_affinity(graph: Graph, set_of: IntArray) -> float:
    """The weight of edges whose ends are not in one set, of a total of 1; set -1 is no set."""
    inside = (set_of[graph.a] == set_of[graph.b]) & (set_of[graph.a] >= 0)
    return float(graph.weight[~inside].sum())


def wanted(graph: Graph, sets: Sequence[IntArray]) -> FloatArray:
    """(set, resource) what all containers of each set request, as a share of the capacity of all machines."""
    return floats(np.array([graph.share[members].sum(axis=0) for members in sets]).reshape(len(sets), graph.share.shape[1]))


def _set_of(sets: Sequence[IntArray], n: int) -> IntArray:
    """(service,) number of its set; -1 if it is in none."""
    set_of = np.full(n, -1, dtype=np.int64)
    for k, members in enumerate(sets):
        set_of[members] = k
    return ints(set_of)
