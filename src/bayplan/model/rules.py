"""The eleven rules, each a small frozen value that refers to the cluster by index.

What a rule means is said here; whether a placement keeps it is for `check` to say.
`level` is an index into `Cluster.levels`: 0 is the machine, others are racks, zones, ...
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np

from bayplan.errors import ModelError
from bayplan.model.arrays import IntArray, ints

if TYPE_CHECKING:
    from bayplan.model.cluster import Cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """Requests on a machine stay within its capacity ([FreeContainer] (7), [RASA] (4)).

    >>> import bayplan as bp
    >>> two = bp.ClusterBuilder("two").machines("m-{}", 2, cpu=4, memory="8Gi", rack=lambda i: f"r{i}")
    >>> full = two.workload("db", replicas=2, cpu=3, memory="1Gi", on=["m-0", "m-0"]).build()  # capacity is a rule by default
    >>> print(bp.check(full).violations[0])
    machine 'm-0': 6 cpu requested of 4 (2 too much)
    """

    kind: ClassVar[str] = "capacity"
    resources: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AntiAffinity:
    """At most `limit` containers of these workloads together in one group ([RASA] (5)).

    One workload with limit 1 at level 0 is the conflict rule of [FreeContainer] (8).

    >>> import bayplan as bp
    >>> two = bp.ClusterBuilder("two").machines("m-{}", 2, cpu=4, memory="8Gi", rack=lambda i: f"r{i}")
    >>> web = two.workload("web", replicas=2, cpu=1, memory="1Gi", on=["m-0", "m-0"])
    >>> print(bp.check(web.rule(bp.AntiAffinity(workloads=(0,), limit=1)).build()).violations[0])
    anti-affinity: 2 containers of 'web' on machine 'm-0', at most 1 allowed
    """

    kind: ClassVar[str] = "anti-affinity"
    workloads: tuple[int, ...]
    limit: int
    level: int = 0

    def __post_init__(self) -> None:
        _expect(self.limit >= 0, f"limit {self.limit} of an anti-affinity rule is negative")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """A service uses at least `minimum` groups ([FreeContainer] (9), GMRP).

    While some of its containers have no machine, as many groups as it has placed containers are enough.

    >>> import bayplan as bp
    >>> two = bp.ClusterBuilder("two").machines("m-{}", 2, cpu=4, memory="8Gi", rack=lambda i: f"r{i}")
    >>> web = two.workload("web", service="shop", replicas=2, cpu=1, memory="1Gi", on=["m-0", "m-0"])
    >>> print(bp.check(web.rule(bp.Spread(service=0, minimum=2, level=1)).build()).violations[0])
    spread: service 'shop' runs 2 containers in 1 rack, at least 2 racks needed
    """

    kind: ClassVar[str] = "spread"
    service: int
    minimum: int
    level: int = 0

    def __post_init__(self) -> None:
        _expect(self.minimum >= 0, f"minimum {self.minimum} of a spread rule is negative")


@dataclass(frozen=True, slots=True, kw_only=True)
class CoLocate:
    """These containers run on one machine ([FreeContainer] (10)). Two such rules never share a container.

    >>> import bayplan as bp
    >>> two = bp.ClusterBuilder("two").machines("m-{}", 2, cpu=4, memory="8Gi", rack=lambda i: f"r{i}")
    >>> web = two.workload("web", replicas=2, cpu=1, memory="1Gi", on=["m-0", "m-1"])
    >>> print(bp.check(web.rule(bp.CoLocate(containers=(0, 1))).build()).violations[0])
    co-locate: 'web-0', 'web-1' run on 2 machines ('m-0', 'm-1'); they belong on one
    """

    kind: ClassVar[str] = "co-locate"
    containers: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Allow:
    """These workloads run only on machines of a named set ([RASA] (6)).

    >>> import bayplan as bp
    >>> two = bp.ClusterBuilder("two").machines("m-{}", 2, cpu=4, memory="8Gi", rack=lambda i: f"r{i}")
    >>> web = two.workload("web", cpu=1, memory="1Gi", on="m-1").machine_set("fast", ["m-0"])
    >>> print(bp.check(web.rule(bp.Allow(workloads=(0,), machines="fast")).build()).violations[0])
    allow: 1 container of 'web' on machine 'm-1', which is not in set 'fast'
    """

    kind: ClassVar[str] = "allow"
    workloads: tuple[int, ...]
    machines: str  # a key of Cluster.machine_sets


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """Every container of `service` has one of `on` in its group (GMRP).

    >>> import bayplan as bp
    >>> two = bp.ClusterBuilder("two").machines("m-{}", 2, cpu=4, memory="8Gi", rack=lambda i: f"r{i}")
    >>> web = two.workload("web", service="web", cpu=1, memory="1Gi", on="m-0")
    >>> both = web.workload("db", service="db", cpu=1, memory="1Gi", on="m-1")
    >>> print(bp.check(both.rule(bp.Dependency(service=0, on=1)).build()).violations[0])
    dependency: 1 container of service 'web' on machine 'm-0', none of service 'db' there
    """

    kind: ClassVar[str] = "dependency"
    service: int
    on: int
    level: int = 0


class TransientMode(StrEnum):
    """When a moving container gives its old machine's resource back."""

    JOINT = "joint"  # not before all moves have ended ([FreeContainer] (11), GMRP)
    SEQUENTIAL = "sequential"  # after its own move ([FreeContainer] §V-A, Figure 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transient:
    """While a container moves, it is charged on both machines.

    >>> import bayplan as bp
    >>> two = bp.ClusterBuilder("two").machines("m-{}", 2, cpu=4, memory="8Gi", rack=lambda i: f"r{i}")
    >>> both = two.workload("web", cpu=3, memory="1Gi", on="m-0").workload("db", cpu=3, memory="1Gi", on="m-1")
    >>> shop = both.rule(bp.Transient(resource=0)).build()
    >>> print(bp.check(shop.placed_as([1, 0]), before=shop.placement).violations[0])
    transient: machine 'm-0' is charged 6 cpu of 4 while containers move (2 too much)
    """

    kind: ClassVar[str] = "transient"
    resource: int
    mode: TransientMode = TransientMode.JOINT


