"""What a user may ask of a collocator, and what every collocator is."""

from dataclasses import dataclass
from typing import Protocol

from bayplan.engine import Engine
from bayplan.model import Budget, Placement, Progress, Result
from bayplan.model.problem import Problem

TRIVIAL = ("refit", "pinned")


@dataclass(frozen=True, slots=True, kw_only=True)
class CollocateOptions:
    """What a user may choose beside the objective and the rules."""

    partition: str = "multi-stage"  # a key of PARTITIONERS
    select: str = "gcn"  # a key of SELECTORS
    masters: int | None = None  # crucial workloads; None: 45 ln^0.66 N
    trivial: str = "refit"  # trivial workloads are placed anew ("refit") or stay ("pinned"): one of TRIVIAL
    move_price: float = 0.0  # gained affinity, of a total of 1, that moving the whole cluster has to be worth
    least_gain: float = 0.0  # points of total affinity below which nothing moves ([RASA] §III-B: 0.03)
    bound: bool = False  # prove how much any answer can gain?
    engine: str | Engine | None = None  # where subproblems are solved and types are priced; None: a pool, and this process


class Collocator(Protocol):
    """A way to collocate. What does not fit is left out, with its reason."""

    def __call__(
        self, problem: Problem, options: CollocateOptions, *, budget: Budget, seed: int, progress: Progress
    ) -> Result[Placement]:
        """A placement that violates no rule more than the start does; its goal is the gained affinity."""
        ...
