"""Failures that can be injected while a plan is carried out. None stands for every machine, or every batch."""

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
    """A container cannot be deleted: it keeps running."""

    container: int
    machine: int | None = None
    batch: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineDies:
    """Everything on a machine is down from the start of a batch on, and nothing can be done there."""

    machine: int
    batch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StepHangs:
    """A step of a container hangs. It counts as not done."""

    container: int
    batch: int | None = None


Failure: TypeAlias = CreateFails | DeleteFails | MachineDies | StepHangs


def hits(failure: Failure, batch: int, step: Step) -> bool:
    """Is this step hit by the failure? The death of a machine is no failure of one step."""
    if isinstance(failure, MachineDies):
        return False
    concerned = failure.batch in (None, batch) and failure.container == step.container
    if isinstance(failure, StepHangs):
        return concerned
    action = Action.CREATE if isinstance(failure, CreateFails) else Action.DELETE
    return concerned and step.action is action and failure.machine in (None, step.machine)
