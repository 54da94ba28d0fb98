"""Loads of equal machines exchanged so that few containers move. Affinity stays as it is."""

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from bayplan.decide.collocate.subproblem import lift, movable
from bayplan.model import UNPLACED, IntArray, Placement, ints
from bayplan.model.problem import Problem
from bayplan.score.counts import workload_counts

MOST = 1_500  # machines that are permuted at once: the time grows with the cube


def permute_equal_machines(problem: Problem, placement: Placement) -> Placement:
    """The placement with the loads of equal machines exchanged so that more containers stay. It keeps every rule it kept."""
    now, then = (csr_array(workload_counts(problem.cluster, each).T) for each in (placement, problem.before))
    new_machine = np.arange(len(problem.cluster.machines.name))
    for machines in equal_machines(problem):
        stay = _shared(now[machines], then[machines])
        _, target = linear_sum_assignment(stay, maximize=True)
        new_machine[machines] = machines[target]
    moves = movable(problem) & (placement.machine_of != UNPLACED)
    return Placement(machine_of=ints(np.where(moves, new_machine[placement.machine_of], placement.machine_of)))


def equal_machines(problem: Problem) -> list[IntArray]:
    """Machines that every movable container may use alike, on which nothing stays: lists of two or more, at most `MOST`."""
    lifted = lift(problem, np.arange(len(problem.cluster.workloads.name)))
    empty = np.flatnonzero(np.diff(csr_array(lifted.staying.T).indptr) == 0)
    trait = np.concatenate([problem.cluster.machines.capacity.T, lifted.may_run.row, _groups_above(problem)])[:, empty]
    _, kind = np.unique(trait, axis=1, return_inverse=True)
    lists = []
    for k in range(int(kind.max(initial=-1)) + 1):
        alike = empty[kind.ravel() == k]
        lists += [ints(part) for part in np.array_split(alike, -(-len(alike) // MOST)) if len(part) > 1]
    return lists


def _groups_above(problem: Problem) -> IntArray:
    """(level, machine) groups above the machine: rules about containers that stay may count the others of a group."""
    return np.array([level.group_of for level in problem.cluster.levels[1:]], dtype=np.int64).reshape(
        -1, len(problem.cluster.machines.name)
    )


def _shared(now: csr_array, then: csr_array) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """(machine, machine) containers that stay if the load of the first goes to the second: sum of min over workloads."""
    stay = np.zeros((now.shape[0], then.shape[0]))
    for n in range(1, int(max(now.data.max(initial=0), then.data.max(initial=0))) + 1):
        low, high = now >= n if n > 1 else now > 0, then >= n if n > 1 else then > 0
        stay += (low.astype(np.int32) @ high.astype(np.int32).T).toarray()
    return stay