@dataclass(frozen=True, slots=True, kw_only=True)
class Interference:
    """Where `a` runs, at most `limit` containers of `b` run (Tianchi, pod anti-affinity). `a` may be `b`.

    >>> import bayplan as bp
    >>> two = bp.ClusterBuilder("two").machines("m-{}", 2, cpu=4, memory="8Gi", rack=lambda i: f"r{i}")
    >>> both = two.workload("web", cpu=1, memory="1Gi", on="m-0").workload("db", cpu=1, memory="1Gi", on="m-0")
    >>> print(bp.check(both.rule(bp.Interference(a=0, b=1, limit=0)).build()).violations[0])
    interference: 1 container of 'db' on machine 'm-0' where 'web' runs, at most 0 allowed
    """

    kind: ClassVar[str] = "interference"
    a: int
    b: int
    limit: int
    level: int = 0

    def __post_init__(self) -> None:
        _expect(self.limit >= 0, f"limit {self.limit} of an interference rule is negative")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """These containers may not move ([RASA] "trivial services", DaemonSets).

    >>> import bayplan as bp
    >>> two = bp.ClusterBuilder("two").machines("m-{}", 2, cpu=4, memory="8Gi", rack=lambda i: f"r{i}")
    >>> web = two.workload("web", replicas=2, cpu=1, memory="1Gi", on=["m-0", "m-0"]).rule(bp.Pinned(containers=(0,))).build()
    >>> moved = web.placed_as([1, 0])
    >>> print(bp.check(moved, before=web.placement).violations[0])
    pinned: 'web-0' moved from machine 'm-0' to 'm-1'
    """

    kind: ClassVar[str] = "pinned"
    containers: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Confidence:
    """P(usage <= capacity) >= alpha on every machine ([UCaC] (2)).

    >>> import bayplan as bp
    >>> two = bp.ClusterBuilder("two").machines("m-{}", 2, cpu=4, memory="8Gi", rack=lambda i: f"r{i}")
    >>> web = two.workload("web", replicas=2, cpu=2, memory="1Gi", usage={"cpu": (1.9, 0.5)}, on=["m-0", "m-0"])
    >>> print(bp.check(web.rule(bp.Confidence(resource=0, alpha=0.99)).build()).violations[0])
    confidence: machine 'm-0' needs 5.44498 cpu at 0.99 (mean 3.8, deviation 0.707107), it has 4
    """

    kind: ClassVar[str] = "confidence"
    resource: int
    alpha: float

    def __post_init__(self) -> None:
        _expect(0 < self.alpha < 1, f"alpha {self.alpha} of a confidence rule is not between 0 and 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Skew:
    """No group with a container of `workload` has over `limit` more than the emptiest (topology spread, DoNotSchedule).

    Containers of the workloads `counted` are counted (of `workload` itself, if none are named) on the machines of a named set, or
    on all machines if `machines` is empty. The groups of these machines are compared; what runs on others is neither counted nor
    judged. If there are fewer groups than `min_groups`, the emptiest counts as having none.

    Kubernetes asks when a container of `workload` is created, with what runs at that instant; one that was deleted and has no
    machine yet does not count. So deleting never violates the rule on the way, but it may leave a placement that does; and while
    containers move, creates of `workload` alone are tested, each by the limit itself: no create goes to a group beyond it, not
    even to one that was beyond it before.

    >>> import bayplan as bp
    >>> two = bp.ClusterBuilder("two").machines("m-{}", 2, cpu=4, memory="8Gi", rack=lambda i: f"r{i}")
    >>> web = two.workload("web", replicas=2, cpu=1, memory="1Gi", on=["m-0", "m-0"])
    >>> print(bp.check(web.rule(bp.Skew(workload=0, level=1)).build()).violations[0])
    skew: 2 containers of 'web' in rack 'r0', 0 in 'r1', at most 1 more allowed
    """

    kind: ClassVar[str] = "skew"
    workload: int  # whose creates are tested
    counted: tuple[int, ...] = ()
    limit: int = 1
    level: int = 0
    machines: str = ""  # a key of Cluster.machine_sets, or empty
    min_groups: int = 0

    def __post_init__(self) -> None:
        _expect(self.limit >= 1, f"limit {self.limit} of a skew rule is below 1")
        _expect(self.min_groups >= 0, f"min_groups {self.min_groups} of a skew rule is negative")

    @property
    def counts(self) -> tuple[int, ...]:
        """The workloads that are counted."""
        return self.counted or (self.workload,)

    def counting_machines(self, cluster: "Cluster") -> IntArray:
        """The machines whose containers are counted and whose groups are compared, ascending."""
        return cluster.machine_sets[self.machines] if self.machines else ints(np.arange(len(cluster.machines.name)))


Rule: TypeAlias = (
    Capacity | AntiAffinity | Spread | Skew | CoLocate | Allow | Dependency | Transient | Interference | Pinned | Confidence
)

RULES: dict[str, type[Rule]] = {
    "capacity": Capacity,
    "anti-affinity": AntiAffinity,
    "spread": Spread,
    "skew": Skew,
    "co-locate": CoLocate,
    "allow": Allow,
    "dependency": Dependency,
    "transient": Transient,
    "interference": Interference,
    "pinned": Pinned,
    "confidence": Confidence,
}


def _expect(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ModelError(otherwise)


def reference_faults(cluster: "Cluster") -> Iterator[str]:
    """One sentence per rule that names something the cluster does not have."""
    sizes = {
        "resources": len(cluster.resources),
        "resource": len(cluster.resources),
        "workloads": len(cluster.workloads.name),
        "workload": len(cluster.workloads.name),
        "counted": len(cluster.workloads.name),
        "a": len(cluster.workloads.name),
        "b": len(cluster.workloads.name),
        "service": len(cluster.services.name),
        "on": len(cluster.services.name),
        "containers": len(cluster.containers.name),
        "level": len(cluster.levels),
    }
    for number, rule in enumerate(cluster.rules):
        for field in rule.__slots__:
            value = getattr(rule, field)
            if field == "machines":
                missing = [] if value in cluster.machine_sets or (not value and rule.kind == Skew.kind) else [value]
            elif field in sizes and not _exist(value, sizes[field]):
                given = value if isinstance(value, tuple) else (value,)
                missing = [index for index in given if not 0 <= index < sizes[field]]
            else:
                continue
            if missing:
                yield f"rule {number} ({rule.kind}): {field} {missing[0]} does not exist"


def _exist(index: int | tuple[int, ...], size: int) -> bool:
    """Is every index within 0..size-1? A quick look: a cluster may have very many rules, and hardly ever a wrong one."""
    if isinstance(index, tuple):
        return not index or (min(index) >= 0 and max(index) < size)
    return 0 <= index < size
