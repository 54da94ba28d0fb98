"""What was measured of a cluster while it ran: traffic between workloads, and what their containers used.

Workloads are named as in the snapshot that is collected. Amounts are in base units: cpu in thousandths of a core, memory in
bytes. What was not measured is not in here, and `missing` says so in words: nothing is filled in.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from bayplan.errors import ModelError, UsageError, expect_one_of
from bayplan.score.peak import PeakOf
from bayplan.words import count


class UsageStatistics(NamedTuple):
    """What one container of a workload used of one resource, over a window of time and all replicas."""

    mean: float
    deviation: float  # of single measurements around the mean, over time and between replicas
    peak: float  # the most that any replica used


class Unattributed(NamedTuple):
    """A name in the measured traffic that belongs to no workload that was collected."""

    name: str  # as it was measured: "shop/web", "unknown"
    rate: float  # of all traffic from and to it
    share: float  # of all traffic there is


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurements:
    """What Prometheus measured, by workload."""

    traffic: Mapping[tuple[str, str], float] = field(default_factory=dict)  # (source, destination) -> per second
    traffic_unit: str = ""  # "requests/s", "bytes/s"; "" without traffic
    traffic_at: float = 0.0  # the end of its window, seconds since 1970; 0.0: not measured
    coverage: float | None = None  # share of all traffic whose two ends are workloads that were collected; None: not measured
    unattributed: tuple[Unattributed, ...] = ()  # the largest ones
    usage: Mapping[str, Mapping[str, UsageStatistics]] = field(
        default_factory=dict
    )  # workload -> resource ("cpu", "memory") -> usage
    usage_at: float = 0.0
    missing: tuple[str, ...] = ()  # what was asked for and not measured, in words

    def __post_init__(self) -> None:
        if any(source == destination for source, destination in self.traffic):
            raise ModelError("traffic of a workload with itself is no edge: leave it out")
        if self.coverage is not None and not 0.0 <= self.coverage <= 1.0:
            raise ModelError(f"coverage {self.coverage} is not between 0 and 1")

    def divided(self, parts: Mapping[str, Mapping[str, int]]) -> "Measurements":
        """The same for workloads that stand as several in a snapshot: `parts` are the replicas of each, by name.

        What was measured of a whole is divided by replicas, since replicas are interchangeable; usage is per container and stays.
        """
        shares = {whole: _shares(replicas) for whole, replicas in parts.items()}

        def of(workload: str) -> Mapping[str, float]:
            return shares.get(workload) or {workload: 1.0}

        traffic = {
            (a, b): rate * share_a * share_b
            for (source, destination), rate in self.traffic.items()
            for a, share_a in of(source).items()
            for b, share_b in of(destination).items()
        }
        usage = {part: used for workload, used in self.usage.items() for part in of(workload)}
        return replace(self, traffic=traffic, usage=usage)

    def to_dict(self) -> dict[str, Any]:
        """The object that `show --json` prints."""
        edges = [{"source": a, "destination": b, "rate": rate} for (a, b), rate in sorted(self.traffic.items())]
        usage = {
            workload: {resource: used._asdict() for resource, used in resources.items()}
            for workload, resources in sorted(self.usage.items())
        }
        return {
            "traffic": {
                "edges": edges,
                "unit": self.traffic_unit,
                "measured_at": self.traffic_at,
                "coverage": self.coverage,
                "unattributed": [one._asdict() for one in self.unattributed],
            },
            "usage": usage,
            "usage_measured_at": self.usage_at,
            "missing": list(self.missing),
        }

    def sentences(self) -> tuple[str, ...]:
        """What was measured and what was not, for people."""
        said = []
        if self.coverage is not None:
            others = ", ".join(f"{one.name} ({one.share:.0%})" for one in self.unattributed[:3])
            rest = f"; the rest has an end that is no workload here: {others}" if others else ""
            said.append(
                f"traffic: {count(len(self.traffic), 'edge')}, {sum(self.traffic.values()):,.6g} {self.traffic_unit}; "
                f"{self.coverage:.1%} of all traffic is between workloads that were collected{rest}"
            )
        if self.usage:
            said.append(f"usage: measured for {count(len(self.usage), 'workload')}")
        return (*said, *(f"not measured: {words}" for words in self.missing))


def at_peak(
    windows: Sequence[Measurements], *, of: str = "service", resource: str = "cpu", replicas: Mapping[str, int] | None = None
) -> Measurements:
    """The last of several measurements, one window of time each, with the usage of the busiest window.

    `of` "service": each workload has the usage of the window in which its own mean of the resource was highest. "cluster": all
    have that of the window in which all containers together used most, `replicas` of each workload; one that was not measured
    then has its own. [UCaC] packs for the peak of a day: measure its hours, and take the usage of the busiest.
    """
    expect_one_of(of, [str(choice) for choice in PeakOf], "peak")
    if not windows:
        raise UsageError("no measurements to take a peak of; expected one at least")
    workloads, number = dict.fromkeys(name for window in windows for name in window.usage), replicas or {}
    own = {name: max(windows, key=lambda window: _mean(window, name, resource)) for name in workloads}
    if of == PeakOf.CLUSTER:
        totals = [sum(number.get(n, 1) * max(0.0, _mean(window, n, resource)) for n in workloads) for window in windows]
        busiest = windows[totals.index(max(totals))]
        own = {name: busiest if name in busiest.usage else window for name, window in own.items()}
    return replace(windows[-1], usage={name: window.usage[name] for name, window in own.items()})


def _mean(window: Measurements, workload: str, resource: str) -> float:
    """What one container used on average; -1 if only its other resources were measured, -2 if none was."""
    used = window.usage.get(workload, {}).get(resource)
    return (-1.0 if workload in window.usage else -2.0) if used is None else used.mean


def _shares(replicas: Mapping[str, int]) -> Mapping[str, float]:
    total = sum(replicas.values())
    return {name: number / total for name, number in replicas.items()} if total else {}


NOT_MEASURED = Measurements()
