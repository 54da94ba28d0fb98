"""What became of a plan that was carried out: each step's outcome, and where containers run now."""

from dataclasses import dataclass
from enum import StrEnum

from bayplan.model import Migration, Running, Step


class StepOutcome(StrEnum):
    """What became of a step."""

    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"  # its effect held already
    HUNG = "hung"  # it never ended, and counts as not done

    @property
    def is_failure(self) -> bool:
        """Must the run stop?"""
        return self in (StepOutcome.FAILED, StepOutcome.HUNG)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionEvent:
    """One thing that happened."""

    batch: int  # index into the plan's batches; sentences count from 1
    step: Step | None  # None for the death of a machine
    outcome: StepOutcome
    sentence: str

    def __str__(self) -> str:
        return self.sentence


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Execution:
    """A plan that was carried out, to its end or until something failed."""

    running: Running  # at the end
    stopped: int | None  # the batch in which something failed: no later one was begun; None if all went well
    events: tuple[ExecutionEvent, ...]  # in the order in which they happened
    failed: tuple[Step, ...]  # steps that failed or hung
    dead: tuple[int, ...]  # machines that died

    @property
    def why(self) -> str:
        """Why the run stopped, in a sentence; empty if it did not."""
        reasons = [event.sentence for event in self.events if event.outcome.is_failure]
        if self.stopped is None or not reasons:
            return ""
        return reasons[0] + (f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else "")

    def remaining(self, migration: Migration) -> Migration:
        """What is left of the migration that the plan was for: see `Migration.remaining`."""
        return migration.remaining(self.running, self.dead)
