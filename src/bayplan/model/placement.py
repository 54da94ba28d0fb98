"""The choice: one machine per container, nothing else."""

from dataclasses import dataclass

import numpy as np

from bayplan.errors import ModelError
from bayplan.model.arrays import BoolArray, IntArray, ints

UNPLACED = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Placement:
    """One machine index per container, `UNPLACED` where a container has none.

    >>> import bayplan as bp
    >>> placement = bp.Placement(machine_of=[0, 0, 1, -1])
    >>> placement.placed.tolist(), placement.unplaced.tolist()
    ([0, 1, 2], [3])
    """

    machine_of: IntArray  # (container,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "machine_of", ints(self.machine_of))
        if self.machine_of.ndim != 1 or self.machine_of.min(initial=0) < UNPLACED:
            raise ModelError("a placement is one machine index or -1 per container")

    @classmethod
    def empty(cls, containers: int) -> "Placement":
        """Nothing placed."""
        return cls(machine_of=ints(np.full(containers, UNPLACED)))

    @property
    def placed(self) -> IntArray:
        """Containers that have a machine."""
        return ints(np.flatnonzero(self.machine_of != UNPLACED))

    @property
    def unplaced(self) -> IntArray:
        """Containers that have none."""
        return ints(np.flatnonzero(self.machine_of == UNPLACED))

    def moved_from(self, before: "Placement") -> IntArray:
        """Containers that run on another machine than in `before`."""
        ran = before.machine_of != UNPLACED
        return ints(np.flatnonzero(ran & (self.machine_of != before.machine_of)))


def relabelled(after: Placement, before: Placement, workload: IntArray, fixed: BoolArray | None = None) -> Placement:
    """`after` with interchangeable replicas renamed so that as few as possible move.

    Per (workload, machine) as many containers stay as both placements have there; the counts do not
    change. Containers that `fixed` marks (pinned, co-located) keep their machine. O(C log C).
    """
    free = np.ones(len(workload), dtype=np.bool_) if fixed is None else ~fixed
    target = after.machine_of.copy()
    stays = free & _stays(after.machine_of, before.machine_of, workload, free)
    target[stays] = before.machine_of[stays]
    open_slot = free & ~_taken(after.machine_of, target, workload, free, stays)
    # Both sides list the same number per workload, in workload order: hand out the slots that are left.
    moving = np.flatnonzero(free & ~stays)
    slots = np.flatnonzero(open_slot)
    by_workload = moving[np.argsort(workload[moving], kind="stable")]
    target[by_workload] = after.machine_of[slots[np.argsort(workload[slots], kind="stable")]]
    return Placement(machine_of=ints(target))


def _rank_in_group(key_a: IntArray, key_b: IntArray) -> IntArray:
    """Position of each element among those with equal keys, in index order."""
    order = np.lexsort((np.arange(len(key_a)), key_b, key_a))
    a, b = key_a[order], key_b[order]
    new = np.r_[True, (a[1:] != a[:-1]) | (b[1:] != b[:-1])] if len(order) else np.zeros(0, dtype=np.bool_)
    start = np.flatnonzero(new)[np.cumsum(new) - 1] if len(order) else order
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - start
    return rank


def _counts_at(workload: IntArray, machine: IntArray, at_workload: IntArray, at_machine: IntArray) -> IntArray:
    """How many (workload, machine) pairs equal each of the given pairs."""
    width = int(max(machine.max(initial=0), at_machine.max(initial=0))) + 2
    have = np.sort(workload * width + machine + 1)
    key = at_workload * width + at_machine + 1
    return np.searchsorted(have, key, side="right") - np.searchsorted(have, key, side="left")


def _stays(after: IntArray, before: IntArray, workload: IntArray, free: BoolArray) -> BoolArray:
    """Among the free containers: the first min(before, after) of each (workload, machine) stay."""
    stays = np.zeros(len(workload), dtype=np.bool_)
    index = np.flatnonzero(free)
    slots = _counts_at(workload[index], after[index], workload[index], before[index])
    stays[index] = _rank_in_group(workload[index], before[index]) < slots
    return stays


def _taken(after: IntArray, target: IntArray, workload: IntArray, free: BoolArray, stays: BoolArray) -> BoolArray:
    """Slots of `after` (one per free container) that the staying containers use."""
    taken = np.zeros(len(workload), dtype=np.bool_)
    index, keep = np.flatnonzero(free), np.flatnonzero(stays)
    used = _counts_at(workload[keep], target[keep], workload[index], after[index])
    taken[index] = _rank_in_group(workload[index], after[index]) < used
    return taken
