"""Everything that Prometheus knows of a cluster's workloads, as one value; what it does not know is said in it."""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from bayplan.errors import UsageError, expect_one_of
from bayplan.kubernetes.measurements import Measurements
from bayplan.kubernetes.prometheus.presets import AUTO, NONE, PRESETS, Preset, TrafficQuery
from bayplan.kubernetes.prometheus.server import Prometheus
from bayplan.kubernetes.prometheus.traffic import WorkloadTraffic, measured_traffic, present_presets
from bayplan.kubernetes.prometheus.usage import measured_usage
from bayplan.kubernetes.prometheus.workload_names import KnownWorkloads

HOUR = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementSettings:
    """What is measured, and over which window."""

    traffic: str | TrafficQuery = AUTO  # a preset's name, `auto`, `none`, or a query of the user's own
    window: float = HOUR  # seconds
    usage: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.traffic, str):
            expect_one_of(self.traffic, (AUTO, NONE, *PRESETS), "traffic preset")
        if not self.window >= 60:
            raise UsageError(f"a window of {self.window:g} s is too short to measure anything; expected one minute or more")


def measured(
    prometheus: Prometheus, known: KnownWorkloads, settings: MeasurementSettings | None = None, *, at: float | None = None
) -> Measurements:
    """What was measured of these workloads until `at`, by default until now."""
    asked = settings or MeasurementSettings()
    end = time.time() if at is None else at
    traffic, unknown = _traffic(prometheus, known, asked, end)
    usage = measured_usage(prometheus, known, window=asked.window, at=end) if asked.usage else None
    return Measurements(
        traffic={} if traffic is None else traffic.edges,
        traffic_unit="" if traffic is None else traffic.unit,
        traffic_at=0.0 if traffic is None else traffic.at,
        coverage=None if traffic is None else traffic.coverage,
        unattributed=() if traffic is None else traffic.unattributed,
        usage={} if usage is None else usage.usage,
        usage_at=0.0 if usage is None else usage.at,
        missing=(
            *unknown,
            *(() if usage is None else usage.missing),
            *(f"Prometheus warns: {words}" for words in prometheus.warnings),
        ),
    )


def _traffic(
    prometheus: Prometheus, known: KnownWorkloads, settings: MeasurementSettings, at: float
) -> tuple[WorkloadTraffic | None, tuple[str, ...]]:
    """The traffic, if it was asked for and there is any; and in words what is missing."""
    if settings.traffic == NONE:
        return None, ()
    source: Preset | TrafficQuery
    if isinstance(settings.traffic, TrafficQuery):
        source = settings.traffic
    elif settings.traffic == AUTO:
        present = _products(present_presets(prometheus, window=settings.window, at=at))
        if not present:
            return None, (f"traffic: {prometheus.label} has no metric of {', '.join(PRESETS)}",)
        if len(present) > 1:
            raise UsageError(f"{prometheus.label} has traffic of {' and of '.join(present)}; choose one with --traffic")
        source = PRESETS[present[0]]
    else:
        source = PRESETS[settings.traffic]
    traffic = measured_traffic(prometheus, source, known, window=settings.window, at=at)
    return traffic, traffic.missing


def _products(present: Sequence[str]) -> list[str]:
    """One preset for each product: its first one."""
    first: dict[str, str] = {}
    for name in present:
        first.setdefault(name.partition("-")[0], name)
    return list(first.values())
