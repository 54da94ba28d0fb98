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


def affinity_graph(cluster: Cluster, priority: FloatArray | None = None) -> Graph:
    """The graph of a cluster; `priority` (workload,) multiplies traffic (II-B), see `edge_weight`."""
    row_of, allow = allowed(cluster)
    capacity = np.maximum(cluster.machines.capacity.sum(axis=0, dtype=np.float64), 1.0)
    return Graph(
        a=cluster.traffic.a,
        b=cluster.traffic.b,
        weight=edge_weight(cluster, priority),
        replicas=cluster.replicas,
        share=floats(cluster.workloads.request * cluster.replicas[:, None].astype(np.float64) / capacity),
        row_of=ints(row_of),
        allow=allow,
    )


def edge_weight(cluster: Cluster, priority: FloatArray | None = None) -> FloatArray:
    """(edge,) affinity of a total of 1: the traffic, times the geometric mean of the priorities of its two ends.

    004 II-B: the traffic of a service of high priority counts more. The mean lies between the wishes of both ends,
    and doubling every priority changes nothing. A priority of 0 takes a service's traffic out.
    """
    traffic = cluster.traffic
    weight = traffic.weight
    if priority is not None:
        given = np.asarray(priority, dtype=np.float64)
        if given.shape != cluster.replicas.shape or not (np.isfinite(given) & (given >= 0)).all():
            raise ModelError(f"priorities: expected {len(cluster.replicas)} finite numbers, zero or more")
        root = np.sqrt(given)
        weight = weight * root[traffic.a] * root[traffic.b]
    total = weight.sum()
    return floats(weight / total if total > 0 else np.zeros(len(weight)))
