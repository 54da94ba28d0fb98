"""The quantities of `experiments.calibration.measured`, computed for any snapshot of two resources."""

import numpy as np
from scipy.stats import rankdata

from bayplan.model import Cluster, FloatArray, Placement, Snapshot, floats
from bayplan.score.affinity import gained_affinity
from bayplan.score.utilisation import machine_utilisation


def quantities(snapshot: Snapshot) -> dict[str, float]:
    """Name -> value, under the names of MEASURED."""
    cluster, placement = snapshot.cluster, snapshot.placement
    total = cluster.replicas @ cluster.workloads.request / cluster.machines.capacity.sum(axis=0)
    values = {
        "cpu requested": total[0],
        "memory requested": total[1],
        **_traffic(cluster),
        **_replicas(cluster),
        **_correlations(cluster),
        **_machines(cluster, placement),
        "gained affinity of ORIGINAL": gained_affinity(cluster, placement),
    }
    return {name: float(value) for name, value in values.items()}


def service_affinity(cluster: Cluster) -> FloatArray:
    """(workload,) T(s) of [RASA] §IV-B."""
    traffic, n = cluster.traffic, len(cluster.workloads.name)
    return floats(np.bincount(traffic.a, traffic.weight, n) + np.bincount(traffic.b, traffic.weight, n))


def _traffic(cluster: Cluster) -> dict[str, float]:
    traffic = cluster.traffic
    by_service = np.sort(service_affinity(cluster))[::-1]
    by_edge = np.sort(traffic.weight)[::-1] / traffic.weight.sum()
    degree = np.sort(np.bincount(np.r_[traffic.a, traffic.b], minlength=len(cluster.workloads.name)))[::-1]
    return {
        **{f"affinity of top {k} services": by_service[:k].sum() / by_service.sum() for k in (10, 20, 50, 100)},
        "edges": len(traffic.a),
        "services with traffic": np.count_nonzero(by_service),
        "affinity of the heaviest edge": by_edge[0],
        **{f"affinity of {k} heaviest edges": by_edge[:k].sum() for k in (10, 100)},
        "largest degree": degree[0],
        "tenth largest degree": degree[9],
    }


def _replicas(cluster: Cluster) -> dict[str, float]:
    return {
        "replicas, mean": cluster.replicas.mean(),
        **{f"replicas, {q} %": np.percentile(cluster.replicas, q) for q in (25, 50, 75, 90, 95, 99)},
        "replicas, largest": cluster.replicas.max(),
    }


def _correlations(cluster: Cluster) -> dict[str, float]:
    """Spearman, over all services."""
    value = {"traffic": service_affinity(cluster), "replicas": cluster.replicas, "cpu": cluster.workloads.request[:, 0]}
    rank = {name: rankdata(values) for name, values in value.items()}
    pairs = (("traffic", "replicas"), ("traffic", "cpu"), ("replicas", "cpu"))
    return {f"rank correlation, {x} and {y}": np.corrcoef(rank[x], rank[y])[0, 1] for x, y in pairs}


def _machines(cluster: Cluster, placement: Placement) -> dict[str, float]:
    """What `bayplan show` calls utilisation: shares of the capacity, over machines."""
    values: dict[str, float] = {}
    for resource, used in zip(cluster.resources, machine_utilisation(cluster, placement).T, strict=True):
        values[f"{resource.name} used on a machine, mean"] = used.mean()
        values |= {f"{resource.name} used on a machine, {q} %": np.percentile(used, q) for q in (5, 50, 95)}
    return values
