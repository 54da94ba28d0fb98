"""Where containers run while they are being moved: on none, one or two machines each."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayplan.errors import ModelError
from bayplan.model.arrays import IntArray, ints
from bayplan.model.placement import UNPLACED, Placement

if TYPE_CHECKING:
    from bayplan.model.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Running:
    """A placement in which a container may stand on a second machine too, because it is about to leave one of them."""

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

    def after(self, plan: "Plan") -> "Running":
        """What runs when all steps of a plan have been made; ModelError if one of them cannot be."""
        machine_of, second = self.machine_of.copy(), self.second.copy()
        for step in plan.steps():
            c, m = step.container, step.machine
            here = (int(machine_of[c]), int(second[c]))
            if step.action == "delete":
                if m not in here:
                    raise ModelError(f"container {c} is to be deleted on machine {m}, where it does not run")
                machine_of[c], second[c] = (here[1] if here[0] == m else here[0]), UNPLACED
            elif m in here or UNPLACED not in here:
                raise ModelError(f"container {c} is to be created on machine {m}, but runs on {here}")
            elif here[0] == UNPLACED:
                machine_of[c] = m
            else:
                second[c] = m
        return Running(machine_of=ints(machine_of), second=ints(second))
