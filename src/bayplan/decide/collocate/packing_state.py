"""The state of a problem while containers are packed: every movable container is lifted, all others stay."""

import numpy as np
from scipy.sparse import csr_array

from bayplan.decide.collocate.subproblem import LiftedCluster, lift, workloads_with_traffic
from bayplan.kernels.collocate.packing_state import PackingState
from bayplan.model import Cluster, FloatArray, IntArray
from bayplan.model.problem import Problem


def packing_state(problem: Problem) -> PackingState:
    """The machines with nothing on them but what must stay."""
    cluster = problem.cluster
    lifted = lift(problem, np.arange(len(cluster.workloads.name)))
    sets = csr_array(lifted.member.T)
    edge_start, neighbour, weight = edge_lists(cluster)
    line_of = np.full(len(cluster.workloads.name), -1, dtype=np.int64)
    talking = workloads_with_traffic(cluster)
    line_of[talking] = np.arange(len(talking))
    return PackingState(
        request=np.where(lifted.capped, cluster.workloads.request, 0),
        one_over=1.0 / np.maximum(1, cluster.replicas),
        row_of=lifted.may_run.row_of,
        allow=lifted.may_run.row,
        set_start=sets.indptr.astype(np.int64),
        set_of=sets.indices.astype(np.int64),
        edge_start=edge_start,
        neighbour=neighbour,
        weight=weight,
        traffic_row=line_of,
        unit=np.where(lifted.capped, 1.0 / np.maximum(1, cluster.machines.capacity), 0.0),
        free=lifted.free.copy(),
        set_free=_set_free(lifted),
        placed=lifted.staying[talking].astype(np.int32).toarray(),
    )


def edge_lists(cluster: Cluster) -> tuple[IntArray, IntArray, FloatArray]:
    """(workload + 1,) starts, (half edge,) neighbours, heaviest first, and (half edge,) weights of a total of 1."""
    traffic = cluster.traffic
    end, other = np.r_[traffic.a, traffic.b], np.r_[traffic.b, traffic.a]
    weight = np.r_[traffic.weight, traffic.weight] / max(traffic.weight.sum(), 1e-300)
    order = np.lexsort((other, -weight, end))
    start = np.searchsorted(end[order], np.arange(len(cluster.workloads.name) + 1))
    return start.astype(np.int64), other[order], weight[order]


def _set_free(lifted: LiftedCluster) -> np.ndarray[tuple[int, int], np.dtype[np.int32]]:
    """(set, machine) containers of the set that may still come."""
    limit = np.minimum(lifted.limit, np.iinfo(np.int32).max // 2).astype(np.int32)
    return np.ascontiguousarray(limit[:, None] - lifted.set_count.astype(np.int32).toarray())


def container_sizes(state: PackingState) -> FloatArray:
    """(workload,) share of a mean machine's scarcest resource that one container takes."""
    share: FloatArray = (state.request * (state.unit.sum(axis=0) / max(1, len(state.unit)))).max(axis=1, initial=0.0)
    return share
