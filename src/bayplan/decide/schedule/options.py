"""The options of a scheduler, and the signature that every scheduler has."""

from dataclasses import dataclass
from typing import Protocol

from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.model import Budget, Progress, Result, Schedule, TimedRequests


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScheduleOptions:
    """How requests are scheduled: all have a default."""

    bound: bool = True  # also find a proven upper bound, within the budget
    forecast: TimedRequests | None = None  # for `online`: requests like those to come; None: prices are learnt from the stream


class Scheduler(Protocol):
    """A method that chooses which requests to serve, and their machines."""

    def __call__(
        self, problem: ScheduleProblem, options: ScheduleOptions, *, budget: Budget, seed: int, progress: Progress
    ) -> Result[Schedule]:
        """A schedule within the capacity of every machine. The goal is `value`."""
        ...
