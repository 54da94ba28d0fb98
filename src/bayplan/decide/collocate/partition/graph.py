"""The affinity graph: services (workloads of the cluster), weighted edges of a total of 1, and where services may run."""

from dataclasses import dataclass

import numpy as np

from bayplan.errors import ModelError
from bayplan.model import BoolArray, Cluster, FloatArray, IntArray, allowed, floats, ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Graph:
    """What a partitioner sees of a cluster."""

    a: IntArray  # (edge,) service
    b: IntArray  # (edge,) service
    weight: FloatArray  # (edge,) not negative, of a total of 1; without edges the total is 0
    replicas: IntArray  # (service,) d of 004 (3)
    share: FloatArray  # (service, resource) what all its containers request, of the capacity of all machines
    row_of: IntArray  # (service,) row of `allow`
    allow: BoolArray  # (row, machine) b of 004 (6)

    def __post_init__(self) -> None:
        if not np.isfinite(self.weight).all() or (self.weight < 0).any():
            raise ModelError("an affinity is negative or not finite")

    @property
    def n(self) -> int:
        """How many services."""
        return len(self.replicas)

    @property
    def affinity(self) -> FloatArray:
        """(service,) T(s): the weight of all its edges."""
        ends = np.concatenate([self.a, self.b])
        return floats(np.bincount(ends, weights=np.tile(self.weight, 2), minlength=self.n))


def affinity_graph(cluster: Cluster) -> Graph:
    """The graph of a cluster."""
    row_of, allow = allowed(cluster)
    capacity = np.maximum(cluster.machines.capacity.sum(axis=0, dtype=np.float64), 1.0)
    total = cluster.traffic.weight.sum()
    return Graph(
        a=cluster.traffic.a,
        b=cluster.traffic.b,
        weight=floats(cluster.traffic.weight / total if total > 0 else np.zeros(len(cluster.traffic.weight))),
        replicas=cluster.replicas,
        share=floats(cluster.workloads.request * cluster.replicas[:, None].astype(np.float64) / capacity),
        row_of=ints(row_of),
        allow=allow,
    )
