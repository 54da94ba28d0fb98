"""The pool (004 IV-C): what solves a sub-problem, and several of them within one deadline."""

import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from bayplan.decide.collocate.task import Task
from bayplan.model import FloatArray, IntArray


class PoolSolver(Protocol):
    """A way to solve a task."""

    def __call__(self, task: Task, *, seconds: float, seed: int, threads: int) -> IntArray:
        """Counts (service, machine) that break nothing; fewer than the demand where no more fit."""
        ...


def _mip(task: Task, *, seconds: float, seed: int, threads: int) -> IntArray:
    """The integer program."""
    from bayplan.decide.collocate.mip import solve_mip

    return solve_mip(task, seconds=seconds, seed=seed, threads=threads)


def _columns(task: Task, *, seconds: float, seed: int, threads: int) -> IntArray:
    """Column generation; it runs in one thread."""
    from bayplan.decide.collocate.columns.solve import solve_columns

    return solve_columns(task, seconds=seconds, seed=seed)


POOL: Mapping[str, PoolSolver] = {"mip": _mip, "cg": _columns}


class Load(NamedTuple):
    """What one worker is given: tasks, by whom each is to be solved, and what part of the time each deserves."""

    tasks: tuple[Task, ...]
    solver: tuple[str, ...]  # keys of POOL
    share: tuple[float, ...]  # of any total


def solve_all(load: Load, until: float, seed: int, threads: int) -> list[IntArray]:
    """The counts of each task, one after the other. What a task leaves of its time is for those after it.

    `until`: a moment of `time.time`, so that the time in which a worker starts is not forgotten.
    """
    found = []
    for number, task in enumerate(load.tasks):
        due = load.share[number] / max(sum(load.share[number:]), 1e-300)
        left = max(0.0, until - time.time())
        found.append(solve_one(task, load.solver[number], due * left, seed + number, threads))
    return found


def solve_one(task: Task, solver: str, seconds: float, seed: int, threads: int) -> IntArray:
    """The counts of a task; none where there is nothing to place, or nowhere."""
    if not task.demand.any() or not len(task.machine):
        return np.zeros(task.shape, dtype=np.int64)
    return POOL[solver](task, seconds=seconds, seed=seed, threads=threads)


def shares(tasks: Sequence[Task]) -> FloatArray:
    """(task,) the part of all time that a task deserves: half by its affinity, half by its size, services times machines."""
    affinity = np.array([task.weight.sum() for task in tasks])
    size = np.array([float(np.prod(task.shape)) for task in tasks])
    part: FloatArray = 0.5 * affinity / max(affinity.sum(), 1e-300) + 0.5 * size / max(size.sum(), 1e-300)
    return part


def dealt(share: FloatArray, workers: int) -> list[IntArray]:
    """The tasks of each worker: the largest first, each to who has least so far. No worker is idle if there is enough."""
    mine: list[list[int]] = [[] for _ in range(max(1, min(workers, len(share))))]
    for number in np.argsort(-share, kind="stable").tolist():
        min(mine, key=lambda some: (float(share[some].sum()), len(some))).append(number)
    return [np.array(some, dtype=np.int64) for some in mine]
