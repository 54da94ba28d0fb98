"""Types of machines: those that can run the same patterns and gain the same with them."""

from dataclasses import dataclass

import numpy as np

from bayplan.decide.collocate.task import Task
from bayplan.model import IntArray, ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Types:
    """Machines of equal room, equal allow column, equal `spare` and equal `fixed` are one type."""

    of_machine: IntArray  # (machine,) its type
    first: IntArray  # (type,) the first machine of the type
    number: IntArray  # (type,) machines of the type

    def machines(self, type_: int) -> IntArray:
        """The machines of a type, ascending."""
        return ints(np.flatnonzero(self.of_machine == type_))


def types_of(task: Task) -> Types:
    """The types of a task's machines, in order of their first machine."""
    trait = np.concatenate([task.room.T, task.allow, task.spare, task.fixed], axis=0)  # (trait, machine)
    code = np.zeros(trait.shape[1], dtype=np.int64)
    for values in trait[(trait != trait[:, :1]).any(axis=1)]:  # one after the other: thousands of traits need no huge sort
        _, rank = np.unique(values, return_inverse=True)
        _, code = np.unique(code * (rank.max(initial=0) + 1) + rank, return_inverse=True)
    _, first, type_, number = np.unique(code, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return Types(of_machine=ints(place[type_]), first=ints(first[order]), number=ints(number[order]))
