"""What every placement method takes and gives."""

from dataclasses import dataclass
from typing import Protocol

from bayplan.errors import ModelError
from bayplan.model import Budget, Placement, Progress, Result
from bayplan.model.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceOptions:
    """Parameters of the placement methods; each reads those that it knows."""

    candidates: int = 2  # d of [FreeContainer] Algorithm 1: machines among which the service decides

    def __post_init__(self) -> None:
        if self.candidates < 1:
            raise ModelError(f"{self.candidates} candidate machines: expected at least 1")


class Placer(Protocol):
    """A method that gives unplaced containers a machine and moves nothing that runs.

    What fits nowhere is left out with a reason. The same seed and number of iterations give the same answer.
    """

    def __call__(
        self, problem: Problem, options: PlaceOptions, *, budget: Budget, seed: int, progress: Progress
    ) -> Result[Placement]:
        """The placement with the new containers in it."""
