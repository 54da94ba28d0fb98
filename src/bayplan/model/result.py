"""What every decision returns."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(Generic[S]):
    """`solution` is None exactly when `status` says there is none."""

    status: Status
    solution: S | None
    score: Mapping[str, float] = field(default_factory=dict)
    goal: str = "total"  # the score that the decision was after
    bound: float | None = None  # proven limit of the goal's score, or None
    reasons: tuple[Reason, ...] = ()
    seconds: float = 0.0

    def __post_init__(self) -> None:
        if (self.solution is not None) != self.status.has_solution:
            raise ModelError(f"status {self.status} with{'out' if self.solution is None else ''} a solution")
        beyond = self._beyond_bound()
        if beyond is not None and beyond > SLACK * max(1.0, abs(self.score[self.goal])):
            raise ModelError(f"{self.goal} {self.score[self.goal]} passes its bound {self.bound}: that is no bound")

    @property
    def gap(self) -> float | None:
        """How far the goal's score may be from the best, relative to the score; None if nobody knows."""
        beyond = self._beyond_bound()
        if beyond is None:
            return None
        value = abs(self.score[self.goal])
        return max(0.0, -beyond) / value if value else (0.0 if beyond >= 0 else None)

    def _beyond_bound(self) -> float | None:
        """By how much the score is better than its bound allows; negative where there is room."""
        if self.bound is None or self.solution is None or self.goal not in self.score:
            return None
        better = self.score[self.goal] - self.bound
        return better if self.goal in GAINS else -better
