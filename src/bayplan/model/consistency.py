"""Do the parts of a cluster fit together? Every fault as a few words, for a ModelError."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayplan.model.arrays import FloatArray, IntArray, NameArray
from bayplan.model.rules import reference_faults

if TYPE_CHECKING:
    from bayplan.model.cluster import Cluster

LARGEST = np.iinfo(np.int64).max


def inconsistencies(cluster: "Cluster") -> list[str]:
    """What does not fit: shapes first, then values, then what rules refer to."""
    return _shape_faults(cluster) or [*_value_faults(cluster), *_name_faults(cluster)] or [*reference_faults(cluster)]


def _shape_faults(cluster: "Cluster") -> list[str]:
    n_m, n_r = len(cluster.machines.name), len(cluster.resources)
    n_w, n_s = len(cluster.workloads.name), len(cluster.services.name)
    expected = {
        "capacity": (cluster.machines.capacity, (n_m, n_r)),
        "safety": (cluster.machines.safety, (n_m, n_r)),
        "clique": (cluster.services.clique, (n_s,)),
        "service": (cluster.workloads.service, (n_w,)),
        "request": (cluster.workloads.request, (n_w, n_r)),
        "usage_mean": (cluster.workloads.usage_mean, (n_w, n_r)),
        "usage_std": (cluster.workloads.usage_std, (n_w, n_r)),
        "limit": (cluster.workloads.limit, (n_w, n_r)),
        "containers.workload": (cluster.containers.workload, (len(cluster.containers.name),)),
        "traffic.b": (cluster.traffic.b, cluster.traffic.a.shape),
        "traffic.weight": (cluster.traffic.weight, cluster.traffic.a.shape),
        "elsewhere": (cluster.elsewhere, (n_w,) if len(cluster.elsewhere) else (0,)),
        **{f"level {level.name}": (level.group_of, (n_m,)) for level in cluster.levels},
    }
    faults = [f"{name} has shape {array.shape}, not {shape}" for name, (array, shape) in expected.items() if array.shape != shape]
    if not cluster.levels or not cluster.levels[0].is_machine_level:
        faults.append("level 0 is not 'machine'")
    return faults


def _value_faults(cluster: "Cluster") -> list[str]:
    workloads, containers, traffic = cluster.workloads, cluster.containers, cluster.traffic
    n_w, n_s, n_m = len(workloads.name), len(cluster.services.name), len(cluster.machines.name)
    amounts = (cluster.machines.capacity, cluster.machines.safety, workloads.request, workloads.limit)
    checks = {
        "level 0 is not each machine alone": np.array_equal(cluster.levels[0].group_of, np.arange(n_m)),
        "an amount is negative": all(a.min(initial=0) >= 0 for a in amounts),
        "replicas elsewhere are negative": cluster.elsewhere.min(initial=0) >= 0,
        "a usage is negative or not finite": _sound(workloads.usage_mean) and _sound(workloads.usage_std),
        "a workload's service does not exist": _within(workloads.service, n_s),
        "a container's workload does not exist": _within(containers.workload, n_w),
        "containers are not sorted by workload": bool((np.diff(containers.workload) >= 0).all()),
        "a traffic edge names no workload": _within(traffic.a, n_w) and _within(traffic.b, n_w),
        "traffic edges are not a < b": bool((traffic.a < traffic.b).all()),
        "a traffic edge comes twice": len(np.unique(traffic.a * n_w + traffic.b)) == len(traffic.a),
        "a traffic weight is not positive and finite": _sound(traffic.weight) and bool((traffic.weight > 0).all()),
        "a clique weight is negative or not finite": _sound(cluster.services.clique),
        "the requests of all containers overflow int64": _fits_int64(cluster),
        "a machine set names a machine that does not exist": all(_within(s, n_m) for s in cluster.machine_sets.values()),
        "a machine set is not ascending": all(bool((np.diff(s) > 0).all()) for s in cluster.machine_sets.values()),
    }
    return [fault for fault, holds in checks.items() if not holds]


def _name_faults(cluster: "Cluster") -> list[str]:
    names: Mapping[str, Sequence[str]] = {
        "resource": [resource.name for resource in cluster.resources],
        "machine": cluster.machines.name,
        "level": [level.name for level in cluster.levels],
        "service": cluster.services.name,
        "workload": cluster.workloads.name,
        "container": cluster.containers.name,
    }
    return [f"two {kind}s have the same name" for kind, given in names.items() if not _distinct(given)]


def _distinct(names: Sequence[str]) -> bool:
    return names.are_distinct if isinstance(names, NameArray) else len(set(names)) == len(names)


def _sound(values: FloatArray) -> bool:
    return bool((np.isfinite(values) & (values >= 0)).all())


def _within(index: IntArray, size: int) -> bool:
    return bool(((index >= 0) & (index < size)).all())


def _fits_int64(cluster: "Cluster") -> bool:
    """Every sum that can occur on a machine or over the cluster is exact."""
    request, replicas, capacity = cluster.workloads.request, cluster.replicas, cluster.machines.capacity
    about = [*(request.T.astype(np.float64) @ replicas), *capacity.sum(axis=0, dtype=np.float64)]
    if max(about, default=0.0) < 2.0**62:  # far from the limit: rounding does not matter
        return True
    totals = [*(request.astype(object).T @ replicas.astype(object)), *capacity.astype(object).sum(axis=0)]
    return all(total <= LARGEST for total in totals)
