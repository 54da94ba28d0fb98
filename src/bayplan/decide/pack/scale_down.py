"""Which containers to delete where a workload has more than it must have.

[UCaC] deletes containers every day (§6.2) and does not say which; its experiments draw them at random. Here each deletion saves
the most UCaC that is left to save: by Proposition 1 that is on the machine of the least variance, and then there again, so
machines run empty. A machine on which usage has outgrown the confidence comes before all others.
"""

import numpy as np

from bayplan.decide.pack.problem import PackProblem
from bayplan.model import UNPLACED, BoolArray, FloatArray, IntArray, ints
from bayplan.model.allowed_machines import pinned_containers

ROUNDING = 1e-9  # of a capacity


def containers_to_delete(problem: PackProblem, surplus: IntArray) -> IntArray:
    """`surplus` (workload,) containers of each workload, ascending.

    Those without a machine go first; then, one by one, from the machine that is furthest above its confidence; then from the one
    where that saves most uncertainty, of equals the one with the fewest containers; there the last container. Pinned containers
    go when no other is left.
    """
    loads, deleted = _Loads(problem), []
    for w in np.flatnonzero(surplus > 0).tolist():
        deleted += _of_workload(problem, loads, w, int(surplus[w]))
    return ints(sorted(deleted))


def machines_over(problem: PackProblem) -> BoolArray:
    """(machine,) on which a chance constraint does not hold for what runs there."""
    over: BoolArray = _Loads(problem).excess() > ROUNDING
    return over


def _of_workload(problem: PackProblem, loads: "_Loads", w: int, number: int) -> list[int]:
    containers = np.flatnonzero(problem.cluster.containers.workload == w)
    machine = problem.before.machine_of[containers]
    going: list[int] = containers[machine == UNPLACED][::-1][:number].tolist()
    fixed = pinned_containers(problem.cluster)[containers]
    for pinned in (False, True):
        stacks: dict[int, list[int]] = {}
        for c, m in zip(containers[fixed == pinned].tolist(), machine[fixed == pinned].tolist(), strict=True):
            if m != UNPLACED:
                stacks.setdefault(m, []).append(c)
        while stacks and len(going) < number:
            here = ints(sorted(stacks))
            m = int(here[loads.first_to_delete(here, w)])
            going.append(stacks[m].pop())
            loads.take(m, w)
            if not stacks[m]:
                del stacks[m]
    return going


class _Loads:
    """What runs on each machine while containers are taken off."""

    def __init__(self, problem: PackProblem) -> None:
        self.constraints, self.count = problem.chance_constraints, problem.running.copy()
        self.mean = np.array([self.count @ constraint.mean for constraint in self.constraints])  # (chance, machine)
        self.variance = np.array([self.count @ constraint.variance for constraint in self.constraints])
        self.d = np.array([self._deviate(self.count, constraint.deviate) for constraint in self.constraints])

    @staticmethod
    def _deviate(count: IntArray, deviate: FloatArray) -> FloatArray:
        """(machine,) the largest of what runs there."""
        largest: FloatArray = np.where(count > 0, deviate, 0.0).max(axis=1, initial=0.0)
        return largest

    def take(self, m: int, w: int) -> None:
        """One container of workload w leaves machine m."""
        self.count[m, w] -= 1
        for q, constraint in enumerate(self.constraints):
            self.mean[q, m] = self.count[m] @ constraint.mean
            self.variance[q, m] = self.count[m] @ constraint.variance
            self.d[q, m] = self._deviate(self.count[m : m + 1], constraint.deviate)[0]

    def first_to_delete(self, machines: IntArray, w: int) -> int:
        """The position among `machines` from which one container of workload w goes."""
        excess = self.excess()[machines]
        above = np.where(excess > ROUNDING, excess, 0.0)
        variance, d = self.variance[0, machines], self.d[0, machines]
        saved = d * (np.sqrt(variance) - np.sqrt(np.maximum(0.0, variance - self.constraints[0].variance[w])))
        return int(np.lexsort((machines, self.count[machines].sum(axis=1), -saved, -above))[0])

    def excess(self) -> FloatArray:
        """(machine,) by how much usage at confidence exceeds capacity, relative to it; the most of all constraints."""
        used = self.mean + self.d * np.sqrt(self.variance)
        capacity = np.array([np.maximum(constraint.capacity, 1.0) for constraint in self.constraints])
        largest: FloatArray = ((used - capacity) / capacity).max(axis=0, initial=-1.0)
        return largest
