"""What every method to rebalance takes and gives."""

import math
from dataclasses import dataclass
from typing import Protocol

from bayplan.errors import ModelError
from bayplan.model import Budget, Placement, Progress, Result
from bayplan.model.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class RebalanceOptions:
    """Parameters of the rebalancing methods; each reads those that it knows."""

    delta: float = 0.02  # share of the machines at either end that [FreeContainer] Algorithm 3 works on
    safety: float = 0.6  # a machine is hot above this utilisation
    safety_over_mean: float | None = None  # hot above this many times the mean over machines; replaces `safety`
    target: float | None = None  # stop once the objective is no more than this

    def __post_init__(self) -> None:
        if not 0 < self.delta <= 0.5:
            raise ModelError(f"delta is {self.delta}; expected a share of the machines above 0 and at most 0.5")
        if not 0 <= self.safety <= 1:
            raise ModelError(f"safety is {self.safety}; expected a utilisation from 0 to 1")
        if self.safety_over_mean is not None and not 0 < self.safety_over_mean < math.inf:
            raise ModelError(f"safety_over_mean is {self.safety_over_mean}; expected a finite factor above 0")
        if self.target is not None and math.isnan(self.target):
            raise ModelError("target is not a number; expected a value of the objective")


class Rebalancer(Protocol):
    """A method that chooses which running containers move, and where to."""

    def __call__(
        self, problem: Problem, options: RebalanceOptions, *, budget: Budget, seed: int, progress: Progress
    ) -> Result[Placement]:
        """The best placement that the method sees. Unplaced containers stay unplaced."""
        ...
