"""What a user may ask of a scheduler, and what every scheduler is."""

from dataclasses import dataclass
from typing import Protocol

from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.model import Budget, Progress, Result, Schedule, TimedRequests


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScheduleOptions:
    """Wishes that are not rules."""

    bound: bool = True  # also look for a proven upper bound, within the budget
    forecast: TimedRequests | None = None  # online: requests like those to come; None: prices are learnt from the stream


class Scheduler(Protocol):
    """A way to choose requests and machines."""

    def __call__(
        self, problem: ScheduleProblem, options: ScheduleOptions, *, budget: Budget, seed: int, progress: Progress
    ) -> Result[Schedule]:
        """A schedule that no machine is too small for. The goal is `value`."""
        ...
