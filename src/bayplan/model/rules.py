"""The ten rules, each a small frozen value that refers to the cluster by index.

What a rule means is said here; whether a placement keeps it is for `check` to say.
`level` is an index into `Cluster.levels`: 0 is the machine, others are racks, zones, ...
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from bayplan.errors import ModelError

if TYPE_CHECKING:
    from bayplan.model.cluster import Cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """Requests on a machine stay within its capacity ([FreeContainer] (7), [RASA] (4))."""

    kind: ClassVar[str] = "capacity"
    resources: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AntiAffinity:
    """At most `limit` containers of these workloads together in one group ([RASA] (5)).

    One workload with limit 1 at level 0 is the conflict rule of [FreeContainer] (8).
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
    """

    kind: ClassVar[str] = "spread"
    service: int
    minimum: int
    level: int = 0

    def __post_init__(self) -> None:
        _expect(self.minimum >= 0, f"minimum {self.minimum} of a spread rule is negative")


@dataclass(frozen=True, slots=True, kw_only=True)
class CoLocate:
    """These containers run on one machine ([FreeContainer] (10)). Two such rules never share a container."""

    kind: ClassVar[str] = "co-locate"
    containers: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Allow:
    """These workloads run only on machines of a named set ([RASA] (6))."""

    kind: ClassVar[str] = "allow"
    workloads: tuple[int, ...]
    machines: str  # a key of Cluster.machine_sets


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """Every container of `service` has one of `on` in its group (GMRP)."""

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
    """While a container moves, it is charged on both machines."""

    kind: ClassVar[str] = "transient"
    resource: int
    mode: TransientMode = TransientMode.JOINT


@dataclass(frozen=True, slots=True, kw_only=True)
class Interference:
    """Where `a` runs, at most `limit` containers of `b` run (Tianchi, pod anti-affinity). `a` may be `b`."""

    kind: ClassVar[str] = "interference"
    a: int
    b: int
    limit: int
    level: int = 0

    def __post_init__(self) -> None:
        _expect(self.limit >= 0, f"limit {self.limit} of an interference rule is negative")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pinned:
    """These containers may not move ([RASA] "trivial services", DaemonSets)."""

    kind: ClassVar[str] = "pinned"
    containers: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Confidence:
    """P(usage <= capacity) >= alpha on every machine ([UCaC] (2))."""

    kind: ClassVar[str] = "confidence"
    resource: int
    alpha: float

    def __post_init__(self) -> None:
        _expect(0 < self.alpha < 1, f"alpha {self.alpha} of a confidence rule is not between 0 and 1")


Rule: TypeAlias = (
    Capacity | AntiAffinity | Spread | CoLocate | Allow | Dependency | Transient | Interference | Pinned | Confidence
)

RULES: dict[str, type[Rule]] = {
    "capacity": Capacity,
    "anti-affinity": AntiAffinity,
    "spread": Spread,
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
                missing = [] if value in cluster.machine_sets else [value]
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
