"""Usage at the peak: the part of a usage series that counts where containers are packed for the busiest time.

[UCaC] packs for "the distribution of container resource usages at the workload peak time" (§3.2) and summarises the usage at the
peak of a day by its mean and deviation (§6.2, Figure 5). It does not say how long a peak is, or whether each service has its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from bayplan.errors import ModelError, UsageError, expect_one_of
from bayplan.model import FloatArray, IntArray, floats

HOUR = 3600.0  # seconds


class PeakOf(StrEnum):
    """Whose peak counts."""

    SERVICE = "service"  # each workload's own: safe if peaks of services may fall together
    CLUSTER = "cluster"  # of all usage together: what machines see, if every day is like this one


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UsageSeries:
    """What single containers of one workload used, and when. Several samples may have the same time: one of each replica."""

    time: FloatArray  # (sample,) seconds, ascending
    value: FloatArray  # (sample,) base units

    def __post_init__(self) -> None:
        if self.time.shape != self.value.shape or not len(self.time):
            raise ModelError(
                f"a usage series of {len(self.time)} times and {len(self.value)} values; expected as many, at least one"
            )
        if not np.isfinite(self.time).all() or (np.diff(self.time) < 0).any():
            raise ModelError("the times of a usage series are not finite, or not ascending")

    @classmethod
    def of(cls, time: Sequence[float] | FloatArray, value: Sequence[float] | FloatArray) -> "UsageSeries":
        """A series from samples in any order."""
        order = np.argsort(np.asarray(time, dtype=np.float64), kind="stable")
        return cls(time=floats(np.asarray(time)[order]), value=floats(np.asarray(value)[order]))

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """The times, each once, and what one container used on average at each."""
        time, first, number = np.unique(self.time, return_index=True, return_counts=True)
        return floats(time), floats(np.add.reduceat(self.value, first) / number)


class PeakUsage(NamedTuple):
    """What one container of a workload used at the peak."""

    start: float  # of the window, seconds
    mean: float  # base units
    deviation: float  # of a sample (divisor n - 1); 0 for a single one
    samples: FloatArray  # all of the window: over its time and over replicas


def peak_usage(
    series: Mapping[int, UsageSeries], *, of: str = PeakOf.SERVICE, replicas: IntArray | None = None, window: float = HOUR
) -> Mapping[int, PeakUsage]:
    """By workload, what its containers used in the busiest window of the series: the one with the highest mean over time.

    `of` "service": each workload has its own window. "cluster": one window for all, in which `replicas` (workload,) containers of
    each use most together; a workload without samples in it has its own. A window begins at a time of the series and does not
    reach beyond its end by more than a step, unless the series is shorter; the earliest of equals counts.
    """
    expect_one_of(of, [str(choice) for choice in PeakOf], "peak")
    if not window > 0:
        raise UsageError(f"a peak of {window:g} seconds; expected more than 0")
    if of == PeakOf.SERVICE or not series:
        return {w: _at(one, _busiest([one], [1.0], window), window) for w, one in series.items()}
    weight = [1.0 if replicas is None else float(replicas[w]) for w in series]
    start = _busiest(list(series.values()), weight, window)
    inside = {w: ((one.time >= start) & (one.time < start + window)).any() for w, one in series.items()}
    return {w: _at(one, start if inside[w] else _busiest([one], [1.0], window), window) for w, one in series.items()}


def _at(series: UsageSeries, start: float, window: float) -> PeakUsage:
    values = floats(series.value[(series.time >= start) & (series.time < start + window)])
    deviation = float(values.std(ddof=1)) if len(values) > 1 else 0.0
    return PeakUsage(start=start, mean=float(values.mean()), deviation=deviation, samples=values)


def _busiest(series: Sequence[UsageSeries], weight: Sequence[float], window: float) -> float:
    """The time at which the window of the highest usage begins; each series counts with its weight, moments equally."""
    times = np.unique(np.concatenate([one.time for one in series]))
    step = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    starts = times[times + window <= times[-1] + step * (1 + 1e-9)]
    starts = starts if len(starts) else times[:1]
    used = np.zeros(len(starts))
    for one, by in zip(series, weight, strict=True):
        time, mean = one.moments()
        total = np.concatenate([[0.0], np.cumsum(mean)])
        first, last = np.searchsorted(time, starts), np.searchsorted(time, starts + window)
        used += by * (total[last] - total[first]) / np.maximum(1, last - first)
    return float(starts[np.argmax(used)])
