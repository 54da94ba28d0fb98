"""What can go wrong while a plan is carried out. None stands for every machine, or every batch."""

from dataclasses import dataclass
from typing import TypeAlias

from bayplan.model import Action, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateFails:
    """A container cannot be created."""

    container: int
    machine: int | None = None
    batch: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteFails:
    """A container cannot be deleted: it goes on running."""

    container: int
    machine: int | None = None
    batch: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineDies:
    """Everything on a machine is down from the start of a batch on, and nothing can be done there."""

    machine: int
    batch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NeverEnds:
    """A step of a container hangs. It counts as not done."""

    container: int
    batch: int | None = None


Failure: TypeAlias = CreateFails | DeleteFails | MachineDies | NeverEnds


def hits(failure: Failure, batch: int, step: Step) -> bool:
    """Does a failure of one step concern this one? A machine's death is not of one step."""
    if isinstance(failure, MachineDies):
        return False
    in_time = failure.batch in (None, batch) and failure.container == step.container
    if isinstance(failure, NeverEnds):
        return in_time
    action = Action.CREATE if isinstance(failure, CreateFails) else Action.DELETE
    return in_time and step.action is action and failure.machine in (None, step.machine)
