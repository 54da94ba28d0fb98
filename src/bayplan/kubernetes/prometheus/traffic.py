"""Traffic between workloads from what a preset or a query measures, with the share that could be attributed.

Both ends of every series are looked up among the workloads that were collected. What has an end that is none of them (the outside
world, a pod without an owner, an ambiguous name) is no edge: it lowers the coverage, and the largest such names are listed.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bayplan.errors import Fault, InputError, WorldError
from bayplan.kubernetes.measurements import Unattributed
from bayplan.kubernetes.prometheus.presets import PRESETS, EndLabels, Preset, TrafficQuery
from bayplan.kubernetes.prometheus.server import Prometheus, Sample, promql_time
from bayplan.kubernetes.prometheus.workload_names import KnownWorkloads
from bayplan.words import first_names

LISTED = 10  # unattributed names
_LOOKS_LIKE_TRAFFIC = (
    "requests_total",
    "request_total",
    "response_total",
    "bytes_total",
    "links_observed",
    "flows_processed_total",
)
_UNKNOWN = ("", "unknown")  # what products call an end that they do not know


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadTraffic:
    """The rates between workloads, and what is left out of them."""

    edges: Mapping[tuple[str, str], float]
    unit: str
    at: float  # when its newest sample was taken
    coverage: float | None  # None: there was no traffic at all
    unattributed: tuple[Unattributed, ...]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rates:
    """The answer to a preset's queries, before it is attributed."""

    samples: Sequence[Sample]
    source: tuple[EndLabels, ...]
    destination: tuple[EndLabels, ...]
    unit: str
    selector: str  # of one of its metrics: when it was measured; "" for a query of the user's own
    virtual: tuple[str, str] | None = None


def measured_traffic(
    prometheus: Prometheus, traffic: Preset | TrafficQuery, known: KnownWorkloads, *, window: float, at: float
) -> WorkloadTraffic:
    """The traffic of a window that ends at `at`."""
    if isinstance(traffic, Preset):
        rates = _preset_rates(prometheus, traffic, window, at)
    else:
        rates = _query_rates(prometheus, traffic, window, at)
    _expect_numbers(prometheus, rates)
    newest = prometheus.newest(rates.selector, at, window) if rates.selector else at
    return _attributed(rates, known, newest, window)


def present_presets(prometheus: Prometheus, *, window: float, at: float) -> list[str]:
    """The presets that have series in the window, by name."""
    names = set(prometheus.metric_names())

    def present(preset: Preset) -> bool:
        there = [metric for group in preset.metrics for metric in group if metric in names]
        queries = (f"count(last_over_time({preset.selector(metric)}[{promql_time(window)}]))" for metric in there)
        return any(prometheus.query(query, at) for query in queries)

    return [name for name, preset in PRESETS.items() if present(preset)]


def _preset_rates(prometheus: Prometheus, preset: Preset, window: float, at: float) -> _Rates:
    for group in preset.metrics:
        answers = {metric: prometheus.query(preset.query(metric, window), at) for metric in group}
        samples = [sample for answer in answers.values() for sample in answer]
        if samples:
            selector = preset.selector(next(metric for metric, answer in answers.items() if answer))
            _expect_names(samples, preset, group)
            return _Rates(
                samples=samples,
                source=preset.source,
                destination=preset.destination,
                unit=preset.unit,
                selector=selector,
                virtual=preset.virtual,
            )
    raise WorldError(_nothing_measured(prometheus, preset, window, at))


def _query_rates(prometheus: Prometheus, query: TrafficQuery, window: float, at: float) -> _Rates:
    expression = query.query(window)
    samples = prometheus.query(expression, at)
    if not samples:
        raise WorldError(f"{prometheus.label}: --traffic-query gives no series: {expression}")
    seen = sorted({label for sample in samples for label in sample.labels})
    faults = [
        Fault(
            code="E2602",
            kind="label",
            name=label,
            problem="is in no series of the query",
            value=", ".join(seen),
            expected="it there",
        )
        for label in query.labels
        if label and label not in seen
    ]
    if faults:
        raise InputError("--traffic-query", faults)
    first, second, third, fourth = query.labels
    return _Rates(
        samples=samples,
        source=(EndLabels(first, second),),
        destination=(EndLabels(third, fourth),),
        unit="(in the unit of the query)",
        selector="",
    )


