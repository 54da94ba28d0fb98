"""From solved tasks to an answer: leftovers get a machine, the start is kept where it is better, the referee looks at it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayplan.decide.collocate.answer import collocated, worth_it
from bayplan.decide.collocate.assemble import assembled
from bayplan.decide.collocate.original import outsiders
from bayplan.decide.collocate.refit import refit
from bayplan.decide.collocate.signature import CollocateOptions
from bayplan.decide.collocate.task import Task
from bayplan.model import BoolArray, Clock, IntArray, Placement, Result
from bayplan.model.problem import Problem

SECONDS = 60.0  # where no budget is given (004 section V-D: one minute)
AFTERWARDS = 0.3, 2e-5  # seconds kept for what happens here: in any case, and for each container
LAST_PASS = 5e-7  # seconds kept for each service and machine of a task: solvers end with a pass over all of them


class Solved(NamedTuple):
    """Tasks of one problem, solved."""

    tasks: Sequence[Task]
    counts: Sequence[IntArray]  # (service, machine) of each task
    free: IntArray | None = None  # workloads that were lifted beside those of the tasks
    notes: tuple[str, ...] = ()  # what the user should know


def time_to_solve(problem: Problem, clock: Clock, tasks: Sequence[Task] = ()) -> float:
    """Seconds that solvers may take from now on."""
    whole = SECONDS if clock.budget.seconds is None else clock.budget.seconds
    cells = max((task.shape[0] * task.shape[1] for task in tasks), default=0)
    keep = AFTERWARDS[0] + AFTERWARDS[1] * len(problem.cluster.containers.name) + LAST_PASS * cells
    return max(0.0, whole - min(keep, 0.5 * whole) - clock.seconds)


def out_of_time(problem: Problem, clock: Clock) -> bool:
    """Is no time left but what happens here? Never without a limit."""
    return clock.budget.seconds is not None and time_to_solve(problem, clock) <= 0.0


def finished(problem: Problem, solved: Solved, options: CollocateOptions, *, clock: Clock, seed: int) -> Result[Placement]:
    """The result that solved tasks make."""
    placement, _ = assembled(problem, solved.tasks, solved.counts, free=solved.free)
    placement = refit(problem, placement, may_go=_lifted(problem, solved), clock=clock, seed=seed)
    found, why = worth_it(problem, placement, options, start_of(problem, clock, seed))
    notes = (*why, *solved.notes)
    return collocated(problem, found, left_out=outsiders(problem, found), notes=notes, seconds=clock.seconds)


def start_of(problem: Problem, clock: Clock, seed: int) -> Placement:
    """The start, with new containers where they fit beside those that run."""
    nobody = np.zeros(len(problem.cluster.containers.name), dtype=np.bool_)
    return refit(problem, problem.start, may_go=nobody, clock=clock, seed=seed)


def _lifted(problem: Problem, solved: Solved) -> BoolArray:
    """(container,) of workloads that were lifted."""
    workloads = [task.workload for task in solved.tasks] + ([] if solved.free is None else [solved.free])
    return np.isin(problem.cluster.containers.workload, np.concatenate([np.zeros(0, dtype=np.int64), *workloads]))
