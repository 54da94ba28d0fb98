"""A plan as arrays: what each batch creates and deletes, and what runs before it."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bayplan.model import UNPLACED, BoolArray, IntArray, Placement, Plan, Running, Step


class Instances(NamedTuple):
    """Containers on machines: one entry per container and machine."""

    c: IntArray  # (instance,)
    m: IntArray  # (instance,)

    @classmethod
    def of(cls, running: Running) -> "Instances":
        """Everything that runs."""
        pairs = running.pairs()
        return cls(c=pairs[:, 0], m=pairs[:, 1])

    @classmethod
    def placed(cls, placement: Placement) -> "Instances":
        """Everything that has a machine."""
        return cls(c=placement.placed, m=placement.machine_of[placement.placed])

    def where(self, some: BoolArray) -> "Instances":
        """Those that `some` marks."""
        return Instances(c=self.c[some], m=self.m[some])


class Orders(NamedTuple):
    """The steps of one batch, well formed or not."""

    create: BoolArray  # (step,) else a delete
    c: IntArray  # (step,)
    m: IntArray  # (step,)

    @classmethod
    def of(cls, steps: tuple[Step, ...]) -> "Orders":
        """The same steps as arrays."""
        return cls(
            create=np.array([step.action == "create" for step in steps], dtype=np.bool_),
            c=np.array([step.container for step in steps], dtype=np.int64),
            m=np.array([step.machine for step in steps], dtype=np.int64),
        )

    def where(self, some: BoolArray) -> "Orders":
        """Those that `some` marks."""
        return Orders(create=self.create[some], c=self.c[some], m=self.m[some])


class Wave(NamedTuple):
    """One batch of steps that can be made, and where containers run before it."""

    number: int
    first: IntArray  # (container,) before the batch
    second: IntArray  # (container,) before the batch
    creates: Instances
    deletes: Instances

    @property
    def goes_down(self) -> BoolArray:
        """(delete,) does the container run nowhere else?"""
        down: BoolArray = self.second[self.deletes.c] == UNPLACED
        return down

    def high(self) -> Instances:
        """All that may run while the steps do: everything from before, and every create."""
        before = Instances.of(Running(machine_of=self.first, second=self.second))
        return Instances(c=np.r_[before.c, self.creates.c], m=np.r_[before.m, self.creates.m])

    def after(self) -> Running:
        """What runs when the batch has ended."""
        first, second = self.first.copy(), self.second.copy()
        c, m = self.deletes
        first[c] = np.where(first[c] == m, second[c], first[c])
        second[c] = UNPLACED
        c, m = self.creates
        idle = first[c] == UNPLACED
        first[c[idle]], second[c[~idle]] = m[idle], m[~idle]
        return Running(machine_of=first, second=second)


def distinct(values: IntArray) -> IntArray:
    """Each value once, ascending. By sorting: numpy's own way, hashing, takes ten times as long on keys such as ours."""
    ordered = np.sort(values)
    return ordered[np.r_[True, ordered[1:] != ordered[:-1]]] if len(ordered) else ordered


def orders_of(plan: Plan) -> Iterator[Orders]:
    """Each batch as arrays."""
    for batch in plan.batches:
        yield Orders.of(batch)
