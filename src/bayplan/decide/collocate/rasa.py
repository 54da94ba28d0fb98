"""[RASA] §IV: partition, a solver for each subproblem, all of them in parallel, and a default scheduler for the leftovers.

The solvers of the pool (§IV-C) are also methods by themselves, on the whole cluster: `mip` and `column_generation`.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from bayplan.decide.collocate.assignment_mip import ENTRIES_A_SECOND, MOST_ENTRIES, run_mip
from bayplan.decide.collocate.columns.solve import run_columns
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
    SolvedCounts,
    Subproblem,
    expect_known_rules,
    lift,
    subproblems_of,
    whole_cluster,
    workloads_with_traffic,
)
from bayplan.engine import Job, engine_of
from bayplan.model import Budget, FloatArray, IntArray, Placement, Progress, Result, Tick
from bayplan.model.problem import Problem


class SubproblemSolver(Protocol):
    """A way to solve a subproblem."""

    def __call__(self, subproblem: Subproblem, *, seconds: float, seed: int, threads: int) -> SolvedCounts:
        """Counts (workload, machine) that violate nothing; fewer than the demand where no more fit."""
        ...


def _column_generation(subproblem: Subproblem, *, seconds: float, seed: int, threads: int) -> SolvedCounts:
    """Column generation; it runs in one thread."""
    return run_columns(subproblem, seconds=seconds, seed=seed)


def _integer_program(subproblem: Subproblem, *, seconds: float, seed: int, threads: int) -> SolvedCounts:
    """The integer program, unless it is too large for its seconds."""
    most = min(MOST_ENTRIES, int(ENTRIES_A_SECOND * seconds))
    run = run_mip(subproblem, seconds=seconds, most_entries=most, seed=seed, threads=threads)
    return SolvedCounts(run.counts, solver_ran=run.searched)


POOL: Mapping[str, SubproblemSolver] = {"mip": _integer_program, "cg": _column_generation}  # §IV-C
GREEDY = "greedy placement alone"  # what answers where the solver did not run
NOT_RUN = "too large, or no time left"


def counts_by(name: str, subproblem: Subproblem, *, seconds: float, seed: int, threads: int) -> IntArray:
    """The counts of a solver of the pool, whether it ran or not."""
    return POOL[name](subproblem, seconds=seconds, seed=seed, threads=threads).counts


SOLVERS: Mapping[str, Callable[..., IntArray]] = {name: partial(counts_by, name) for name in POOL}


def rasa(problem: Problem, options: CollocateOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """The answer of RASA. Iterations do not count here: the seconds are shared among the subproblems.

    Trivial workloads stay where they are (`options.trivial` "pinned", the paper) or are lifted before the others are placed, and
    get a machine afterwards, their old one if they still fit there ("refit", the authors' code).
    """
    expect_known_rules(problem.cluster, "rasa")
    clock = budget.clock()
    progress(Tick(stage="partitioning", done=0.0))
    graph = affinity_graph(problem.cluster)
    partition = PARTITIONERS[options.partition](graph, masters=options.masters, seed=seed)  # IV-B
    owner = owner_of_machines(problem, graph, partition, options.trivial)
    subproblems = subproblems_of(problem, partition.sets, owner, trivial=options.trivial if partition.sets else "pinned")
    progress(Tick(stage="solving", done=0.0))
    seconds = time_to_solve(problem, clock, subproblems)
    answers = solve_subproblems(subproblems, options, seconds=seconds, threads=budget.threads, seed=seed)
    progress(Tick(stage="placing leftovers", done=0.0))
    free = partition.trivial if options.trivial == "refit" and partition.sets else None
    notes = *(f"partition: {note}" for note in partition.notes), *solver_notes(answers)
    counts = [answer.counts for answer in answers]
    result = finish(problem, SolvedSubproblems(subproblems, counts, free, notes), options, clock=clock, seed=seed)
    progress(Tick(stage="placing leftovers", done=1.0, score=result.score["affinity"]))
    return result


def owner_of_machines(problem: Problem, graph: AffinityGraph, partition: Partition, trivial: str) -> IntArray:
    """(machine,) the set that owns it (IV-B5). A machine's type is its capacity; pinned workloads make it worth less."""
    cluster = problem.cluster
    crucial = np.concatenate([np.zeros(0, dtype=np.int64), *partition.sets])
    lifted = lift(problem, crucial if trivial == "pinned" else np.arange(graph.n))
    usable = np.array([graph.allow[np.unique(graph.row_of[members])].any(axis=0) for members in partition.sets], dtype=np.bool_)
    here = np.array([lifted.origin[members].sum(axis=0) for members in partition.sets], dtype=np.int64)
    shape = len(partition.sets), len(cluster.machines.name)
    _, kind = np.unique(cluster.machines.capacity, axis=0, return_inverse=True)
    demand = demand_of_sets(graph, partition.sets)
    size = _machine_value(lifted.free, demand) if trivial == "pinned" else None
    return divide_machines(demand, usable.reshape(shape), kind.ravel(), here.reshape(shape), size)


def _machine_value(free: IntArray, demand: FloatArray) -> FloatArray:
    """(machine,) how much is free of the resource that the sets request most."""
    if not demand.size:
        return np.ones(len(free))
    return free[:, int(np.argmax(demand.sum(axis=0)))].astype(np.float64)


class Answer(NamedTuple):
    """What became of a subproblem."""

    counts: IntArray  # (workload, machine)
    by: str  # a key of POOL, or GREEDY; empty if there is nothing to place


def solver_notes(answers: Sequence[Answer]) -> tuple[str, ...]:
    """'subproblems: 2 by cg, 1 by mip, 3 by greedy placement alone (too large, or no time left)'."""
    numbers = {by: sum(answer.by == by for answer in answers) for by in (*sorted(POOL), GREEDY)}
    words = [f"{number} by {by}" for by, number in numbers.items() if number]
    last = f" ({NOT_RUN})" if numbers[GREEDY] else ""
    return (f"subproblems: {', '.join(words)}{last}",) if words else ()


class WorkerShare(NamedTuple):
    """What one worker gets: subproblems, the solver of each, and the share of the time for each."""

    subproblems: tuple[Subproblem, ...]
    solver: tuple[str, ...]  # keys of POOL
    share: tuple[float, ...]  # of any total


def solve_subproblems(
    subproblems: tuple[Subproblem, ...], options: CollocateOptions, *, seconds: float, threads: int, seed: int
) -> list[Answer]:
    """The answer to each subproblem, each by the solver that the selector names (IV-D), in parallel where there are several."""
    if not subproblems:
        return []
    solver, share = [SELECTORS[options.select](subproblem) for subproblem in subproblems], time_shares(subproblems)
    numbers_of = divide_among_workers(share, threads)
    lists = subproblems, solver, share.tolist()
    work = [WorkerShare(*(tuple(each[k] for k in numbers) for each in lists)) for numbers in numbers_of]
    arguments = time.time() + seconds, seed, max(1, threads // len(work))
    jobs = [Job(name=f"worker {n}", call=solve_all, arguments=(one, *arguments)) for n, one in enumerate(work)]
    answer_of: dict[int, Answer] = {}
    for numbers, answers in zip(numbers_of, engine_of(options.engine).run(jobs, workers=threads), strict=True):
        answer_of.update(zip(numbers.tolist(), answers, strict=True))
    return [answer_of[number] for number in range(len(subproblems))]


def solve_all(work: WorkerShare, until: float, seed: int, threads: int) -> list[Answer]:
    """The answer to each subproblem, one after the other. Time that one does not use is for those after it.

    `until`: a moment of `time.time`, so that the time in which a worker starts counts, too.
    """
    answers = []
    for number, subproblem in enumerate(work.subproblems):
        share = work.share[number] / max(sum(work.share[number:]), 1e-300)
        left = max(0.0, until - time.time())
        answers.append(solve_one(subproblem, work.solver[number], share * left, seed + number, threads))
    return answers


def solve_one(subproblem: Subproblem, solver: str, seconds: float, seed: int, threads: int) -> Answer:
    """The answer to a subproblem; all zero if there is nothing to place, or no machine."""
    if not subproblem.demand.any() or not len(subproblem.machine):
        return Answer(np.zeros(subproblem.shape, dtype=np.int64), "")
    solved = POOL[solver](subproblem, seconds=seconds, seed=seed, threads=threads)
    return Answer(solved.counts, solver if solved.solver_ran else GREEDY)


def time_shares(subproblems: Sequence[Subproblem]) -> FloatArray:
    """(subproblem,) its part of the time: half by its affinity, half by its size, workloads times machines."""
    affinity = np.array([subproblem.weight.sum() for subproblem in subproblems])
    size = np.array([float(np.prod(subproblem.shape)) for subproblem in subproblems])
    part: FloatArray = 0.5 * affinity / max(affinity.sum(), 1e-300) + 0.5 * size / max(size.sum(), 1e-300)
    return part


def divide_among_workers(share: FloatArray, workers: int) -> list[IntArray]:
    """The subproblems of each worker: the largest first, each to the worker with least so far; no worker is idle if avoidable."""
    numbers_of: list[list[int]] = [[] for _ in range(max(1, min(workers, len(share))))]
    for number in np.argsort(-share, kind="stable").tolist():
        min(numbers_of, key=lambda numbers: (float(share[numbers].sum()), len(numbers))).append(number)
    return [np.array(numbers, dtype=np.int64) for numbers in numbers_of]


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
    """What one solver of the pool makes of the whole cluster, without a partition; workloads without affinity are trivial."""
    expect_known_rules(problem.cluster, method)
    clock = budget.clock()
    crucial = workloads_with_traffic(problem.cluster)
    others = np.setdiff1d(np.arange(len(problem.cluster.workloads.name)), crucial)
    free = others if options.trivial == "refit" and len(crucial) else None
    progress(Tick(stage="solving", done=0.0))
    subproblem = whole_cluster(problem, workloads=crucial, free=free)
    answer = solve_one(subproblem, solver, time_to_solve(problem, clock, [subproblem]), seed, budget.threads)
    progress(Tick(stage="placing leftovers", done=0.0))
    solved = SolvedSubproblems([subproblem], [answer.counts], free, solver_notes([answer]))
    result = finish(problem, solved, options, clock=clock, seed=seed)
    progress(Tick(stage="placing leftovers", done=1.0, score=result.score["affinity"]))
    return result


mip = partial(_whole_cluster, method="mip", solver="mip")
column_generation = partial(_whole_cluster, method="column-generation", solver="cg")
