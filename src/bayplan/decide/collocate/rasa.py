"""RASA (004 section IV): partition, a solver for each sub-problem, all of them at once, and a default scheduler for the rest."""

import time

import numpy as np

from bayplan.decide.collocate.finish import Solved, finished, time_to_solve
from bayplan.decide.collocate.movable import expect_known_rules
from bayplan.decide.collocate.partition import PARTITIONERS, Graph, Partition, affinity_graph, share_out, wanted
from bayplan.decide.collocate.pool import Load, dealt, shares, solve_all
from bayplan.decide.collocate.select import SELECTORS
from bayplan.decide.collocate.signature import CollocateOptions
from bayplan.decide.collocate.task import Task
from bayplan.decide.collocate.tasks import lift, sub_tasks
from bayplan.engine import ENGINES, Job
from bayplan.model import Budget, FloatArray, IntArray, Placement, Progress, Result, Tick
from bayplan.model.problem import Problem


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
    owner = machines_of(problem, graph, partition, options.trivial)
    tasks = sub_tasks(problem, partition.sets, owner, trivial=options.trivial if partition.sets else "pinned")
    progress(Tick(stage="solving", done=0.0))
    counts = solved(tasks, options, seconds=time_to_solve(problem, clock, tasks), threads=budget.threads, seed=seed)
    progress(Tick(stage="refitting", done=0.0))
    free = partition.trivial if options.trivial == "refit" and partition.sets else None
    notes = tuple(f"partition: {note}" for note in partition.notes)
    result = finished(problem, Solved(tasks, counts, free, notes), options, clock=clock, seed=seed)
    progress(Tick(stage="refitting", done=1.0, score=result.score["affinity"]))
    return result


def machines_of(problem: Problem, graph: Graph, partition: Partition, trivial: str) -> IntArray:
    """(machine,) the set that owns it (IV-B5). A machine's type is its capacity; pinned services make it worth less."""
    cluster = problem.cluster
    crucial = np.concatenate([np.zeros(0, dtype=np.int64), *partition.sets])
    ground = lift(problem, crucial if trivial == "pinned" else np.arange(graph.n))
    usable = np.array([graph.allow[np.unique(graph.row_of[some])].any(axis=0) for some in partition.sets], dtype=np.bool_)
    here = np.array([ground.left[some].sum(axis=0) for some in partition.sets], dtype=np.int64)
    shape = len(partition.sets), len(cluster.machines.name)
    _, kind = np.unique(cluster.machines.capacity, axis=0, return_inverse=True)
    size = _worth(ground.room, wanted(graph, partition.sets)) if trivial == "pinned" else None
    return share_out(wanted(graph, partition.sets), usable.reshape(shape), kind.ravel(), here.reshape(shape), size)


def _worth(room: IntArray, demand: FloatArray) -> FloatArray:
    """(machine,) how much of what the sets want most it has room for."""
    if not demand.size:
        return np.ones(len(room))
    return room[:, int(np.argmax(demand.sum(axis=0)))].astype(np.float64)


def solved(tasks: tuple[Task, ...], options: CollocateOptions, *, seconds: float, threads: int, seed: int) -> list[IntArray]:
    """The counts of each task, each by the solver that the selector names (IV-D), in parallel where there are several."""
    if not tasks:
        return []
    solver, share = [SELECTORS[options.select](task) for task in tasks], shares(tasks)
    mine = dealt(share, threads)
    loads = [Load(*(tuple(each[k] for k in some) for each in (tasks, solver, share.tolist()))) for some in mine]
    arguments = time.time() + seconds, seed, max(1, threads // len(mine))
    jobs = [Job(name=f"worker {n}", call=solve_all, arguments=(load, *arguments)) for n, load in enumerate(loads)]
    found: dict[int, IntArray] = {}
    for some, counts in zip(mine, ENGINES[options.engine].run(jobs, workers=threads), strict=True):
        found.update(zip(some.tolist(), counts, strict=True))
    return [found[number] for number in range(len(tasks))]
