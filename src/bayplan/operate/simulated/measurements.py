"""What is measured in a simulated cluster: traffic that drifts and bursts, and usage that follows it and the time of day."""

import math
from dataclasses import dataclass

import numpy as np

from bayplan.model import NO_LIMIT, Cluster, FloatArray, floats
from bayplan.operate.simulated.settings import DAY, HOUR, SimulatedSettings

BUSIEST_HOUR = 14.0
WEEKEND = 0.6  # of what is above the quietest hour
FARTHEST = math.log(8.0)  # drifting traffic stays within a factor of eight
MOST_USAGE = 1.5  # of what a workload states as its usage


def daily_curve(time: float, hours_later: float = 0.0) -> float:
    """How busy it is, from 0 (the quietest hour) to 1 (the busiest), with calmer weekends; days begin at 00:00 UTC."""
    hour = (time / HOUR - hours_later) % 24.0
    day = int((time - hours_later * HOUR) // DAY + 3) % 7  # 1970 began on a Thursday; 0 is Monday
    curve = 0.5 * (1.0 + math.cos(2.0 * math.pi * (hour - BUSIEST_HOUR) / 24.0))
    return curve * (WEEKEND if day >= 5 else 1.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasuredTraffic:
    """Traffic as it was measured at one time."""

    at: float
    weight: FloatArray  # (edge,)
    clique: FloatArray  # (service,)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasuredUsage:
    """Usage of one container of each workload, as it was measured at one time."""

    at: float
    mean: FloatArray  # (workload, resource)
    std: FloatArray  # (workload, resource)


class SimulatedMeasurements:
    """The traffic and usage of a cluster over time. Equal seeds give equal values, however often they are looked at."""

    def __init__(self, cluster: Cluster, settings: SimulatedSettings, start: float, seed: int) -> None:
        self.cluster, self.settings, self.seed, self.start = cluster, settings, seed, start
        self._bursts: list[tuple[float, float, int, float]] = []  # start, end, workload, factor
        self._logarithm = np.zeros(len(cluster.traffic.a))  # (edge,) of the drift
        self._steps = 0  # drift steps made
        self._random = np.random.default_rng([seed, 1])
        self._base = self._per_workload(cluster.traffic.weight)
        self._traffic: MeasuredTraffic | None = None
        self._usage: MeasuredUsage | None = None

    def burst(self, workload: int, start: float) -> None:
        """The traffic of a workload grows for a while."""
        churn = self.settings.churn
        self._bursts = [burst for burst in self._bursts if burst[1] > start - DAY]
        self._bursts.append((start, start + churn.burst_seconds, workload, churn.burst_factor))

    def traffic(self, now: float) -> MeasuredTraffic:
        """The last measurement of traffic before now."""
        at = self._tick(now, self.settings.traffic_every)
        if self._traffic is None or self._traffic.at != at:
            weight = self._weights(at) * self._noise(at, 2, len(self.cluster.traffic.a))
            self._traffic = MeasuredTraffic(at=at, weight=floats(weight), clique=self.cluster.services.clique)
        return self._traffic

    def usage(self, now: float) -> MeasuredUsage:
        """The last measurement of usage before now."""
        at = self._tick(now, self.settings.usage_every)
        if self._usage is None or self._usage.at != at:
            self._usage = self._measured_usage(at)
        return self._usage

    def _tick(self, now: float, every: float) -> float:
        """The last full interval that has ended, or the start."""
        return max(self.start, math.floor(now / every) * every)

    def _weights(self, at: float) -> FloatArray:
        """(edge,) traffic at a time, without the noise of measuring."""
        traffic, drift = self.cluster.traffic, self.settings.churn.drift
        if drift:
            every = self.settings.traffic_every
            due = int((at - self.start) / every)
            for _ in range(due - self._steps):
                step = self._random.normal(0.0, drift * math.sqrt(every / DAY), len(traffic.a))
                self._logarithm = np.clip(self._logarithm + step, -FARTHEST, FARTHEST)
            self._steps = max(due, self._steps)
        weight = traffic.weight * np.exp(self._logarithm)
        for start, end, w, factor in self._bursts:
            if start <= at < end:
                weight = np.where((traffic.a == w) | (traffic.b == w), weight * factor, weight)
        return np.asarray(weight, dtype=np.float64)

    def _measured_usage(self, at: float) -> MeasuredUsage:
        workloads, to = self.cluster.workloads, self.settings.churn.usage_to
        factor = to + (1.0 - to) * daily_curve(at)
        now = self._per_workload(self._weights(at))
        share = np.sqrt(np.divide(now, self._base, out=np.ones(len(now)), where=self._base > 0))  # half of a burst, in logarithms
        share = np.minimum(factor * share, MOST_USAGE) * self._noise(at, 3, len(share))
        mean = workloads.usage_mean * share[:, None]
        mean = np.where(workloads.limit == NO_LIMIT, mean, np.minimum(mean, workloads.limit))
        return MeasuredUsage(at=at, mean=floats(mean), std=floats(workloads.usage_std * share[:, None]))

    def _per_workload(self, weight: FloatArray) -> FloatArray:
        """(workload,) traffic of its edges."""
        traffic, count = self.cluster.traffic, len(self.cluster.workloads.name)
        both = np.bincount(traffic.a, weight, count) + np.bincount(traffic.b, weight, count)
        return np.asarray(both, dtype=np.float64)

    def _noise(self, at: float, stream: int, size: int) -> FloatArray | float:
        """(size,) factors about 1, the same whenever they are asked for."""
        if not self.settings.noise:
            return 1.0
        random = np.random.default_rng([self.seed, stream, int(at)])
        return np.exp(random.normal(0.0, self.settings.noise, size))
