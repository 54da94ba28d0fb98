"""From the counts of tasks back to a machine for every container."""

from collections.abc import Sequence

import numpy as np

from bayplan.decide.collocate.movable import movable
from bayplan.decide.collocate.task import Task
from bayplan.errors import ModelError
from bayplan.model import UNPLACED, IntArray, Placement, ints, relabelled
from bayplan.model.problem import Problem


def assembled(
    problem: Problem, tasks: Sequence[Task], counts: Sequence[IntArray], *, free: IntArray | None = None
) -> tuple[Placement, IntArray]:
    """The placement that `counts` (service, machine) of each task make, and the lifted containers that have no machine in it.

    Containers stay wherever as many of their workload are wanted. Those of the workloads `free` are lifted and get no machine.
    """
    owner = problem.cluster.containers.workload
    may = movable(problem)
    lifted = [task.workload for task in tasks] + ([] if free is None else [free])
    goes = np.flatnonzero(may & np.isin(owner, np.concatenate([np.zeros(0, dtype=np.int64), *lifted])))
    machine_of = problem.start.machine_of.copy()
    machine_of[goes] = _seated(owner[goes], *_seats(tasks, counts))
    placement = relabelled(Placement(machine_of=ints(machine_of)), problem.before, owner, fixed=~may)
    return placement, ints(goes[placement.machine_of[goes] == UNPLACED])


def _seats(tasks: Sequence[Task], counts: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
    """Workload and machine of every seat, by workload."""
    workload, machine = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for task, count in zip(tasks, counts, strict=True):
        service, place = np.nonzero(count)
        times = count[service, place]
        workload.append(np.repeat(task.workload[service], times))
        machine.append(np.repeat(task.machine[place], times))
    of, at = np.concatenate(workload), np.concatenate(machine)
    order = np.argsort(of, kind="stable")
    return of[order], at[order]


def _seated(owner: IntArray, seat_of: IntArray, seat_at: IntArray) -> IntArray:
    """(container,) its machine: the first ones of each workload get a seat. `owner` and `seat_of` are ascending."""
    machine = np.full(len(owner), UNPLACED, dtype=np.int64)
    number = np.arange(len(owner)) - np.searchsorted(owner, owner)  # among its fellows
    seat = np.searchsorted(seat_of, owner) + number
    has = seat < np.searchsorted(seat_of, owner, side="right")
    if has.sum() != len(seat_of):
        raise ModelError(f"{len(seat_of)} containers are to be placed, but only {int(has.sum())} of them are lifted")
    machine[has] = seat_at[seat[has]]
    return machine
