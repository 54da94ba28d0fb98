"""RASA (004 section IV): partition, a solver for each sub-problem, all of them at once, and a default scheduler for the rest."""

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from bayplan.decide.collocate.finish import SolvedSubproblems, finish, time_to_solve
from bayplan.decide.collocate.options import CollocateOptions
from bayplan.decide.collocate.partition import (
    PARTITIONERS,
    AffinityGraph,
    Partition,
    affinity_graph,
    demand_of_sets,
    divide_machines,
)
from bayplan.decide.collocate.select import SELECTORS
from bayplan.decide.collocate.subproblem import (
    Subproblem,
    expect_known_rules,
    lift,
    subproblems,
    whole_cluster,
    workloads_with_traffic,
)
from bayplan.engine import ENGINES, Job
from bayplan.model import Budget, FloatArray, IntArray, Placement, Progress, Result, Tick
from bayplan.model.problem import Problem


class SubproblemSolver(Protocol):
    """A way to solve a task."""

    def __call__(self, task: Subproblem, *, seconds: float, seed: int, threads: int) -> IntArray:
        """Counts (service, machine) that break nothing; fewer than the demand where no more fit."""
        ...


def _mip(task: Subproblem, *, seconds: float, seed: int, threads: int) -> IntArray:
    """The integer program."""
    from bayplan.decide.collocate.assignment_mip import solve_mip

    return solve_mip(task, seconds=seconds, seed=seed, threads=threads)


def _columns(task: Subproblem, *, seconds: float, seed: int, threads: int) -> IntArray:
    """Column generation; it runs in one thread."""
    from bayplan.decide.collocate.columns.solve import solve_columns

    return solve_columns(task, seconds=seconds, seed=seed)


SOLVERS: Mapping[str, SubproblemSolver] = {"mip": _mip, "cg": _columns}


class WorkerShare(NamedTuple):
    """What one worker is given: tasks, by whom each is to be solved, and what part of the time each deserves."""

    tasks: tuple[Subproblem, ...]
    solver: tuple[str, ...]  # keys of POOL
    share: tuple[float, ...]  # of any total


def solve_all(load: WorkerShare, until: float, seed: int, threads: int) -> list[IntArray]:
    """The counts of each task, one after the other. What a task leaves of its time is for those after it.

    `until`: a moment of `time.time`, so that the time in which a worker starts is not forgotten.
    """
    found = []
    for number, task in enumerate(load.tasks):
        due = load.share[number] / max(sum(load.share[number:]), 1e-300)
        left = max(0.0, until - time.time())
        found.append(solve_one(task, load.solver[number], due * left, seed + number, threads))
    return found


def solve_one(task: Subproblem, solver: str, seconds: float, seed: int, threads: int) -> IntArray:
    """The counts of a task; none where there is nothing to place, or nowhere."""
    if not task.demand.any() or not len(task.machine):
        return np.zeros(task.shape, dtype=np.int64)
    return SOLVERS[solver](task, seconds=seconds, seed=seed, threads=threads)


def time_shares(tasks: Sequence[Subproblem]) -> FloatArray:
    """(task,) the part of all time that a task deserves: half by its affinity, half by its size, services times machines."""
    affinity = np.array([task.weight.sum() for task in tasks])
    size = np.array([float(np.prod(task.shape)) for task in tasks])
    part: FloatArray = 0.5 * affinity / max(affinity.sum(), 1e-300) + 0.5 * size / max(size.sum(), 1e-300)
    return part


def divide_among_workers(share: FloatArray, workers: int) -> list[IntArray]:
    """The tasks of each worker: the largest first, each to who has least so far. No worker is idle if there is enough."""
    mine: list[list[int]] = [[] for _ in range(max(1, min(workers, len(share))))]
    for number in np.argsort(-share, kind="stable").tolist():
        min(mine, key=lambda some: (float(share[some].sum()), len(some))).append(number)
    return [np.array(some, dtype=np.int64) for some in mine]


