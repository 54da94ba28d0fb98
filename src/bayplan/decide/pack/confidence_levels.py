"""What over-commitment buys: the same containers packed quickly at several confidences, and by what is reserved for them."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from bayplan.decide.pack.heuristics import bi_level
from bayplan.decide.pack.instance import PackInstance
from bayplan.decide.pack.options import PackOptions
from bayplan.decide.pack.problem import PackProblem
from bayplan.engine.jobs import Job, Shared
from bayplan.engine.lazy import LazyEngine
from bayplan.model import Budget, Cluster, Level, Machines, Placement, Result, floats, ints, machine_level, silent
from bayplan.model.interrupt import stop_requested
from bayplan.score.packing import ConfidenceLevel, Reservation, reservation_of

LEVELS = (0.99, 0.999, 0.9999)
MOST_MACHINES = 100_000  # that are added where there are too few


def confidence_levels(
    instance: PackInstance, engine: LazyEngine | None = None, ends: float = float("inf")
) -> Iterator[ConfidenceLevel]:
    """One level by reservation, if anything is reserved, then one per confidence, all packed by bi-level.

    Each confidence is a question of its own. Where they take long, those that are left are jobs on the engine, until a moment of
    `time.perf_counter`; levels that are missing then are left out.

    Where the reservations take more machines than there are, all levels get more of the same, empty: else nothing could be
    compared.
    """
    reservation = reservation_of(instance.snapshot.cluster, instance.problem.main.resource)
    reserved = None if reservation is None else _packed(_reserved_problem(instance, reservation))
    if reservation is not None and reserved is not None and _left_out(reserved):
        instance = _with_more_machines(instance, reservation, reserved)
        reserved = _packed(_reserved_problem(instance, reservation))
    if reservation is not None and reserved is not None:
        yield _level(reserved, instance, None, reservation.by)
    yield from _levels(instance, reserved, engine or LazyEngine(), ends)


def _levels(
    instance: PackInstance, reserved: Result[Placement] | None, engine: LazyEngine, ends: float
) -> Iterator[ConfidenceLevel]:
    """One level per confidence, in ascending order."""
    alphas, came = sorted({*LEVELS, instance.alpha}), None
    for n, alpha in enumerate(alphas):
        if came is None and engine.worthwhile(len(alphas) - n):
            came = _on_engine(instance, alphas[n:], engine, ends)
        if came is not None and alpha not in came and (time.perf_counter() > ends or stop_requested()):
            continue
        if came is None or alpha not in came:
            began = time.perf_counter()
            result = packed_at(instance, alpha)[1]
            engine.did(time.perf_counter() - began)
        else:
            result = came[alpha]
        yield _level(result, instance, alpha, "", reserved)


def _on_engine(
    instance: PackInstance, alphas: Sequence[float], engine: LazyEngine, ends: float
) -> dict[float, Result[Placement]]:
    """What workers pack at these confidences, as far as it comes in time."""
    shared = Shared(instance)
    jobs = [Job(name=f"packing at confidence {alpha:g}", call=packed_at, arguments=(shared, alpha)) for alpha in alphas]
    with engine:
        return dict(engine.answers(jobs, ends=ends))


def packed_at(instance: PackInstance, alpha: float) -> tuple[float, Result[Placement]]:
    """A confidence, and the packing at it; in a worker, too."""
    return alpha, _packed(instance.at(alpha).problem)


def _packed(problem: PackProblem) -> Result[Placement]:
    return bi_level(problem, PackOptions(), budget=Budget(), seed=0, progress=silent)


def _left_out(result: Result[Placement]) -> int:
    return 0 if result.solution is None else len(result.solution.unplaced)


def _level(
    result: Result[Placement], instance: PackInstance, alpha: float | None, by: str, reserved: Result[Placement] | None = None
) -> ConfidenceLevel:
    machines = int(result.score["machines"])
    return ConfidenceLevel(
        alpha=alpha,
        by=by,
        machines=machines,
        ucac=result.score["ucac"] * instance.resource.scale,
        left_out=_left_out(result),
        saved=None if reserved is None else int(reserved.score["machines"]) - machines,
        at_least=reserved is not None and _left_out(reserved) > _left_out(result),
    )


def _reserved_problem(instance: PackInstance, reservation: Reservation) -> PackProblem:
    """The problem if every container always uses all that is reserved for it."""
    main, cluster = instance.problem.main, instance.problem.cluster
    certain = replace(main, mean=floats(reservation.amount), variance=floats(np.zeros(len(reservation.amount))))
    mean, std = cluster.workloads.usage_mean.copy(), cluster.workloads.usage_std.copy()
    mean[:, main.resource], std[:, main.resource] = reservation.amount, 0.0
    workloads = replace(cluster.workloads, usage_mean=mean, usage_std=std)
    others = instance.problem.chance_constraints[1:]
    return replace(instance.problem, cluster=replace(cluster, workloads=workloads), chance_constraints=(certain, *others))


def _with_more_machines(instance: PackInstance, reservation: Reservation, result: Result[Placement]) -> PackInstance:
    """The instance with copies of all machines, about twice as many as the reservations left out take."""
    cluster, main = instance.snapshot.cluster, instance.problem.main
    assert result.solution is not None
    missing = float(reservation.amount[cluster.containers.workload[result.solution.unplaced]].sum())
    times = int(np.ceil(2 * missing / max(1.0, float(main.capacity.sum())))) + 1
    copies = min(times, max(1, MOST_MACHINES // len(cluster.machines.name)))
    return instance.on(_with_copies(cluster, copies))


def _with_copies(cluster: Cluster, copies: int) -> Cluster:
    """The cluster with that many empty copies of each machine behind its own."""
    n = len(cluster.machines.name)
    names = (*cluster.machines.name, *(f"{name} (copy {k + 1})" for k in range(copies) for name in cluster.machines.name))
    capacity, safety = (np.tile(part, (copies + 1, 1)) for part in (cluster.machines.capacity, cluster.machines.safety))
    levels = [
        Level(name=level.name, group=level.group, group_of=np.tile(level.group_of, copies + 1)) for level in cluster.levels[1:]
    ]
    sets = {
        name: ints(np.concatenate([machines + k * n for k in range(copies + 1)]))
        for name, machines in cluster.machine_sets.items()
    }
    return replace(
        cluster,
        machines=Machines(name=names, capacity=capacity, safety=safety),
        levels=(machine_level(names), *levels),
        machine_sets=sets,
    )
