"""What over-commitment buys: the same containers packed quickly at several confidences, and by what they were promised."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from bayplan.api.pack_figures import Reserved, reserved_of
from bayplan.api.pack_wishes import Question
from bayplan.decide.pack import PACKERS, PackOptions, PackProblem
from bayplan.model import Budget, Cluster, Level, Machines, Placement, Result, floats, ints, machine_level, silent
from bayplan.report.answers.pack_tables import ConfidenceLevel

LEVELS = (0.99, 0.999, 0.9999)
QUICK = "bi-level"  # the method that answers
MOST_MACHINES = 100_000  # that are made up where there are too few


def level_rows(question: Question) -> Iterator[ConfidenceLevel]:
    """One row by promise, if anything was promised, then one per confidence.

    Where the promise takes more machines than there are, all rows get more of the same, empty: else nothing could be compared.
    """
    reserved = reserved_of(question.snapshot.cluster, question.problem.main.resource)
    by_promise = None if reserved is None else _quick(_certain(question, reserved))
    if reserved is not None and by_promise is not None and _left_out(by_promise):
        question = _with_more_machines(question, reserved, by_promise)
        by_promise = _quick(_certain(question, reserved))
    if reserved is not None and by_promise is not None:
        yield _row(by_promise, question, None, reserved.by)
    for alpha in sorted({*LEVELS, question.alpha}):
        yield _row(_quick(question.at(alpha).problem), question, alpha, "", by_promise)


def _quick(problem: PackProblem) -> Result[Placement]:
    return PACKERS[QUICK](problem, PackOptions(), budget=Budget(), seed=0, progress=silent)


def _left_out(result: Result[Placement]) -> int:
    return 0 if result.solution is None else len(result.solution.unplaced)


def _row(
    result: Result[Placement], question: Question, alpha: float | None, by: str, promise: Result[Placement] | None = None
) -> ConfidenceLevel:
    machines = int(result.score["machines"])
    return ConfidenceLevel(
        alpha=alpha,
        by=by,
        machines=machines,
        ucac=result.score["ucac"] * question.resource.scale,
        left_out=_left_out(result),
        saved=None if promise is None else int(promise.score["machines"]) - machines,
        at_least=promise is not None and _left_out(promise) > _left_out(result),
    )


def _certain(question: Question, reserved: Reserved) -> PackProblem:
    """The problem of those who keep what was promised: every container always uses all of it."""
    main, cluster = question.problem.main, question.problem.cluster
    certain = replace(main, mean=floats(reserved.amount), variance=floats(np.zeros(len(reserved.amount))))
    usage, std = cluster.workloads.usage_mean.copy(), cluster.workloads.usage_std.copy()
    usage[:, main.resource], std[:, main.resource] = reserved.amount, 0.0
    workloads = replace(cluster.workloads, usage_mean=usage, usage_std=std)
    others = question.problem.chance_constraints[1:]
    return replace(question.problem, cluster=replace(cluster, workloads=workloads), chance_constraints=(certain, *others))


def _with_more_machines(question: Question, reserved: Reserved, result: Result[Placement]) -> Question:
    """The question with copies of all machines, about twice as many as the promises that found no place take."""
    cluster, main = question.snapshot.cluster, question.problem.main
    assert result.solution is not None
    missing = float(reserved.amount[cluster.containers.workload[result.solution.unplaced]].sum())
    times = int(np.ceil(2 * missing / max(1.0, float(main.capacity.sum())))) + 1
    copies = min(times, max(1, MOST_MACHINES // len(cluster.machines.name)))
    return question.on(_copied(cluster, copies))


def _copied(cluster: Cluster, copies: int) -> Cluster:
    """The cluster with so many empty copies of each machine behind its own."""
    n = len(cluster.machines.name)
    names = (*cluster.machines.name, *(f"{name} (copy {k + 1})" for k in range(copies) for name in cluster.machines.name))
    capacity, safety = (np.tile(part, (copies + 1, 1)) for part in (cluster.machines.capacity, cluster.machines.safety))
    levels = [
        Level(name=level.name, group=level.group, group_of=np.tile(level.group_of, copies + 1)) for level in cluster.levels[1:]
    ]
    sets = {key: ints(np.concatenate([some + k * n for k in range(copies + 1)])) for key, some in cluster.machine_sets.items()}
    return replace(
        cluster,
        machines=Machines(name=names, capacity=capacity, safety=safety),
        levels=(machine_level(names), *levels),
        machine_sets=sets,
    )