def _expect_names(samples: Sequence[Sample], preset: Preset, metrics: Sequence[str]) -> None:
    """WorldError if no series names its source, or none its destination: the product is not set up to."""
    for side, ends in (("source", preset.source), ("destination", preset.destination)):
        if not any(sample.labels.get(end.name) for sample in samples for end in ends):
            labels = ", ".join(dict.fromkeys(end.name for end in ends))
            hint = f"; it needs {preset.setup}" if preset.setup else ""
            raise WorldError(f"no series of {', '.join(metrics)} names its {side} (labels {labels}){hint}")


def _expect_numbers(prometheus: Prometheus, rates: _Rates) -> None:
    faults = [
        Fault(
            code="E2603",
            kind="traffic",
            name=" -> ".join(map(str, _ends(sample, rates))),
            problem="a rate is no finite number of 0 or more",
            value=str(sample.value),
        )
        for sample in rates.samples
        if not math.isfinite(sample.value) or sample.value < 0
    ]
    if faults:
        raise InputError(prometheus.label, faults)


def _nothing_measured(prometheus: Prometheus, preset: Preset, window: float, at: float) -> str:
    wanted = " or ".join(", ".join(group) for group in preset.metrics)
    filtered = f" with {preset.matching}" if preset.matching else ""
    like = [name for name in prometheus.metric_names() if name.endswith(_LOOKS_LIKE_TRAFFIC)]
    others = [name for name in present_presets(prometheus, window=window, at=at) if PRESETS[name] is not preset]
    seen = f"metrics that exist and look like traffic: {first_names(like, 8)}" if like else "no metric there looks like traffic"
    hint = f"; try --traffic {' or '.join(others)}" if others else ""
    return f"{prometheus.label}: no {wanted}{filtered} in the last {words_of(window)}; {seen}{hint}"


def _attributed(rates: _Rates, known: KnownWorkloads, at: float, window: float) -> WorkloadTraffic:
    edges: dict[tuple[str, str], float] = defaultdict(float)
    unattributed: dict[str, float] = defaultdict(float)
    total = covered = 0.0
    for sample in rates.samples:
        ends = _ends(sample, rates)
        if not known.concerns(*(end.namespace for end in ends)):
            continue
        total += sample.value
        source, destination = (end.workload(known) for end in ends)
        if source is not None and destination is not None:
            covered += sample.value
            edges[source, destination] += sample.value
        for shown in {str(end) for end in ends if end.workload(known) is None}:
            unattributed[shown] += sample.value
    still = (f"no traffic in the last {words_of(window)}: every counter stands still",) if total == 0 else ()
    largest = sorted(unattributed.items(), key=lambda entry: (-entry[1], entry[0]))[:LISTED]
    return WorkloadTraffic(
        edges={pair: rate for pair, rate in edges.items() if rate > 0 and pair[0] != pair[1]},
        unit=rates.unit,
        at=at,
        coverage=min(1.0, covered / total) if total > 0 else None,
        unattributed=tuple(Unattributed(name, rate, rate / total) for name, rate in largest if rate > 0),
        missing=still,
    )


class _End(NamedTuple):
    """One end of traffic as it was measured."""

    namespace: str
    name: str
    kind: str
    virtual: str = ""  # what it is if it is no workload: "database"

    def __str__(self) -> str:
        if not self.name:
            return "unknown"
        name = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"{name} ({self.virtual})" if self.virtual else name

    def workload(self, known: KnownWorkloads) -> str | None:
        """The workload that it is, if it is one that was collected."""
        return None if self.virtual else known.workload(self.namespace, self.name, self.kind)


def _ends(sample: Sample, rates: _Rates) -> tuple[_End, _End]:
    label, value = rates.virtual or ("", "")
    virtual = value if label and sample.labels.get(label) == value else ""
    return _end(sample, rates.source), _end(sample, rates.destination)._replace(virtual=virtual)


def _end(sample: Sample, ends: Sequence[EndLabels]) -> _End:
    """From the first labels that name it."""
    for end in ends:
        name = sample.labels.get(end.name, "")
        if name not in _UNKNOWN:
            kind = sample.labels.get(end.kind_label, "") if end.kind_label else end.kind
            namespace, slash, alone = name.rpartition("/")
            return _End(namespace if slash else sample.labels.get(end.namespace, ""), alone, kind)
    return _End("", "", "")


def words_of(seconds: float) -> str:
    """A length of time as a person writes it: 90s, 30m, 6h, 3d."""
    for unit, length in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= length and seconds % length == 0:
            return f"{round(seconds / length)}{unit}"
    return f"{seconds:g}s"
