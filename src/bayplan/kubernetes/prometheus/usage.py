"""What the containers of each workload used: mean, deviation and peak over a window, from the kubelets' cAdvisor metrics.

Prometheus computes mean, deviation, maximum and number of measurements per pod; one answer has all pods, whatever their number.
Pods belong to workloads by their owners, and the measurements of a workload's pods are pooled. A window that is too large for
one query is halved until its parts are not, and the parts are pooled likewise, so the answer is the same.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from bayplan.kubernetes.measurements import UsageStatistics
from bayplan.kubernetes.prometheus.server import Prometheus, QueryTooLargeError, promql_time
from bayplan.kubernetes.prometheus.workload_names import KnownWorkloads
from bayplan.words import count, first_names

STEP = 300.0  # seconds from one measurement to the next, and over which cpu is averaged
MOST = 144  # measurements of a pod: a longer window has them further apart, since each costs the server time
FEWEST = 4  # measurements that a window must have room for, and that a workload must have
_SAID = 0.01  # share of a resource from which it is said that its pods are gone


class ResourceMetric(NamedTuple):
    """A resource that is measured."""

    metric: str
    counter: bool  # it grows, and its rate is the usage
    scale: float  # base units per unit of the metric


RESOURCES: Mapping[str, ResourceMetric] = {
    "cpu": ResourceMetric("container_cpu_usage_seconds_total", True, 1000.0),
    "memory": ResourceMetric("container_memory_working_set_bytes", False, 1.0),
}
_CONTAINERS = 'container!="", container!="POD"'  # "POD": the pause container of older runtimes
_POD_TOTALS = 'container="", pod!=""'  # runtimes that report the total of a pod only


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """The number, mean, sum of squared deviations and maximum of some measurements."""

    number: float
    mean: float
    squares: float
    peak: float

    @classmethod
    def pooled(cls, parts: Iterable["Moments"]) -> "Moments":
        """Those of all measurements together."""
        listed = list(parts)
        number = sum(part.number for part in listed)
        mean = sum(part.number * part.mean for part in listed) / number
        squares = sum(part.squares + part.number * (part.mean - mean) ** 2 for part in listed)
        return cls(number=number, mean=mean, squares=squares, peak=max(part.peak for part in listed))


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredResources:
    """Usage by workload and resource, when it was measured, and what was not."""

    usage: Mapping[str, Mapping[str, UsageStatistics]]
    at: float  # when the newest sample was taken, of the resource that is furthest behind; 0.0: nothing was measured
    missing: tuple[str, ...]


def measured_usage(prometheus: Prometheus, known: KnownWorkloads, *, window: float, at: float) -> MeasuredResources:
    """The usage of a window that ends at `at`, or up to one step earlier."""
    usage: dict[str, dict[str, UsageStatistics]] = defaultdict(dict)
    times: list[float] = []
    missing: list[str] = []
    for name, resource in RESOURCES.items():
        pods, newest = _pods(prometheus, resource, known.scope, window, at)
        if not pods:
            missing.append(f"usage of {name}: no {resource.metric} of any pod")
            continue
        times.append(newest)
        by_workload, words = _by_workload(pods, known, name)
        missing += words
        for workload, moments in by_workload.items():
            usage[workload][name] = _usage(moments, resource.scale)
    return MeasuredResources(usage=usage, at=min(times, default=0.0), missing=tuple(missing))


def step_of(window: float) -> float:
    """Seconds from one measurement to the next: five minutes, less if the window is short, more if it is long."""
    return min(max(STEP, window / MOST), window / FEWEST)


def _pods(
    prometheus: Prometheus, resource: ResourceMetric, scope: Collection[str], window: float, at: float
) -> tuple[Mapping[tuple[str, str], Moments], float]:
    """The measurements of every pod of these namespaces, by namespace and name, and the time of the newest."""
    step = step_of(window)
    end = (math.floor(at / step - 0.5) + 0.5) * step  # between two measurements: none lies on the border of two windows
    inside = f', namespace=~"{"|".join(sorted(scope))}"' if scope else ""
    for matching in (_CONTAINERS, _POD_TOTALS):
        selector = f"{resource.metric}{{{matching}{inside}}}"
        inner = f"rate({selector}[{promql_time(min(step, STEP))}])" if resource.counter else selector
        # a container may be counted twice: scraped by two jobs, or as two series while it restarts
        each = f"sum by (namespace, pod) (max by (namespace, pod, container) ({inner}))"
        pods = _window(prometheus, each, step, round(window / step), end)
        if pods:
            return pods, prometheus.newest(selector, at, window)
    return {}, 0.0


def _window(prometheus: Prometheus, each: str, step: float, steps: int, end: float) -> Mapping[tuple[str, str], Moments]:
    """The measurements of one window, which is halved if that is too much for one query."""
    try:
        return _moments(prometheus, each, step, steps, end)
    except QueryTooLargeError:
        if steps < 2:
            raise
    later = steps // 2
    halves = (
        _window(prometheus, each, step, steps - later, end - later * step),
        _window(prometheus, each, step, later, end),
    )
    parts: dict[tuple[str, str], list[Moments]] = defaultdict(list)
    for half in halves:
        for pod, moments in half.items():
            parts[pod].append(moments)
    return {pod: Moments.pooled(each_part) for pod, each_part in parts.items()}


def _moments(prometheus: Prometheus, each: str, step: float, steps: int, end: float) -> Mapping[tuple[str, str], Moments]:
    series = f"({each})[{promql_time(step * steps)}:{promql_time(step)}]"
    numbers, means, deviations, peaks = (
        {(sample.labels.get("namespace", ""), sample.labels.get("pod", "")): sample.value for sample in answer}
        for answer in (prometheus.query(f"{function}({series})", end) for function in _FUNCTIONS)
    )
    return {
        pod: Moments(number=number, mean=means[pod], squares=number * deviations[pod] ** 2, peak=peaks[pod])
        for pod, number in numbers.items()
        if pod in means and pod in deviations and pod in peaks and math.isfinite(means[pod] + deviations[pod] + peaks[pod])
    }


_FUNCTIONS = ("count_over_time", "avg_over_time", "stddev_over_time", "max_over_time")


def _by_workload(
    pods: Mapping[tuple[str, str], Moments], known: KnownWorkloads, resource: str
) -> tuple[Mapping[str, Moments], list[str]]:
    """The measurements of each workload, and in words what is missing."""
    parts: dict[str, list[Moments]] = defaultdict(list)
    total = gone = 0.0
    for pod, moments in pods.items():
        workload = known.pods.get(pod)
        total += moments.number * moments.mean
        if workload is None:
            gone += moments.number * moments.mean
        else:
            parts[workload].append(moments)
    pooled = {workload: Moments.pooled(moments) for workload, moments in parts.items()}
    enough = {workload: moments for workload, moments in pooled.items() if moments.number >= FEWEST}
    missing = []
    if unmeasured := sorted(set(known.pods.values()) - set(enough)):
        missing.append(f"usage of {resource}: not measured for {count(len(unmeasured), 'workload')} ({first_names(unmeasured)})")
    if gone > _SAID * total:
        missing.append(f"usage of {resource}: {gone / total:.0%} belongs to pods that are gone or were not collected")
    return enough, missing


def _usage(moments: Moments, scale: float) -> UsageStatistics:
    deviation = math.sqrt(moments.squares / moments.number)
    return UsageStatistics(mean=moments.mean * scale, deviation=deviation * scale, peak=moments.peak * scale)
