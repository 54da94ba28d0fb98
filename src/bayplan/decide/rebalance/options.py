"""What every way to rebalance takes and gives."""

import math
from dataclasses import dataclass
from typing import Protocol

from bayplan.errors import ModelError
from bayplan.model import Budget, Placement, Progress, Result
from bayplan.model.problem import Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class RebalanceOptions:
    """Parameters of the published method; other methods read what they know."""

    delta: float = 0.02  # share of the servers at either end that Algorithm 3 works on
    safety: float = 0.6  # a server is hot above this utilisation
    target: float | None = None  # stop once the objective is no more than this

    def __post_init__(self) -> None:
        if not 0 < self.delta <= 0.5:
            raise ModelError(f"delta is {self.delta}; expected a share of the servers above 0 and at most 0.5")
        if not 0 <= self.safety <= 1:
            raise ModelError(f"safety is {self.safety}; expected a utilisation from 0 to 1")
        if self.target is not None and math.isnan(self.target):
            raise ModelError("target is not a number; expected a value of the objective")


class Rebalancer(Protocol):
    """A way to choose which running containers move, and where to."""

    def __call__(
        self, problem: Problem, options: RebalanceOptions, *, budget: Budget, seed: int, progress: Progress
    ) -> Result[Placement]:
        """The best placement found. Containers without a machine stay without."""
        ...
