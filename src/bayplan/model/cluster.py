"""The cluster: machines, services, workloads, containers, traffic and rules, as frozen arrays.

Everything that replicas share is stored once per workload, so 150,000 containers cost little.
Amounts are int64 base units; `Resource.scale` base units are one unit as people write it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from bayplan.errors import ModelError
from bayplan.model.arrays import FloatArray, IntArray, floats, ints
from bayplan.model.rules import Rule, reference_faults
from bayplan.model.topology import MACHINE, Level

NO_LIMIT = np.iinfo(np.int64).max  # the limit of a workload that states none


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """Something machines have and containers use."""

    name: str
    scale: int = 1  # base units per written unit: 1000 for cpu counted in milli-cores
    unit: str = ""  # what people call the written unit: "cores", "bytes"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Machines:
    """What can run containers."""

    name: tuple[str, ...]  # (machine,)
    capacity: IntArray  # (machine, resource)
    safety: IntArray  # (machine, resource), load above it is overload; the capacity where none is stated

    def __post_init__(self) -> None:
        object.__setattr__(self, "capacity", ints(self.capacity))
        object.__setattr__(self, "safety", ints(self.safety))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Services:
    """What belongs together."""

    name: tuple[str, ...]  # (service,)
    clique: FloatArray  # (service,) traffic of each unordered pair of its containers; 0 for none

    def __post_init__(self) -> None:
        object.__setattr__(self, "clique", floats(self.clique))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Workloads:
    """Templates with identical replicas. Usage that is not stated is the request, exactly."""

    name: tuple[str, ...]  # (workload,)
    service: IntArray  # (workload,)
    request: IntArray  # (workload, resource)
    usage_mean: FloatArray  # (workload, resource) base units
    usage_std: FloatArray  # (workload, resource) base units
    limit: IntArray  # (workload, resource), NO_LIMIT where none

    def __post_init__(self) -> None:
        for name in ("service", "request", "limit"):
            object.__setattr__(self, name, ints(getattr(self, name)))
        for name in ("usage_mean", "usage_std"):
            object.__setattr__(self, name, floats(getattr(self, name)))

    @classmethod
    def by_request(cls, name: tuple[str, ...], service: IntArray, request: IntArray) -> "Workloads":
        """Workloads that use what they request, without limits."""
        return cls(
            name=name,
            service=service,
            request=request,
            usage_mean=floats(request),
            usage_std=floats(np.zeros(np.shape(request))),
            limit=ints(np.full(np.shape(request), NO_LIMIT)),
        )

    @property
    def has_usage(self) -> bool:
        """Does any workload state a usage that differs from its request?"""
        return bool(self.usage_std.any() or (self.usage_mean != self.request).any())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Containers:
    """Replicas, those of one workload side by side."""

    name: tuple[str, ...]  # (container,)
    workload: IntArray  # (container,) ascending

    def __post_init__(self) -> None:
        object.__setattr__(self, "workload", ints(self.workload))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Traffic:
    """Weighted undirected edges between workloads: a < b, each pair once, weight > 0."""

    a: IntArray  # (edge,) workload
    b: IntArray  # (edge,) workload
    weight: FloatArray  # (edge,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "a", ints(self.a))
        object.__setattr__(self, "b", ints(self.b))
        object.__setattr__(self, "weight", floats(self.weight))

    @classmethod
    def between(cls, a: IntArray, b: IntArray, weight: FloatArray) -> "Traffic":
        """Edges in any order and direction; parallel ones are added up, zero ones dropped."""
        low, high = np.minimum(a, b), np.maximum(a, b)
        pair, place = np.unique(np.stack([low, high], axis=1), axis=0, return_inverse=True)
        total = np.bincount(place.ravel(), weights=weight, minlength=len(pair))
        keep = total > 0
        return cls(a=ints(pair[keep, 0]), b=ints(pair[keep, 1]), weight=floats(total[keep]))

    @classmethod
    def none(cls) -> "Traffic":
        """No edges."""
        return cls(a=ints([]), b=ints([]), weight=floats([]))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cluster:
    """Everything that is fixed while we decide. Changed only by `dataclasses.replace`."""

    name: str
    resources: tuple[Resource, ...]
    machines: Machines
    levels: tuple[Level, ...]  # level 0 is always "machine"
    services: Services
    workloads: Workloads
    containers: Containers
    traffic: Traffic
    rules: tuple[Rule, ...] = ()
    machine_sets: Mapping[str, IntArray] = field(default_factory=dict)  # name -> machines, ascending
    replicas: IntArray = field(init=False)  # (workload,) containers of each workload

    def __post_init__(self) -> None:
        n_w, owner = len(self.workloads.name), self.containers.workload
        counts = np.bincount(owner[(owner >= 0) & (owner < n_w)], minlength=n_w)  # others are faults, said below
        object.__setattr__(self, "replicas", ints(counts))
        sets = {name: ints(machines) for name, machines in self.machine_sets.items()}
        object.__setattr__(self, "machine_sets", sets)
        faults = [*_shape_faults(self), *_value_faults(self)] or [*reference_faults(self)]
        if faults:
            raise ModelError(f"cluster '{self.name}': " + "; ".join(faults))

    def level(self, name: str) -> Level:
        """The level called `name`; KeyError if there is none."""
        return self.levels[self.level_index(name)]

    def level_index(self, name: str) -> int:
        """Where the level called `name` stands; KeyError if there is none."""
        for index, level in enumerate(self.levels):
            if level.name == name:
                return index
        raise KeyError(name)

    def request_of(self, containers: IntArray) -> IntArray:
        """(container, resource) requests of some containers."""
        return self.workloads.request[self.containers.workload[containers]]

    def containers_of_service(self, service: int) -> IntArray:
        """All containers of a service, ascending."""
        return ints(np.flatnonzero(self.workloads.service[self.containers.workload] == service))


def _shape_faults(cluster: Cluster) -> list[str]:
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
        **{f"level {level.name}": (level.group_of, (n_m,)) for level in cluster.levels},
    }
    faults = [f"{name} has shape {array.shape}, not {shape}" for name, (array, shape) in expected.items() if array.shape != shape]
    if not cluster.levels or cluster.levels[0].name != MACHINE:
        faults.append("level 0 is not 'machine'")
    return faults


def _value_faults(cluster: Cluster) -> list[str]:
    workloads, containers, traffic = cluster.workloads, cluster.containers, cluster.traffic
    n_w, n_s, n_m = len(workloads.name), len(cluster.services.name), len(cluster.machines.name)
    if _shape_faults(cluster):
        return []  # said already
    usage = np.stack([workloads.usage_mean, workloads.usage_std])
    checks = {
        "an amount is negative": min(
            a.min(initial=0) for a in (cluster.machines.capacity, cluster.machines.safety, workloads.request, workloads.limit)
        )
        >= 0,
        "a usage is negative or not finite": bool(np.isfinite(usage).all() and (usage >= 0).all()),
        "a workload's service does not exist": _within(workloads.service, n_s),
        "a container's workload does not exist": _within(containers.workload, n_w),
        "containers are not sorted by workload": bool((np.diff(containers.workload) >= 0).all()),
        "a traffic edge names no workload": _within(traffic.a, n_w) and _within(traffic.b, n_w),
        "traffic edges are not a < b": bool((traffic.a < traffic.b).all()),
        "a traffic weight is not positive and finite": bool(np.isfinite(traffic.weight).all() and (traffic.weight > 0).all()),
        "a clique weight is negative or not finite": bool(
            np.isfinite(cluster.services.clique).all() and (cluster.services.clique >= 0).all()
        ),
        "the requests of all containers overflow int64": _fits_int64(cluster),
        "a machine set names a machine that does not exist": all(_within(s, n_m) for s in cluster.machine_sets.values()),
    }
    return [fault for fault, holds in checks.items() if not holds]


def _within(index: IntArray, size: int) -> bool:
    return bool(((index >= 0) & (index < size)).all())


def _fits_int64(cluster: Cluster) -> bool:
    """Every sum that can occur on a machine or over the cluster is exact."""
    request = cluster.workloads.request.astype(object)
    totals = [*(request.T @ cluster.replicas.astype(object)), *cluster.machines.capacity.astype(object).sum(axis=0)]
    return all(total <= NO_LIMIT for total in totals)
