"""What was measured of a cluster while it ran: traffic between workloads, and what their containers used.

Workloads are named as in the snapshot that is collected. Amounts are in base units: cpu in thousandths of a core, memory in
bytes. What was not measured is not in here, and `missing` says so in words: nothing is filled in.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from bayplan.errors import ModelError


class Usage(NamedTuple):
    """What one container of a workload used of one resource, over a window of time and all replicas."""

    mean: float
    deviation: float  # of single measurements around the mean, over time and between replicas
    peak: float  # the most that any replica used


class Unattributed(NamedTuple):
    """A name in the measured traffic that belongs to no workload that was collected."""

    name: str  # as it was measured: "shop/web", "unknown"
    rate: float  # of all traffic from and to it


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurements:
    """What Prometheus measured, by workload."""

    traffic: Mapping[tuple[str, str], float] = field(default_factory=dict)  # (source, destination) -> per second
    traffic_unit: str = ""  # "requests/s", "bytes/s"; "" without traffic
    traffic_at: float = 0.0  # the end of its window, seconds since 1970; 0.0: not measured
    coverage: float | None = None  # share of all traffic whose two ends are workloads that were collected; None: not measured
    unattributed: tuple[Unattributed, ...] = ()  # the largest ones
    usage: Mapping[str, Mapping[str, Usage]] = field(default_factory=dict)  # workload -> resource ("cpu", "memory") -> usage
    usage_at: float = 0.0
    missing: tuple[str, ...] = ()  # what was asked for and not measured, in words

    def __post_init__(self) -> None:
        if any(source == destination for source, destination in self.traffic):
            raise ModelError("traffic of a workload with itself is no edge: leave it out")
        if self.coverage is not None and not 0.0 <= self.coverage <= 1.0:
            raise ModelError(f"coverage {self.coverage} is not between 0 and 1")


NOT_MEASURED = Measurements()
