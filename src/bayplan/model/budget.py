"""How long a decision may take, and how it tells the caller where it stands."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from bayplan.errors import ModelError


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Limits of one decision; None means no limit of that kind.

    >>> import bayplan as bp
    >>> budget = bp.Budget(iterations=1_000)  # the same seed and iterations give the same answer
    >>> shop = bp.generate("boutique")
    >>> bp.rebalance(shop, budget=budget).moves == bp.rebalance(shop, budget=budget).moves
    True
    """

    seconds: float | None = None  # wall time
    iterations: int | None = None  # of the method's own main loop: the same count gives the same answer
    threads: int = 1

    def __post_init__(self) -> None:
        if (self.seconds is not None and not self.seconds >= 0) or (self.iterations is not None and self.iterations < 0):
            raise ModelError("a budget is not negative")
        if self.threads < 1:
            raise ModelError("a budget has at least one thread")

    def share(self, share: float) -> "Budget":
        """A part of the seconds; iterations and threads stay, and so does a budget without a limit of time."""
        return self if self.seconds is None else replace(self, seconds=share * self.seconds)

    def clock(self, already: float = 0.0) -> "Clock":
        """Start counting; `already` seconds were used before, such as those of starting the process."""
        return Clock(budget=self, started=time.perf_counter() - already)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """A budget that runs."""

    budget: Budget
    started: float

    @property
    def seconds(self) -> float:
        """Wall time since the start."""
        return time.perf_counter() - self.started

    @property
    def seconds_left(self) -> float:
        """Until the budget ends; infinite without a limit of time, negative afterwards."""
        return float("inf") if self.budget.seconds is None else self.budget.seconds - self.seconds

    def left(self, share: float = 1.0) -> float | None:
        """What a part of the work may use that gets this share of the time left; None without a limit, never negative."""
        return None if self.budget.seconds is None else share * max(0.0, self.seconds_left)

    def expired(self, iterations: int = 0) -> bool:
        """Is the budget used up after this many iterations?"""
        out_of_time = self.budget.seconds is not None and self.seconds >= self.budget.seconds
        return out_of_time or (self.budget.iterations is not None and iterations >= self.budget.iterations)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """Where a long piece of work stands."""

    stage: str  # "reading", "searching"
    done: float  # share of the stage, 0..1
    score: float | None = None  # the best so far, where there is one
    solution: Callable[[], object] | None = None  # makes that best, where the method can; call it before the callback ends


Progress: TypeAlias = Callable[[Tick], None]


def silent(tick: Tick) -> None:
    """A progress callback that does nothing."""
