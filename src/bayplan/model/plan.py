"""Plans, and what runs while one is carried out: batches of steps, containers on none, one or two machines.

Applying a step is written once, here: `add_instance`, `remove_instance` and `apply_step`. Only the referee of plans has its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

import numpy as np

from bayplan.errors import ModelError
from bayplan.model.arrays import IntArray, ints
from bayplan.model.fingerprint import Fingerprint
from bayplan.model.placement import UNPLACED, Placement

MachineList: TypeAlias = IntArray | list[int]  # (container,) that may be written to


class Action(StrEnum):
    """What a step does."""

    CREATE = "create"
    DELETE = "delete"

    @property
    def opposite(self) -> "Action":
        """The action that takes this one back."""
        return Action.DELETE if self is Action.CREATE else Action.CREATE


@dataclass(frozen=True, slots=True)
class Step:
    """Create or delete one container on one machine."""

    action: Action
    container: int
    machine: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Batches of steps. The steps of a batch may run at the same time; a batch starts when the one before has ended."""

    batches: tuple[tuple[Step, ...], ...]
    made_for: Fingerprint | None = None  # the state that it starts from, where that is known

    def steps(self) -> Iterator[Step]:
        """All steps, batch by batch."""
        for batch in self.batches:
            yield from batch

    def __len__(self) -> int:
        return sum(map(len, self.batches))

    def inverse(self, batches_done: int | None = None) -> "Plan":
        """The plan that leads back to the start when the first batches have been carried out, or all of them.

        As safe as the plan: the worst states of a batch are the same from either side.
        """
        done = self.batches if batches_done is None else self.batches[:batches_done]
        return Plan(
            batches=tuple(
                tuple(Step(step.action.opposite, step.container, step.machine) for step in batch) for batch in reversed(done)
            )
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Running:
    """A placement in which a container may run on a second machine too, because it is about to leave one of them."""

    machine_of: IntArray  # (container,) UNPLACED where it runs nowhere
    second: IntArray  # (container,) the other machine, UNPLACED where there is none

    def __post_init__(self) -> None:
        object.__setattr__(self, "machine_of", ints(self.machine_of))
        object.__setattr__(self, "second", ints(self.second))
        if self.machine_of.shape != self.second.shape or self.machine_of.ndim != 1:
            raise ModelError("the first and the second machines are one each per container")
        twice = self.second != UNPLACED
        if (self.machine_of[twice] == UNPLACED).any() or (self.machine_of[twice] == self.second[twice]).any():
            raise ModelError("a container with a second machine runs on a first, another one")

    @classmethod
    def of(cls, placement: Placement) -> "Running":
        """Every container on its one machine."""
        return cls(machine_of=placement.machine_of, second=ints(np.full(len(placement.machine_of), UNPLACED)))

    @property
    def placement(self) -> Placement:
        """The first machine of each container."""
        return Placement(machine_of=self.machine_of)

    @property
    def doubled(self) -> IntArray:
        """Containers that run twice."""
        return ints(np.flatnonzero(self.second != UNPLACED))

    def pairs(self) -> IntArray:
        """(instance, 2) container and machine of everything that runs."""
        first, twice = np.flatnonzero(self.machine_of != UNPLACED), np.flatnonzero(self.second != UNPLACED)
        machine = np.r_[self.machine_of[first], self.second[twice]]
        return ints(np.column_stack([np.r_[first, twice], machine]))

    def after(self, plan: Plan) -> "Running":
        """What runs when all steps of a plan have been made; ModelError if one of them cannot be."""
        first, second = self.machine_of.copy(), self.second.copy()
        for step in plan.steps():
            if not apply_step(step, first, second):
                c, m = step.container, step.machine
                if step.action is Action.DELETE:
                    raise ModelError(f"container {c} is to be deleted on machine {m}, where it does not run")
                raise ModelError(f"container {c} is to be created on machine {m}, but runs on {(int(first[c]), int(second[c]))}")
        return Running(machine_of=ints(first), second=ints(second))


def apply_step(step: Step, first: MachineList, second: MachineList) -> bool:
    """Make a step in place, if it can be made: `first` and `second` are the machines of each container, as in `Running`."""
    c, m = step.container, step.machine
    runs_there = m in (first[c], second[c])
    if step.action is Action.DELETE:
        if runs_there:
            remove_instance(first, second, c, m)
        return runs_there
    if runs_there or second[c] != UNPLACED:
        return False
    add_instance(first, second, c, m)
    return True


def add_instance(first: MachineList, second: MachineList, c: int, m: int) -> None:
    """A container that runs on at most one machine comes to machine `m`."""
    if first[c] == UNPLACED:
        first[c] = m
    else:
        second[c] = m


def remove_instance(first: MachineList, second: MachineList, c: int, m: int) -> None:
    """A container leaves machine `m`, where it runs; its other machine, if there is one, becomes the first."""
    if first[c] == m:
        first[c] = second[c]
    second[c] = UNPLACED
