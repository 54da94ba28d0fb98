"""Options of a migrator, and the signature that every migrator has."""

from dataclasses import dataclass
from typing import Protocol

from bayplan.model import BoolArray, Budget, FloatArray, Migration, Plan, Progress, Result


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MigrateOptions:
    """Preferences that are not rules."""

    weight: FloatArray | None = None  # (container,) heavier ones move later; None: all alike
    never: BoolArray | None = None  # (container,) stays where it is, whatever the target says
    stopovers: bool = True  # may a container go by way of a third machine?


class Migrator(Protocol):
    """A method that orders moves.

    The result's solution is a plan that is safe from its first step to its last, complete or not; `left_out` names each
    container that does not arrive and what keeps it. INFEASIBLE if the target itself violates a rule.
    """

    def __call__(
        self, migration: Migration, options: MigrateOptions, *, budget: Budget, seed: int, progress: Progress
    ) -> Result[Plan]:
        """A safe plan."""
        ...
