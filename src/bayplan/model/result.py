"""What every decision returns."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, NamedTuple, TypeVar

from bayplan.errors import InternalError, ModelError

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
OPTIMAL_GAP = 1e-8  # relative: score and bound have met; bounds are raised by less than this to be safe


class Verdict(NamedTuple):
    """What a bound says about a solution: the status, and the bound without rounding errors."""

    status: Status
    bound: float | None


def verdict(goal: str, value: float, bound: float | None) -> Verdict:
    """Optimal exactly if value and proven bound have met, in every verb; InternalError if the value passes the bound.

    All tests are relative to the larger of the two, so the unit in which values are written never matters. A value that passes
    its bound by no more than `SLACK` does so by rounding: then the bound is the value.

    >>> verdict("value", 1e-5, 9e-5).status, verdict("value", 9e-5, 9e-5).status
    (<Status.FEASIBLE: 'feasible'>, <Status.OPTIMAL: 'optimal'>)
    """
    if bound is None:
        return Verdict(Status.FEASIBLE, None)
    _expect_not_passed(goal, value, bound)
    safe = max(value, bound) if goal in GAINS else min(value, bound)
    return Verdict(Status.OPTIMAL if gap_closed(value, safe) else Status.FEASIBLE, safe)


def gap_closed(value: float, bound: float) -> bool:
    """Have a value and its bound met, relative to the larger of the two?"""
    return abs(bound - value) <= OPTIMAL_GAP * max(abs(value), abs(bound))


def relative_gap(goal: str, value: float, bound: float) -> float | None:
    """How far a value may be from the best, relative to the value; None for a value of 0 that is not the best."""
    distance = max(0.0, _distance(goal, value, bound))
    return distance / abs(value) if value else (0.0 if distance == 0 else None)


def _distance(goal: str, value: float, bound: float) -> float:
    """How much better than the value the bound is."""
    return bound - value if goal in GAINS else value - bound


def _expect_not_passed(goal: str, value: float, bound: float) -> None:
    if _distance(goal, value, bound) < -SLACK * max(abs(value), abs(bound)):
        raise InternalError("E2101", f"{goal} {value!r} passes its bound {bound!r}: that is no bound")


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
        _expect_not_passed(self.goal, value, bound)
        if self.status is Status.OPTIMAL and not gap_closed(value, bound):
            raise ModelError(f"{self.goal} {value!r} is called optimal, but its bound is {bound!r}")

    @property
    def gap(self) -> float | None:
        """How far the goal's score may be from the best, relative to the score; None if nothing is proven."""
        if self.bound is None or self.solution is None:
            return None
        return relative_gap(self.goal, self.score[self.goal], self.bound)
