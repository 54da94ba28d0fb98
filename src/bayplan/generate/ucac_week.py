"""A week of services whose usage and numbers change from day to day (003 section 6.2 and Figure 5).

The paper's trace is not public. Of it we know: 17 services, nine days of which two are a weekend; at weekends the mean usage is
very low, its relative deviation is high, and nothing is packed; on weekdays the mean is high and the relative deviation
reasonable; services ask for containers and give some back every day. What follows is ours: the numbers below.
"""

from dataclasses import dataclass

import numpy as np

from bayplan.generate.ucac_services import MILLI, TABLE_5, cluster_of, workloads_of
from bayplan.model import BoolArray, Cluster, FloatArray, IntArray, floats, ints

DAYS = ("Wed", "Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed 2", "Thu 2")
WEEKEND = ("Sat", "Sun")
SIZE = 1.24  # containers over those of Table 5, so that about 41,400 cores are used as in 003 Table 4
SWING = 0.15  # the number of containers of a service on a weekday is its own times U(1 - SWING, 1 + SWING)
DRIFT = 0.03  # its mean usage on a weekday is its own times U(1 - DRIFT, 1 + DRIFT)
STD_FACTOR = (0.9, 1.1)  # of the ratio of deviation and mean
LOW, HIGH = (0.2, 0.4), (1.5, 2.5)  # mean and ratio at a weekend, per service and day, over those of a weekday


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Week:
    """What every service uses and asks for on every day."""

    weekend: BoolArray  # (day,)
    mean: FloatArray  # (day, workload) base units
    std: FloatArray  # (day, workload)
    replicas: IntArray  # (day, workload) containers that shall run; at a weekend those of the day before

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
    ratio = np.array([column.std / column.mean for column in TABLE_5]) * rng.uniform(*STD_FACTOR, size=shape)
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
    """The cluster of one day, with the containers that shall run."""
    return cluster_of(workloads_of(week.mean[day], week.std[day]), week.replicas[day], machines, alpha)
