"""The services and machines of [UCaC] §6: Table 5, clusters drawn from it, and a week in which usage and numbers change.

The trace of the week (§6.2, Figure 5) is not public. We know: 17 services, nine days of which two are a weekend; at weekends the
mean usage is very low, its relative deviation is high, and nothing is packed; on weekdays the mean is high and the relative
deviation reasonable; services request containers and give some back every day. All other numbers of the week are ours.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayplan.model import (
    BoolArray,
    Cluster,
    Confidence,
    Containers,
    FloatArray,
    IntArray,
    Machines,
    Resource,
    Services,
    Traffic,
    Workloads,
    floats,
    ints,
    machine_level,
)


class Usage(NamedTuple):
    """One column of [UCaC] Table 5, in cpu cores."""

    mean: float
    std: float
    containers: int
    remove_rate: float  # share that leaves when a nonempty layout is made


TABLE_5 = (  # [UCaC] appendix E, left to right, upper half first
    Usage(6.18, 1.73, 270, 0.5),
    Usage(2.47, 0.47, 55, 0.3),
    Usage(1.07, 0.43, 1618, 0.8),
    Usage(4.12, 2.69, 904, 0.5),
    Usage(1.06, 0.85, 576, 0.8),
    Usage(0.73, 0.19, 1085, 0.8),
    Usage(1.94, 0.9, 1035, 0.5),
    Usage(2.48, 0.82, 118, 0.5),
    Usage(2.42, 0.97, 1450, 0.5),
    Usage(2.49, 0.62, 313, 0.5),
    Usage(0.97, 0.31, 44, 0.8),
    Usage(2.46, 0.62, 544, 0.3),
    Usage(2.52, 0.84, 697, 0.5),
    Usage(1.06, 0.57, 427, 0.8),
    Usage(2.59, 0.7, 363, 0.3),
    Usage(1.96, 0.55, 360, 0.3),
    Usage(3.33, 0.9, 701, 0.5),
)
MILLI = 1000  # base units in a core
CAPACITY = 31_580  # 31.58 cores, [UCaC] §6
STD_FACTOR = (0.9, 1.1)  # [UCaC] §6.1 (1)
LIMIT_STD = (
    4.0  # limit = mean + 4 std; [UCaC] gives none. Beyond what a 99.9 % confidence sees, so only usage below 0 is cut often
)
BASE_USAGE = sum(column.mean * column.containers for column in TABLE_5)  # cores, mean of all containers of Table 5


def drawn_columns(services: int, rng: np.random.Generator) -> IntArray:
    """Which columns of Table 5, ascending: without replacement up to 17, with it beyond ([UCaC] runs K = 20)."""
    return np.sort(rng.choice(len(TABLE_5), size=services, replace=services > len(TABLE_5)))


def replicas_of(column: IntArray, scale: float) -> IntArray:
    """(workload,) containers of each service: Table 5's times `scale`; at a scale of 0 they use Table 5's total on average."""
    table = np.array([TABLE_5[j].containers for j in column])
    mean = np.array([TABLE_5[j].mean for j in column])
    factor = scale if scale > 0 else BASE_USAGE / float(table @ mean)
    return ints([max(1, round(factor * count)) for count in table.tolist()])


def drawn_workloads(column: IntArray, rng: np.random.Generator) -> Workloads:
    """The services of these columns, each deviation times U(0.9, 1.1)."""
    mean = np.array([TABLE_5[j].mean for j in column])
    std = np.array([TABLE_5[j].std for j in column]) * rng.uniform(*STD_FACTOR, size=len(column))
    return workloads_of(MILLI * mean, MILLI * std)


def workloads_of(mean: FloatArray, std: FloatArray) -> Workloads:
    """Services s01, s02, ... that request nothing and use cpu with these means and deviations, in base units."""
    table = mean[:, None], std[:, None]
    return Workloads(
        name=tuple(f"s{i + 1:02d}" for i in range(len(mean))),
        service=ints(np.arange(len(mean))),
        request=ints(np.zeros(table[0].shape)),
        usage_mean=floats(table[0]),
        usage_std=floats(table[1]),
        limit=ints(np.ceil(table[0] + LIMIT_STD * table[1])),
    )


def cluster_of(workloads: Workloads, replicas: IntArray, machines: int, alpha: float) -> Cluster:
    """Machines of 31.58 cores, `replicas` containers of each service, one rule: confidence on cpu ([UCaC] (2))."""
    machine = tuple(f"m{m:04d}" for m in range(machines))
    capacity = ints(np.full((machines, 1), CAPACITY))
    return Cluster(
        name=f"ucac-{len(workloads.name)}",
        resources=(Resource(name="cpu", scale=MILLI, unit="cores"),),
        machines=Machines(name=machine, capacity=capacity, safety=capacity),
        levels=(machine_level(machine),),
        services=Services(name=workloads.name, clique=floats(np.zeros(len(workloads.name)))),
        workloads=workloads,
        containers=Containers.replicas_of(workloads.name, replicas),
        traffic=Traffic.none(),
        rules=(Confidence(resource=0, alpha=alpha),),
    )


DAYS = ("Wed", "Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed 2", "Thu 2")
WEEKEND = ("Sat", "Sun")
SIZE = 1.24  # containers over those of Table 5, so that about 41,400 cores are used as in [UCaC] Table 4
SWING = 0.15  # the number of containers of a service on a weekday is its own times U(1 - SWING, 1 + SWING)
DRIFT = 0.03  # its mean usage on a weekday is its own times U(1 - DRIFT, 1 + DRIFT)
RATIO_FACTOR = (0.9, 1.1)  # of the ratio of deviation and mean
LOW, HIGH = (0.2, 0.4), (1.5, 2.5)  # mean and ratio at a weekend, per service and day, over those of a weekday


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Week:
    """What every service uses and requests on every day."""

    weekend: BoolArray  # (day,)
    mean: FloatArray  # (day, workload) base units
    std: FloatArray  # (day, workload)
    replicas: IntArray  # (day, workload) containers that must run; at a weekend those of the day before

    @property
    def weekdays(self) -> list[int]:
        """Days on which containers are packed, in order."""
        return [int(t) for t in np.flatnonzero(~self.weekend)]


def ucac_week(*, size: float = SIZE, swing: float = SWING, drift: float = DRIFT, seed: int = 0) -> Week:
    """Nine days of the 17 services of Table 5; `size` times their containers."""
    rng = np.random.default_rng([seed, 7])
    shape = len(DAYS), len(TABLE_5)
    weekend = np.array([day in WEEKEND for day in DAYS])
    mean = np.array([column.mean for column in TABLE_5]) * rng.uniform(1 - drift, 1 + drift, size=shape)
    ratio = np.array([column.std / column.mean for column in TABLE_5]) * rng.uniform(*RATIO_FACTOR, size=shape)
    count = size * np.array([column.containers for column in TABLE_5]) * rng.uniform(1 - swing, 1 + swing, size=shape)
    mean = np.where(weekend[:, None], mean * rng.uniform(*LOW, size=shape), mean)
    ratio = np.where(weekend[:, None], ratio * rng.uniform(*HIGH, size=shape), ratio)
    for t in np.flatnonzero(weekend):
        count[t] = count[t - 1]
    return Week(
        weekend=weekend,
        mean=floats(MILLI * mean),
        std=floats(MILLI * mean * ratio),
        replicas=ints(np.maximum(1, np.round(count))),
    )


def day_cluster(week: Week, day: int, *, machines: int, alpha: float) -> Cluster:
    """The cluster of one day, with the containers that must run."""
    return cluster_of(workloads_of(week.mean[day], week.std[day]), week.replicas[day], machines, alpha)
