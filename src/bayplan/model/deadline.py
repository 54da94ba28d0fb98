"""How far a walk has come, by the clock or by its steps, and whether it shall stop."""

from dataclasses import dataclass

from bayplan.model import Clock, Progress, Tick
from bayplan.model.interrupt import StopFlag


@dataclass(frozen=True, slots=True, kw_only=True)
class Guide:
    """What all walkers of one search share."""

    clock: Clock
    stop: StopFlag
    progress: Progress
    keep: float = 0.0  # seconds of the budget that are needed after the walk
    steps: int | None = None  # most steps of a walker

    @property
    def seconds_left(self) -> float:
        """Until the walk has to end; infinite without a limit."""
        limit = self.clock.budget.seconds
        return float("inf") if limit is None else limit - self.keep - self.clock.seconds

    def share(self, steps: int, began: float) -> float:
        """The part of the walk that is done, 1 or more if it is over; `began` is the clock's time when it began."""
        if self.stop.requested:
            return 1.0
        limit = self.clock.budget.seconds
        by_time = 0.0 if limit is None else (self.clock.seconds - began) / max(1e-9, limit - self.keep - began)
        return max(by_time, 0.0 if self.steps is None else steps / max(1, self.steps))

    def tell(self, share: float, score: float) -> None:
        """Report where the walk stands."""
        self.progress(Tick(stage="searching", done=min(1.0, share), score=score))
