"""What every packer takes and gives."""

import math
from dataclasses import dataclass
from typing import Protocol

from bayplan.decide.pack.problem import PackProblem
from bayplan.engine import Engine
from bayplan.errors import ModelError
from bayplan.model import Budget, IntArray, Placement, Progress, Result


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PackOptions:
    """Parameters of the packers; each reads those that it knows."""

    n_sigma: float | None = None  # bf-nsigma: deviations that count as size; None: D(alpha)
    patterns: IntArray | None = None  # (pattern, workload) of an earlier day, to begin from
    engine: str | Engine | None = None  # where patterns are priced, once that is worth it; None: in this process

    def __post_init__(self) -> None:
        if self.n_sigma is not None and not 0 <= self.n_sigma < math.inf:
            raise ModelError(f"n_sigma is {self.n_sigma}; expected a number of 0 or more")


class Packer(Protocol):
    """A method to pack. What does not fit is left out, with its reason."""

    def __call__(
        self, problem: PackProblem, options: PackOptions, *, budget: Budget, seed: int, progress: Progress
    ) -> Result[Placement]:
        """A placement that keeps every chance and capacity constraint, and what was placed before."""
        ...
