"""POP (Narayanan et al., SOSP 2021), a baseline of 004 section V-A: the problem is split at random, each part solved alone."""

from dataclasses import replace

import numpy as np

from bayplan.decide.collocate.finish import Solved, finished, time_to_solve
from bayplan.decide.collocate.movable import expect_known_rules
from bayplan.decide.collocate.partition import NOBODY, Graph, affinity_graph
from bayplan.decide.collocate.partition.stages import compatible
from bayplan.decide.collocate.rasa import solved
from bayplan.decide.collocate.signature import CollocateOptions
from bayplan.decide.collocate.tasks import sub_tasks
from bayplan.model import Budget, IntArray, Placement, Progress, Result, Tick, ints
from bayplan.model.problem import Problem

PARTS = 4  # per compatibility class; 004 does not say: its authors' code


def pop(problem: Problem, options: CollocateOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """The answer of POP: every part by the integer program (2)-(9), what is left over by the default scheduler.

    All services are split, those without affinity, too; `options.partition`, `select`, `masters` and `trivial` change nothing.
    """
    expect_known_rules(problem.cluster, "pop")
    clock = budget.clock()
    progress(Tick(stage="partitioning", done=0.0))
    sets, owner = parts(affinity_graph(problem.cluster), problem.cluster.machines.capacity, seed)
    tasks = sub_tasks(problem, sets, owner, trivial="pinned")
    progress(Tick(stage="solving", done=0.0))
    by_mip = replace(options, select="mip")
    counts = solved(tasks, by_mip, seconds=time_to_solve(problem, clock), threads=budget.threads, seed=seed)
    progress(Tick(stage="refitting", done=0.0))
    result = finished(problem, Solved(tasks, counts), options, clock=clock, seed=seed)
    progress(Tick(stage="refitting", done=1.0, score=result.score["affinity"]))
    return result


def parts(graph: Graph, capacity: IntArray, seed: int) -> tuple[list[IntArray], IntArray]:
    """The services of each part, and (machine,) the part that it belongs to; `NOBODY` where no service may run.

    Services of one compatibility class (004 IV-B3) are dealt out at random, and so are its machines of each kind: equal
    capacity, open to the same services.
    """
    rng = np.random.default_rng(seed)
    sets: list[IntArray] = []
    owner = np.full(graph.allow.shape[1], NOBODY, dtype=np.int64)
    for members in compatible(graph, np.arange(graph.n)).sets:
        first, count = len(sets), min(PARTS, len(members))
        sets += [ints(np.sort(part)) for part in np.array_split(rng.permutation(members), count)]
        machines = np.flatnonzero(graph.allow[np.unique(graph.row_of[members])].any(axis=0))
        owner[machines] = first + _dealt(_kinds(graph, capacity, machines), count, rng)
    return sets, ints(owner)


def _kinds(graph: Graph, capacity: IntArray, machines: IntArray) -> IntArray:
    """(machine,) the same number for machines of equal capacity that the same services may use."""
    used = graph.allow[np.unique(graph.row_of)]
    _, who = np.unique(used[:, machines], axis=1, return_inverse=True)
    _, kind = np.unique(np.column_stack([capacity[machines], who.ravel()]), axis=0, return_inverse=True)
    return ints(kind.ravel())


def _dealt(kind: IntArray, count: int, rng: np.random.Generator) -> IntArray:
    """(machine,) a part from 0 to count - 1: as equal numbers of each kind as can be, and of all kinds together."""
    order = rng.permutation(len(kind))
    order = order[np.argsort(kind[order], kind="stable")]
    part = np.empty(len(kind), dtype=np.int64)
    part[order] = np.arange(len(kind)) % count  # kinds are dealt out one after the other: all parts differ by one machine at most
    return part
