"""What a loop tells to whoever listens: a controller writes it on the objects of its cluster, counts it, or shows it."""

from collections.abc import Sequence

from bayplan.model.record import Hold, PlannedMove, RecordedPlan, RecordedStep, Turn
from bayplan.operate.orchestrator import Observation


class LoopListener:
    """Told what was written down, just after it was. Each call does nothing here; override those that count.

    The loop waits for each of them: they return at once, and raise nothing.
    """

    def observed(self, observation: Observation) -> None:
        """An observation passed the sanity checks."""

    def turn_begun(self, turn: Turn) -> None:
        """A turn begins."""

    def turn_ended(self, turn: Turn) -> None:
        """A turn has come to its verdict."""

    def plan_saved(self, plan: RecordedPlan) -> None:
        """A plan was made, or has another status or order by now."""

    def steps_begun(self, steps: Sequence[RecordedStep]) -> None:
        """These steps are about to be sent."""

    def steps_ended(self, steps: Sequence[RecordedStep]) -> None:
        """What became of these steps is known."""

    def given_up(self, plan: RecordedPlan, move: PlannedMove, why: str) -> None:
        """A container of a plan is left alone from now on."""

    def held(self, holds: Sequence[Hold]) -> None:
        """These workloads are left alone until a time."""
