"""[RASA] §IV: partition, a solver for each subproblem, all of them in parallel, and a default scheduler for the leftovers.

The solvers of the pool (§IV-C) are also methods by themselves, on the whole cluster: `mip` and `column_generation`.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from bayplan.decide.collocate.assignment_mip import ENTRIES_A_SECOND, MOST_ENTRIES, run_mip
from bayplan.decide.collocate.columns.solve import run_columns
from bayplan.decide.collocate.finish import SolvedSubproblems, finish, time_to_solve
from bayplan.decide.collocate.options import CollocateOptions
from bayplan.decide.collocate.parallel import PartLimits, SolveLimits, solve_in_parallel
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
    violations,
    whole_cluster,
    workloads_with_traffic,
)
from bayplan.engine import engine_of
from bayplan.engine.lazy import LazyEngine
from bayplan.model import Budget, FloatArray, IntArray, Placement, Progress, Result, Tick
from bayplan.model.problem import Problem


class SubproblemSolver(Protocol):
    """A way to solve a subproblem."""

    def __call__(
        self,
        subproblem: Subproblem,
        *,
        seconds: float,
        seed: int,
        threads: int,
        iterations: int | None = None,
        engine: LazyEngine | None = None,
    ) -> SolvedCounts:
        """Counts (workload, machine) that violate nothing; fewer than the demand where no more fit."""
        ...


def _column_generation(
    subproblem: Subproblem,
    *,
    seconds: float,
    seed: int,
    threads: int,
    iterations: int | None = None,
    engine: LazyEngine | None = None,
) -> SolvedCounts:
    """Column generation; it runs in one thread, and on the engine."""
    return run_columns(subproblem, seconds=seconds, seed=seed, iterations=iterations, engine=engine)


def _integer_program(
    subproblem: Subproblem,
    *,
    seconds: float,
    seed: int,
    threads: int,
    iterations: int | None = None,
    engine: LazyEngine | None = None,
) -> SolvedCounts:
    """The integer program, unless it is too large for its seconds; it has no independent pieces for an engine."""
    most = int(min(MOST_ENTRIES, ENTRIES_A_SECOND * seconds))
    run = run_mip(subproblem, seconds=seconds, most_entries=most, seed=seed, threads=threads, nodes=iterations)
    return SolvedCounts(run.counts, solver_ran=run.searched)


POOL: Mapping[str, SubproblemSolver] = {"mip": _integer_program, "cg": _column_generation}  # §IV-C
GREEDY = "greedy placement alone"  # what answers where the solver did not run
NOT_RUN = "too large, or no time left"
AS_IT_RUNS = "left as they run"  # where no answer came
SUBPROBLEMS_ON = "pool"  # the engine if none is stated
NOT_ENDED = "interrupted, out of time, or lost"


def rasa(problem: Problem, options: CollocateOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """The answer of RASA. The seconds are shared among the subproblems.

    An iteration is, in each subproblem, a round of pricing and a node of an integer program. Where only they are limited, the
    same number and seed give the same answer on any engine, whatever its number of workers.

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
    limits = SolveLimits(time_to_solve(problem, clock, subproblems), budget.iterations, budget.threads, seed)
    answers, about = solve_subproblems(subproblems, options, limits, progress)
    progress(Tick(stage="placing leftovers", done=0.0))
    free = partition.trivial if options.trivial == "refit" and partition.sets else None
    notes = *(f"partition: {note}" for note in partition.notes), *about
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


class SubproblemAnswer(NamedTuple):
    """What became of a subproblem."""

    counts: IntArray  # (workload, machine)
    by: str  # a key of POOL, GREEDY or AS_IT_RUNS; empty if there is nothing to place


def solver_notes(answers: Sequence[SubproblemAnswer]) -> tuple[str, ...]:
    """'subproblems: 2 by cg, 1 by mip, 3 by greedy placement alone (too large, or no time left)'."""
    numbers = {by: sum(answer.by == by for answer in answers) for by in (*sorted(POOL), GREEDY, AS_IT_RUNS)}
    why = {GREEDY: f" ({NOT_RUN})", AS_IT_RUNS: f" ({NOT_ENDED})"}
    words = [f"{number}{' by' if by != AS_IT_RUNS else ''} {by}{why.get(by, '')}" for by, number in numbers.items() if number]
    return (f"subproblems: {', '.join(words)}",) if words else ()


def solve_subproblems(
    subproblems: tuple[Subproblem, ...], options: CollocateOptions, limits: SolveLimits, progress: Progress
) -> tuple[list[SubproblemAnswer], tuple[str, ...]]:
    """The answer to each subproblem, each by the solver that the selector names (IV-D), on the engine; and notes about that."""
    if not subproblems:
        return [], ()
    solver = [SELECTORS[options.select](subproblem) for subproblem in subproblems]
    parts = solve_in_parallel(subproblems, solve_one_of, solver, engine_of(options.engine or SUBPROBLEMS_ON), limits, progress)
    answers = [parts.answer_of.get(number) or _as_it_runs(subproblem) for number, subproblem in enumerate(subproblems)]
    return answers, (*solver_notes(answers), *parts.notes)


def solve_one_of(subproblems: Sequence[Subproblem], number: int, solver: str, limits: PartLimits) -> SubproblemAnswer:
    """The answer to one of several subproblems, in a worker, where its types are priced, too: workers start no others."""
    return solve_one(subproblems[number], solver, limits.time.left, limits.seed, limits.threads, limits.iterations)


def solve_one(
    subproblem: Subproblem,
    solver: str,
    seconds: float,
    seed: int,
    threads: int,
    iterations: int | None = None,
    engine: LazyEngine | None = None,
) -> SubproblemAnswer:
    """The answer to a subproblem; all zero if there is nothing to place, or no machine."""
    if not subproblem.demand.any() or not len(subproblem.machine):
        return SubproblemAnswer(np.zeros(subproblem.shape, dtype=np.int64), "")
    solved = POOL[solver](subproblem, seconds=seconds, seed=seed, threads=threads, iterations=iterations, engine=engine)
    return SubproblemAnswer(solved.counts, solver if solved.solver_ran else GREEDY)


def _as_it_runs(subproblem: Subproblem) -> SubproblemAnswer:
    """What runs now, where that violates nothing: the answer to a subproblem that was not solved."""
    now = subproblem.now if not violations(subproblem, subproblem.now) else np.zeros_like(subproblem.now)
    return SubproblemAnswer(now, AS_IT_RUNS)


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
    seconds, threads = time_to_solve(problem, clock, [subproblem]), budget.threads if budget.iterations is None else 1
    engine = LazyEngine(options.engine, workers=budget.threads)
    answer = solve_one(subproblem, solver, seconds, seed, threads, budget.iterations, engine)
    progress(Tick(stage="placing leftovers", done=0.0))
    solved = SolvedSubproblems([subproblem], [answer.counts], free, (*solver_notes([answer]), *engine.notes))
    result = finish(problem, solved, options, clock=clock, seed=seed)
    progress(Tick(stage="placing leftovers", done=1.0, score=result.score["affinity"]))
    return result


mip = partial(_whole_cluster, method="mip", solver="mip")
column_generation = partial(_whole_cluster, method="column-generation", solver="cg")
