"""What every placement method takes and gives."""

from dataclasses import dataclass
from typing import Protocol

from bayplan.errors import ModelError
from bayplan.model import Budget, Placement, Progress, Result
from bayplan.model.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceOptions:
    """What can be chosen."""

    candidates: int = 2  # d of 000 Algorithm 1: machines among which the service decides

    def __post_init__(self) -> None:
        if self.candidates < 1:
            raise ModelError(f"{self.candidates} candidate machines: expected at least 1")


class Placer(Protocol):
    """Give the containers without a machine one, and move nothing that runs.

    What fits nowhere is left out with a reason. The same seed and number of iterations give the same answer.
    """

    def __call__(
        self, problem: Problem, options: PlaceOptions, *, budget: Budget, seed: int, progress: Progress
    ) -> Result[Placement]:
        """The placement with the new containers in it."""
