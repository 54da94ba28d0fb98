"""Kernels in short turns: between two turns the clock, an interruption and the reader of the progress get their say."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from bayplan.model import Clock, Progress, Tick
from bayplan.model.interrupt import Stop

TURN_SECONDS = 0.07
MOST_PER_TURN = 1_000_000


@dataclass(slots=True, kw_only=True)
class Rounds:
    """Counts the iterations of one decision. The length of a turn depends on the clock, what is computed does not."""

    stage: str
    clock: Clock
    stop: Stop
    progress: Progress
    score: Callable[[], float]  # the best objective so far
    target: float | None = None
    done: int = 0
    _pace: float = 20.0  # iterations per turn

    @property
    def over(self) -> bool:
        """Is it time to answer?"""
        reached = self.target is not None and self.score() <= self.target
        return reached or self.stop.asked or self.clock.expired(self.done)

    def run(self, iterate: Callable[[int], int], iterations: int | None = None) -> bool:
        """Let `iterate` run at most so many iterations; False once it stopped by itself.

        `iterate(n)` runs up to n iterations and returns how many it did: fewer than n if there is nothing left to do.
        """
        left = MOST_PER_TURN if iterations is None else iterations
        while left > 0 and not self.over:
            limit = self.clock.budget.iterations
            turn = min(left, int(self._pace), left if limit is None else limit - self.done)
            before = time.perf_counter()
            did = iterate(turn)
            self._learn(did, time.perf_counter() - before)
            self.done += did
            left -= did if iterations is not None else 0
            self.progress(Tick(stage=self.stage, done=self._share(), score=self.score()))
            if did < turn:
                return False
        return True

    def _learn(self, did: int, seconds: float) -> None:
        """Set the pace so that a turn takes about TURN_SECONDS."""
        factor = TURN_SECONDS / max(seconds, 1e-6) if did else 1.0
        self._pace = min(MOST_PER_TURN, max(1.0, self._pace * min(4.0, max(0.1, factor))))

    def _share(self) -> float:
        budget = self.clock.budget
        by_time = self.clock.seconds / budget.seconds if budget.seconds else 0.0
        by_count = self.done / budget.iterations if budget.iterations else 0.0
        return min(1.0, max(by_time, by_count))
