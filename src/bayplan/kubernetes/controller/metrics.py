"""The metrics of a controller, one literal list. No label names a pod, a workload or a machine: there is no limit to those."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from bayplan.errors import UsageError
from bayplan.kubernetes.controller.events import EventReason, EventResult
from bayplan.model.plan import Action
from bayplan.model.record import PlanStatus, StepStatus, TurnVerdict
from bayplan.version import __version__

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

TEXT = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600)  # limits of histograms


class MetricKind(StrEnum):
    """How values add up."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class MoveOutcome(StrEnum):
    """What became of a move of one container."""

    STARTED = "started"
    COMPLETED = "completed"
    BLOCKED = "blocked"
    TAKEN_BACK = "taken-back"


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """One metric; `labels` has every value that each label can have."""

    kind: MetricKind
    help: str
    labels: Mapping[str, tuple[str, ...]]


def _metric(kind: MetricKind, text: str, **labels: Any) -> Metric:
    return Metric(kind=kind, help=text, labels={name: tuple(str(value) for value in values) for name, values in labels.items()})


_ENDED = [status for status in StepStatus if status is not StepStatus.BEGUN]
_C, _G, _H = MetricKind.COUNTER, MetricKind.GAUGE, MetricKind.HISTOGRAM

METRICS: Mapping[str, Metric] = {
    "bayplan_build_info": _metric(_G, "Always 1; the label has the version.", version=[__version__]),
    "bayplan_leader": _metric(_G, "1 while this process may act, else 0."),
    "bayplan_lease_acquired_total": _metric(_C, "How often this process acquired the lease."),
    "bayplan_lease_lost_total": _metric(_C, "How often this process lost the lease while it acted."),
    "bayplan_turns_total": _metric(_C, "Turns of the loop by what they came to.", verdict=TurnVerdict),
    "bayplan_turn_seconds": _metric(_H, "From the start of a turn to its end."),
    "bayplan_last_turn_timestamp_seconds": _metric(_G, "When the last turn ended, in seconds since 1970."),
    "bayplan_planning_seconds": _metric(_H, "Wall time that planning took, of turns that planned."),
    "bayplan_plans_total": _metric(_C, "Plans by the status that they got.", status=PlanStatus),
    "bayplan_plan_gain_ratio": _metric(_G, "What the newest plan gains, the price of its moves taken off."),
    "bayplan_plan_moves": _metric(_G, "Containers that the newest plan moves."),
    "bayplan_moves_total": _metric(_C, "Moves of single containers.", outcome=MoveOutcome),
    "bayplan_steps_total": _metric(_C, "Steps of moves.", action=Action, outcome=_ENDED),
    "bayplan_step_seconds": _metric(_H, "From the start of a step that was made to its end.", action=Action),
    "bayplan_rollbacks_total": _metric(_C, "Plans that were taken back."),
    "bayplan_holds": _metric(_G, "Workloads that are left alone until a time."),
    "bayplan_containers": _metric(_G, "Containers that run, in the last turn."),
    "bayplan_unplaced_containers": _metric(_G, "Containers without a machine, in the last turn."),
    "bayplan_hot_machines": _metric(_G, "Machines above their safety capacity, in the last turn."),
    "bayplan_fullest_machine_ratio": _metric(_G, "The fullest machine, as a share of its capacity, in the last turn."),
    "bayplan_local_traffic_ratio": _metric(_G, "Share of the traffic that stays on one machine, in the last turn."),
    "bayplan_paused": _metric(_G, "1 while a person has paused all acting, else 0."),
    "bayplan_events_total": _metric(_C, "Events on pods and owners.", reason=EventReason, result=EventResult),
    "bayplan_overdue_reservations_total": _metric(_C, "Reservations that had to be ended because their time was over."),
    "bayplan_background_failures_total": _metric(_C, "Requests beside the loop that failed: events, holds, overdue gates."),
}


class Metrics:
    """The values of all metrics. Every combination of labels is there from the beginning, at zero."""

    def __init__(self) -> None:
        client = _prometheus_client()
        self._client = client
        self.registry: CollectorRegistry = client.CollectorRegistry()
        kinds: Mapping[MetricKind, Callable[..., Any]] = {_C: client.Counter, _G: client.Gauge, _H: client.Histogram}
        self._metrics: dict[str, Any] = {}
        for name, metric in METRICS.items():
            more = {"buckets": SECONDS} if metric.kind is _H else {}
            made = kinds[metric.kind](name, metric.help, tuple(metric.labels), registry=self.registry, **more)
            self._metrics[name] = made
            for values in _combinations(metric):
                made.labels(**values)
        self.set("bayplan_build_info", 1, version=__version__)

    def add(self, name: str, amount: float = 1, **labels: str) -> None:
        """Count something."""
        self._of(name, labels).inc(amount)

    def set(self, name: str, value: float, **labels: str) -> None:
        """Set a gauge."""
        self._of(name, labels).set(value)

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        """Add a value to a histogram."""
        self._of(name, labels).observe(seconds)

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return bytes(self._client.generate_latest(self.registry))

    def _of(self, name: str, labels: Mapping[str, str]) -> Any:
        metric = self._metrics[name]
        return metric.labels(**labels) if labels else metric


def _combinations(metric: Metric) -> list[dict[str, str]]:
    rows: list[dict[str, str]] = [{}]
    for label, values in metric.labels.items():
        rows = [row | {label: value} for row in rows for value in values]
    return rows if metric.labels else []


def _prometheus_client() -> Any:
    try:
        import prometheus_client
    except ImportError as error:
        raise UsageError("metrics of a controller need prometheus-client: pip install 'bayplan[kube]'") from error
    return prometheus_client
