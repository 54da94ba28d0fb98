"""What every decision returns."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, TypeVar

from bayplan.errors import ModelError

S = TypeVar("S")


class Status(StrEnum):
    """How a decision ended."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    OUT_OF_BUDGET = "out-of-budget"  # stopped before any solution was found

    @property
    def has_solution(self) -> bool:
        """Is there an answer to look at?"""
        return self in (Status.OPTIMAL, Status.FEASIBLE)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something is not in the answer: 'web: 0/12 machines fit (9 short of cpu, 3 not allowed)'."""

    subject: str
    text: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.text}"


GAINS = frozenset({"affinity", "value", "served"})  # scores of which more is better; of all others less
SLACK = 1e-9  # relative: a score may pass its bound by rounding
OPTIMAL_GAP = 1e-4  # relative: what integer programming solvers call optimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(Generic[S]):
    """`solution` is None exactly when `status` says there is none."""

    status: Status
    solution: S | None
    score: Mapping[str, float] = field(default_factory=dict)
    goal: str = "total"  # the score that the decision was after
    bound: float | None = None  # proven limit of the goal's score, or None
    left_out: tuple[Reason, ...] = ()  # what is not in the answer, each with why
    still_violated: tuple[str, ...] = ()  # rules that the input violates and the answer too, or why there is no answer
    notes: tuple[str, ...] = ()  # what a user should know about how the answer was made
    seconds: float = 0.0

    def __post_init__(self) -> None:
        if (self.solution is not None) != self.status.has_solution:
            raise ModelError(f"status {self.status} with{'out' if self.solution is None else ''} a solution")
        if self.bound is not None:
            self._expect_a_bound(self.bound)

    def _expect_a_bound(self, bound: float) -> None:
        if not math.isfinite(bound):
            raise ModelError(f"a bound of {bound} says nothing")
        if self.solution is None:
            return
        value = self.score.get(self.goal, math.nan)
        if not math.isfinite(value):
            raise ModelError(f"a bound of {self.goal} needs a score of that name, not {value}")
        distance = bound - value if self.goal in GAINS else value - bound
        if distance < -SLACK * max(1.0, abs(value)):
            raise ModelError(f"{self.goal} {value} passes its bound {bound}: that is no bound")
        if self.status is Status.OPTIMAL and distance > OPTIMAL_GAP * max(1.0, abs(value)):
            raise ModelError(f"{self.goal} {value} is called optimal, but its bound is {bound}")

    @property
    def gap(self) -> float | None:
        """How far the goal's score may be from the best, relative to the score; None if nothing is proven."""
        if self.bound is None or self.solution is None:
            return None
        value = self.score[self.goal]
        distance = max(0.0, self.bound - value if self.goal in GAINS else value - self.bound)
        return distance / abs(value) if value else (0.0 if distance == 0 else None)
