"""The yard of a problem: every movable container lifted, all others standing."""

import numpy as np
from scipy.sparse import csr_array

from bayplan.decide.collocate.subproblem import LiftedCluster, lift, workloads_with_traffic
from bayplan.kernels.collocate.yard import Yard
from bayplan.model import Cluster, FloatArray, IntArray
from bayplan.model.problem import Problem


def packing_state(problem: Problem) -> Yard:
    """The yard on which nothing stands but what must stay."""
    cluster = problem.cluster
    ground = lift(problem, np.arange(len(cluster.workloads.name)))
    sets = csr_array(ground.member.T)
    edge_start, neighbour, weight = edge_lists(cluster)
    line_of = np.full(len(cluster.workloads.name), -1, dtype=np.int64)
    line_of[workloads_with_traffic(cluster)] = np.arange(len(workloads_with_traffic(cluster)))
    return Yard(
        request=np.where(ground.capped, cluster.workloads.request, 0),
        one_over=1.0 / np.maximum(1, cluster.replicas),
        row_of=ground.may.row_of,
        allow=ground.may.row,
        set_start=sets.indptr.astype(np.int64),
        set_of=sets.indices.astype(np.int64),
        edge_start=edge_start,
        neighbour=neighbour,
        weight=weight,
        line_of=line_of,
        unit=np.where(ground.capped, 1.0 / np.maximum(1, cluster.machines.capacity), 0.0),
        free=ground.room.copy(),
        spare=_spare(ground),
        standing=ground.standing[workloads_with_traffic(cluster)].astype(np.int32).toarray(),
    )


def edge_lists(cluster: Cluster) -> tuple[IntArray, IntArray, FloatArray]:
    """(workload + 1,) starts, (half edge,) neighbours, heaviest first, and (half edge,) weights of a total of 1."""
    traffic = cluster.traffic
    end, other = np.r_[traffic.a, traffic.b], np.r_[traffic.b, traffic.a]
    weight = np.r_[traffic.weight, traffic.weight] / max(traffic.weight.sum(), 1e-300)
    order = np.lexsort((other, -weight, end))
    start = np.searchsorted(end[order], np.arange(len(cluster.workloads.name) + 1))
    return start.astype(np.int64), other[order], weight[order]


def _spare(ground: LiftedCluster) -> np.ndarray[tuple[int, int], np.dtype[np.int32]]:
    """(set, machine) containers that may still come."""
    limit = np.minimum(ground.limit, np.iinfo(np.int32).max // 2).astype(np.int32)
    return np.ascontiguousarray(limit[:, None] - ground.crowd.astype(np.int32).toarray())
