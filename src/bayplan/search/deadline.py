"""How far a search has come, by the clock or by its steps, and whether it must stop."""

from collections.abc import Callable
from dataclasses import dataclass

from bayplan.model import Clock, Placement, Progress, Tick
from bayplan.model.interrupt import StopFlag


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadline:
    """The limits that all walkers of one search share."""

    clock: Clock
    stop: StopFlag
    progress: Progress
    keep: float = 0.0  # seconds of the budget that are needed after the walk
    steps: int | None = None  # steps of a walker, at most

    @property
    def seconds_left(self) -> float:
        """Until the walk has to end; infinite without a limit."""
        return self.clock.seconds_left - self.keep

    def share(self, steps: int, began: float) -> float:
        """The part of the walk that is done, 1 or more if it is over; `began` is the clock's time when it began."""
        if self.stop.requested:
            return 1.0
        limit = self.clock.budget.seconds
        by_time = 0.0 if limit is None else (self.clock.seconds - began) / max(1e-9, limit - self.keep - began)
        return max(by_time, 0.0 if self.steps is None else steps / max(1, self.steps))

    def report(self, share: float, score: float, best: Callable[[], Placement]) -> None:
        """Report how far the walk has come, and what makes the best placement that it has seen."""
        self.progress(Tick(stage="searching", done=min(1.0, share), score=score, solution=best))
