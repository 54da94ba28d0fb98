"""The costs of [FreeContainer] §III-A: utilisation U (3), residual balance B (5), communication C (1).

The paper leaves open what `docs/scores.md` settles: only machines that have a resource count for it, residuals
are relative to the largest machine, and the distance of two machines is a sum over the levels they do not share.
"""

import numpy as np

from bayplan.model import Cluster, FloatArray, Objective, Placement
from bayplan.score.affinity import shared_groups
from bayplan.score.counts import loads, placed_replicas, service_counts, workload_counts
from bayplan.score.utilisation import machine_utilisation


def utilisation_cost(cluster: Cluster, placement: Placement) -> float:
    """U: the variance of utilisation over the machines that have the resource, summed over resources (3)."""
    columns = (column[~np.isnan(column)] for column in machine_utilisation(cluster, placement).T)
    return float(sum(np.var(used - used[0]) for used in columns if used.size))  # less one of them: exactly 0 if all are equal


def balance_cost(cluster: Cluster, placement: Placement, objective: Objective) -> float:
    """B: how far the free amounts are from their target ratios, both orders of each pair (4)-(5).

    A machine counts for a pair of resources if it has both.
    """
    free = residual(cluster, placement)
    has = cluster.machines.capacity > 0
    cost = 0.0
    for i in range(len(cluster.resources)):
        for j in range(len(cluster.resources)):
            both = has[:, i] & has[:, j]
            if i != j and both.any():
                cost += np.maximum(0.0, free[both, i] - free[both, j] * objective.ratio[i, j]).sum()  # (4)
    return float(cost)


def residual(cluster: Cluster, placement: Placement) -> FloatArray:
    """(machine, resource) A(h, r): free amount relative to the largest machine of each resource; negative if overfull."""
    largest = np.maximum(1, cluster.machines.capacity.max(axis=0, initial=0))
    free = cluster.machines.capacity - loads(cluster, placement)  # exact, then one division
    return np.asarray(free / largest, dtype=np.float64)


def communication_cost(cluster: Cluster, placement: Placement, objective: Objective) -> float:
    """C: traffic times distance, over all pairs of placed containers (1).

    The distance of two machines is the sum of `objective.hop` over the levels they do not share, so the cost is a
    sum over levels of the traffic that crosses them, and no pair of containers is ever looked at.
    """
    return sum(float(hop) * crossing(cluster, placement, level) for level, hop in enumerate(objective.hop) if hop > 0)


def crossing(cluster: Cluster, placement: Placement, level: int) -> float:
    """The traffic between placed containers that are not in the same group of the level."""
    return _clique_crossing(cluster, placement, level) + float(_edge_crossing(cluster, placement, level).sum())


def _clique_crossing(cluster: Cluster, placement: Placement, level: int) -> float:
    if not cluster.services.clique.any():
        return 0.0
    counts = service_counts(cluster, placement, level)
    placed, apart_twice = np.zeros((2, len(cluster.services.name)), dtype=np.int64)
    row = np.repeat(np.arange(len(placed)), np.diff(counts.indptr))
    np.add.at(placed, row, counts.data)
    np.add.at(apart_twice, row, counts.data * (placed[row] - counts.data))  # each pair from both of its ends
    return float(cluster.services.clique @ (apart_twice // 2))


def _edge_crossing(cluster: Cluster, placement: Placement, level: int) -> FloatArray:
    """(edge,) its weight times the share of its container pairs that are placed apart."""
    traffic, replicas = cluster.traffic, np.maximum(1, cluster.replicas)
    placed = placed_replicas(cluster, placement)
    apart = placed[traffic.a] * placed[traffic.b]
    shared = shared_groups(traffic, workload_counts(cluster, placement, level))
    np.subtract.at(apart, shared.edge, shared.of_a * shared.of_b)
    pairs = replicas[traffic.a] * replicas[traffic.b]
    return np.asarray(traffic.weight * apart / pairs, dtype=np.float64)
