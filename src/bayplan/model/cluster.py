"""The cluster: machines and their levels, services, workloads, containers, traffic and rules, as frozen arrays.

Everything that replicas share is stored once per workload, so a hundred thousand containers cost little.
Amounts are int64 base units; `Resource.scale` base units are one unit as people write it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from bayplan.errors import ModelError
from bayplan.model.arrays import FloatArray, IntArray, NameArray, floats, ints
from bayplan.model.consistency import inconsistencies
from bayplan.model.rules import Rule

MACHINE = "machine"  # the name of level 0: every machine is its own group
NO_LIMIT = np.iinfo(np.int64).max  # the limit of a workload that states none


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Level:
    """One partition of the machines, such as rack or zone. Levels need not be nested."""

    name: str
    group: tuple[str, ...]  # (group,) names
    group_of: IntArray  # (machine,) index into `group`

    def __post_init__(self) -> None:
        object.__setattr__(self, "group_of", ints(self.group_of))
        if self.group_of.size and not 0 <= self.group_of.min() <= self.group_of.max() < len(self.group):
            raise ModelError(f"level '{self.name}': a group index is outside of 0..{len(self.group) - 1}")

    @property
    def is_machine_level(self) -> bool:
        """Is this level 0, by its name?"""
        return self.name == MACHINE


def machine_level(names: Sequence[str]) -> Level:
    """Level 0 of every cluster: each machine alone."""
    return Level(name=MACHINE, group=tuple(names), group_of=ints(np.arange(len(names))))


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """Something machines have and containers use."""

    name: str
    scale: int = 1  # base units per written unit: 1000 for cpu counted in milli-cores
    unit: str = ""  # what people call the written unit: "cores", "bytes"

    def __post_init__(self) -> None:
        if self.scale < 1:
            raise ModelError(f"resource '{self.name}': scale {self.scale} is below 1")


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

    name: NameArray | tuple[str, ...]  # (container,) a NameArray, whatever it is made from
    workload: IntArray  # (container,) ascending

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", NameArray.of(self.name))
        object.__setattr__(self, "workload", ints(self.workload))

    @classmethod
    def replicas_of(cls, workloads: Sequence[str], replicas: npt.ArrayLike) -> "Containers":
        """The stated number of replicas of each workload, called web-0, web-1, ..."""
        count = ints(replicas)
        names = (f"{name}-{i}" for name, d in zip(workloads, count.tolist(), strict=True) for i in range(d))
        once = len(set(workloads)) == len(workloads) or None  # then so are the names: the number begins at the last hyphen
        return cls(
            name=NameArray.of(names, distinct=once),
            workload=ints(np.repeat(np.arange(len(workloads)), count)),
        )


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
    elsewhere: IntArray = field(
        default_factory=lambda: ints([])
    )  # (workload,) replicas outside of this part of a cluster; or empty
    replicas: IntArray = field(init=False)  # (workload,) containers of each workload, with those elsewhere

    def __post_init__(self) -> None:
        n_w, owner = len(self.workloads.name), self.containers.workload
        counts = np.bincount(owner[(owner >= 0) & (owner < n_w)], minlength=n_w)  # others are faults, reported below
        outside = ints(self.elsewhere) if len(self.elsewhere) == n_w else 0
        object.__setattr__(self, "replicas", ints(counts + outside))
        sets = {name: ints(machines) for name, machines in self.machine_sets.items()}
        object.__setattr__(self, "machine_sets", sets)
        faults = inconsistencies(self)
        if faults:
            raise ModelError(f"cluster '{self.name}': " + "; ".join(faults))

    def level(self, name: str) -> Level:
        """The level called `name`; KeyError if there is none."""
        return self.levels[self.level_index(name)]

    def level_index(self, name: str) -> int:
        """The index of the level called `name`; KeyError if there is none."""
        for index, level in enumerate(self.levels):
            if level.name == name:
                return index
        raise KeyError(name)

    def request_of(self, containers: IntArray) -> IntArray:
        """(container, resource) requests of the given containers."""
        return self.workloads.request[self.containers.workload[containers]]

    def containers_of_service(self, service: int) -> IntArray:
        """All containers of a service, ascending."""
        return ints(np.flatnonzero(self.workloads.service[self.containers.workload] == service))
