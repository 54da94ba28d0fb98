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


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(Generic[S]):
    """`solution` is None exactly when `status` says there is none."""

    status: Status
    solution: S | None
    score: Mapping[str, float] = field(default_factory=dict)
    bound: float | None = None  # proven, or None
    reasons: tuple[Reason, ...] = ()
    seconds: float = 0.0

    def __post_init__(self) -> None:
        if (self.solution is not None) != self.status.has_solution:
            raise ModelError(f"status {self.status} with{'out' if self.solution is None else ''} a solution")
