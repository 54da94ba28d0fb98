"""What a job may take: seconds for a worker whose clock may be another one, iterations, threads; and equal shares of a clock."""

import math
import time
from typing import NamedTuple

from bayplan.model import Budget, Clock

LATE = 1.0, 0.2  # seconds, and share of the seconds, after which jobs that do not end are given up


def given_up_after(left: float, seconds: float | None = None) -> float | None:
    """Seconds after which jobs that have not ended are given up, with this much of the seconds left; None without a limit."""
    return None if math.isinf(left) else max(0.0, left) + LATE[0] + LATE[1] * max(0.0, left if seconds is None else seconds)


class JobTime(NamedTuple):
    """How long a job may take, for a worker whose clock may be another one."""

    until: float  # a moment of `time.time`, so that the time in which a worker starts counts, too
    seconds: float  # infinite without a limit

    @classmethod
    def of(cls, seconds: float) -> "JobTime":
        """This many seconds from now on."""
        return cls(time.time() + seconds, seconds)

    @classmethod
    def until_moment(cls, ends: float) -> "JobTime":
        """The time until a moment of `time.perf_counter` of this process; infinite if that is."""
        return cls.of(max(0.0, ends - time.perf_counter()))

    @property
    def left(self) -> float:
        """Seconds from now on."""
        return max(0.0, min(self.seconds, self.until - time.time()))

    @property
    def ends(self) -> float:
        """The moment of `time.perf_counter` of the worker at which the time is over."""
        return time.perf_counter() + self.left


class JobLimits(NamedTuple):
    """What one job may take."""

    time: JobTime
    iterations: int | None
    threads: int

    @property
    def budget(self) -> Budget:
        """From now on."""
        left = self.time.left
        return Budget(seconds=None if math.isinf(left) else left, iterations=self.iterations, threads=self.threads)


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
        return JobLimits(JobTime.of(seconds), budget.iterations, threads)

    @property
    def late(self) -> float | None:
        """Seconds from now on after which jobs that have not ended are given up; None without a limit of time."""
        return given_up_after(self.end - self.clock.seconds)


def equal_shares(jobs: int, clock: Clock, share: float = 1.0) -> EqualShares:
    """For jobs that end when this share of the clock's seconds is over."""
    seconds = clock.budget.seconds
    return EqualShares(jobs, clock, math.inf if seconds is None else share * seconds)
