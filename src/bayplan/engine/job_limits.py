"""What one of several equal jobs may take of the time and of the iterations of all."""

import math
import time
from typing import NamedTuple

from bayplan.model import Budget, Clock

LATE = 1.0, 0.2  # seconds, and share of the seconds, after which jobs that do not end are given up


class JobLimits(NamedTuple):
    """What one job may take."""

    seconds: float  # infinite without a limit
    until: float  # a moment of `time.time`, so that the time in which a worker starts counts, too
    iterations: int | None
    threads: int

    @property
    def budget(self) -> Budget:
        """From now on."""
        left = min(self.seconds, self.until - time.time())
        return Budget(seconds=None if math.isinf(left) else max(0.0, left), iterations=self.iterations, threads=self.threads)


class EqualShares(NamedTuple):
    """Jobs that run as many at a time as there are slots: each such round has its part of the time until the end.

    By iterations nothing depends on the slots: each job has all iterations, and one thread.
    """

    jobs: int
    clock: Clock
    end: float  # by the clock; infinite without a limit of time

    def of(self, number: int, slots: int) -> JobLimits:
        """The limits of a job that begins now; `slots`: of the engine, which may change."""
        slots = max(1, min(slots, self.jobs))
        rounds = -(-self.jobs // slots) - number // slots
        seconds, budget = max(0.0, self.end - self.clock.seconds) / max(1, rounds), self.clock.budget
        threads = max(1, budget.threads // slots) if budget.iterations is None else 1
        return JobLimits(seconds, time.time() + seconds, budget.iterations, threads)

    @property
    def late(self) -> float | None:
        """Seconds from now on after which jobs that have not ended are given up; None without a limit of time."""
        left = max(0.0, self.end - self.clock.seconds)
        return None if math.isinf(left) else left * (1 + LATE[1]) + LATE[0]


def equal_shares(jobs: int, clock: Clock, share: float = 1.0) -> EqualShares:
    """For jobs that end when this share of the clock's seconds is over."""
    seconds = clock.budget.seconds
    return EqualShares(jobs, clock, math.inf if seconds is None else share * seconds)