def rasa(problem: Problem, options: CollocateOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """The answer of RASA. An iteration is nothing here: the seconds are shared among the sub-problems.

    Trivial services stay where they are (`options.trivial` "pinned", the paper) or are lifted before the others are placed, and
    get a machine afterwards, their old one if it has room ("refit", the authors' code).
    """
    expect_known_rules(problem.cluster, "rasa")
    clock = budget.clock()
    progress(Tick(stage="partitioning", done=0.0))
    graph = affinity_graph(problem.cluster)
    partition = PARTITIONERS[options.partition](graph, masters=options.masters, seed=seed)  # IV-B
    owner = owner_of_machines(problem, graph, partition, options.trivial)
    tasks = subproblems(problem, partition.sets, owner, trivial=options.trivial if partition.sets else "pinned")
    progress(Tick(stage="solving", done=0.0))
    counts = solve_subproblems(tasks, options, seconds=time_to_solve(problem, clock, tasks), threads=budget.threads, seed=seed)
    progress(Tick(stage="refitting", done=0.0))
    free = partition.trivial if options.trivial == "refit" and partition.sets else None
    notes = tuple(f"partition: {note}" for note in partition.notes)
    result = finish(problem, SolvedSubproblems(tasks, counts, free, notes), options, clock=clock, seed=seed)
    progress(Tick(stage="refitting", done=1.0, score=result.score["affinity"]))
    return result


def owner_of_machines(problem: Problem, graph: AffinityGraph, partition: Partition, trivial: str) -> IntArray:
    """(machine,) the set that owns it (IV-B5). A machine's type is its capacity; pinned services make it worth less."""
    cluster = problem.cluster
    crucial = np.concatenate([np.zeros(0, dtype=np.int64), *partition.sets])
    ground = lift(problem, crucial if trivial == "pinned" else np.arange(graph.n))
    usable = np.array([graph.allow[np.unique(graph.row_of[some])].any(axis=0) for some in partition.sets], dtype=np.bool_)
    here = np.array([ground.left[some].sum(axis=0) for some in partition.sets], dtype=np.int64)
    shape = len(partition.sets), len(cluster.machines.name)
    _, kind = np.unique(cluster.machines.capacity, axis=0, return_inverse=True)
    size = _machine_value(ground.room, demand_of_sets(graph, partition.sets)) if trivial == "pinned" else None
    return divide_machines(demand_of_sets(graph, partition.sets), usable.reshape(shape), kind.ravel(), here.reshape(shape), size)


def _machine_value(room: IntArray, demand: FloatArray) -> FloatArray:
    """(machine,) how much of what the sets want most it has room for."""
    if not demand.size:
        return np.ones(len(room))
    return room[:, int(np.argmax(demand.sum(axis=0)))].astype(np.float64)


def solve_subproblems(
    tasks: tuple[Subproblem, ...], options: CollocateOptions, *, seconds: float, threads: int, seed: int
) -> list[IntArray]:
    """The counts of each task, each by the solver that the selector names (IV-D), in parallel where there are several."""
    if not tasks:
        return []
    solver, share = [SELECTORS[options.select](task) for task in tasks], time_shares(tasks)
    mine = divide_among_workers(share, threads)
    loads = [WorkerShare(*(tuple(each[k] for k in some) for each in (tasks, solver, share.tolist()))) for some in mine]
    arguments = time.time() + seconds, seed, max(1, threads // len(mine))
    jobs = [Job(name=f"worker {n}", call=solve_all, arguments=(load, *arguments)) for n, load in enumerate(loads)]
    found: dict[int, IntArray] = {}
    for some, counts in zip(mine, ENGINES[options.engine].run(jobs, workers=threads), strict=True):
        found.update(zip(some.tolist(), counts, strict=True))
    return [found[number] for number in range(len(tasks))]


def _whole_cluster(
    problem: Problem,
    options: CollocateOptions,
    *,
    budget: Budget,
    seed: int,
    progress: Progress,
    method: str,
    solver: str,
) -> Result[Placement]:
    """What one solver of the pool makes of the whole problem; services without affinity are trivial."""
    expect_known_rules(problem.cluster, method)
    clock = budget.clock()
    crucial = workloads_with_traffic(problem.cluster)
    others = np.setdiff1d(np.arange(len(problem.cluster.workloads.name)), crucial)
    free = others if options.trivial == "refit" and len(crucial) else None
    progress(Tick(stage="solving", done=0.0))
    task = whole_cluster(problem, services=crucial, free=free)
    counts = solve_one(task, solver, time_to_solve(problem, clock, [task]), seed, budget.threads)
    progress(Tick(stage="refitting", done=0.0))
    result = finish(problem, SolvedSubproblems([task], [counts], free), options, clock=clock, seed=seed)
    progress(Tick(stage="refitting", done=1.0, score=result.score["affinity"]))
    return result


mip = partial(_whole_cluster, method="mip", solver="mip")
column_generation = partial(_whole_cluster, method="column-generation", solver="cg")
