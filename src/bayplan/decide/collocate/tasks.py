"""From a problem to tasks: who is lifted, what stands meanwhile, and what room that leaves."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from bayplan.decide.collocate.movable import movable
from bayplan.decide.collocate.task import Task
from bayplan.errors import ModelError
from bayplan.model import (
    UNPLACED,
    Allowed,
    AntiAffinity,
    BoolArray,
    Capacity,
    Cluster,
    FloatArray,
    IntArray,
    Placement,
    allowed,
    ints,
)
from bayplan.model.problem import Problem
from bayplan.score.counts import Counts, loads, workload_counts


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ground:
    """A cluster while some containers are lifted off their machines."""

    cluster: Cluster
    lifted: IntArray  # (workload,) containers that are lifted, or never had a machine
    left: Counts  # (workload, machine) where the lifted ones stood
    standing: Counts  # (workload, machine) all others
    capped: BoolArray  # (resource,) a capacity rule counts it
    room: IntArray  # (machine, resource) beside those that stand; 0 where no rule counts, never negative
    may: Allowed
    member: Counts  # (set, workload) anti-affinity on machines
    limit: IntArray  # (set,)
    crowd: Counts  # (set, machine) containers of the set that stand


def whole_task(problem: Problem, *, services: IntArray | None = None, free: IntArray | None = None) -> Task:
    """The task of some workloads (those with traffic, if not told) on all machines.

    All other containers stand where they are. Movable ones of the workloads `free` are lifted, too: they take no room.
    """
    chosen = affine(problem.cluster) if services is None else services
    ground = lift(problem, chosen if free is None else np.union1d(chosen, free))
    return cut(ground, chosen, np.arange(len(problem.cluster.machines.name)))


def sub_tasks(problem: Problem, sets: Sequence[IntArray], machine_set: IntArray, *, trivial: str) -> tuple[Task, ...]:
    """One task per set of workloads, on the machines that `machine_set` (machine,) gives to it; other numbers: to none.

    The containers of all sets are lifted, wherever they stand. Trivial services, those in no set, stand where they are
    ("pinned") or are lifted, too ("refit").
    """
    if trivial not in ("pinned", "refit"):
        raise ModelError(f"trivial services '{trivial}': expected 'pinned' or 'refit'")
    everyone = np.arange(len(problem.cluster.workloads.name))
    ground = lift(problem, everyone if trivial == "refit" else np.concatenate([np.zeros(0, dtype=np.int64), *sets]))
    return tuple(cut(ground, some, np.flatnonzero(machine_set == number)) for number, some in enumerate(sets))


def affine(cluster: Cluster) -> IntArray:
    """The workloads that have traffic, ascending."""
    return ints(np.union1d(cluster.traffic.a, cluster.traffic.b))


def lift(problem: Problem, workloads: IntArray) -> Ground:
    """The ground when the movable containers of some workloads are lifted."""
    cluster = problem.cluster
    goes = movable(problem) & np.isin(cluster.containers.workload, workloads)
    stands = Placement(machine_of=ints(np.where(goes, UNPLACED, problem.start.machine_of)))
    flies = Placement(machine_of=ints(np.where(goes, problem.start.machine_of, UNPLACED)))
    capped = np.zeros(len(cluster.resources), dtype=np.bool_)
    for rule in cluster.rules:
        if isinstance(rule, Capacity):
            capped[list(rule.resources)] = True
    standing = workload_counts(cluster, stands)
    member, limit = _apart(cluster)
    return Ground(
        cluster=cluster,
        lifted=ints(np.bincount(cluster.containers.workload[goes], minlength=len(cluster.workloads.name))),
        left=workload_counts(cluster, flies),
        standing=standing,
        capped=capped,
        room=np.maximum(0, np.where(capped, cluster.machines.capacity - loads(cluster, stands), 0)),
        may=allowed(cluster),
        member=member,
        limit=limit,
        crowd=csr_array(member @ standing),
    )


def _apart(cluster: Cluster) -> tuple[Counts, IntArray]:
    """Members (set, workload) and limits of the anti-affinity rules on machines."""
    rules = [rule for rule in cluster.rules if isinstance(rule, AntiAffinity) and rule.level == 0]
    members = [sorted(set(rule.workloads)) for rule in rules]
    start = np.r_[0, np.cumsum([len(some) for some in members], dtype=np.int64)]
    column = np.array([w for some in members for w in some], dtype=np.int64)
    ones = np.ones(len(column), dtype=np.int64)
    shape = (len(rules), len(cluster.workloads.name))
    return csr_array((ones, column, start), shape=shape), ints([rule.limit for rule in rules])


def cut(ground: Ground, services: IntArray, machines: IntArray) -> Task:
    """The task of some lifted workloads on some machines. Workloads without containers are dropped."""
    cluster = ground.cluster
    w = services[cluster.replicas[services] > 0]
    row, row_of = np.unique(ground.may.row_of[w], return_inverse=True)
    member, spare = _limits(ground, w, machines)
    a, b, weight = _edges(cluster, w)
    return Task(
        workload=ints(w),
        machine=ints(machines),
        replicas=ints(cluster.replicas[w]),
        demand=ints(ground.lifted[w]),
        request=ints(np.where(ground.capped, cluster.workloads.request[w], 0)),
        room=ints(ground.room[machines]),
        row_of=ints(row_of.ravel()),
        allow=ground.may.row[row][:, machines],
        member=member,
        spare=spare,
        a=a,
        b=b,
        weight=weight,
        now=ground.left[w][:, machines].toarray(),
        fixed=ground.standing[w][:, machines].toarray(),
    )


def _limits(ground: Ground, w: IntArray, machines: IntArray) -> tuple[BoolArray, IntArray]:
    """Members (set, service) and what may still come (set, machine), of the sets that can become too many on a machine."""
    member = ground.member[:, w]
    wanted = np.asarray(member @ ground.lifted[w])
    some = np.flatnonzero(wanted > 0)
    spare = np.maximum(0, ground.limit[some, None] - ground.crowd[some][:, machines].toarray())
    tight = wanted[some] > spare.min(axis=1, initial=np.iinfo(np.int64).max)
    return member[some[tight]].toarray() > 0, ints(spare[tight])


def _edges(cluster: Cluster, w: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Traffic within some workloads, by their position; weights of a total of 1 in the cluster."""
    position = np.full(len(cluster.workloads.name), -1, dtype=np.int64)
    position[w] = np.arange(len(w))
    a, b = position[cluster.traffic.a], position[cluster.traffic.b]
    inside = (a >= 0) & (b >= 0)
    return ints(a[inside]), ints(b[inside]), cluster.traffic.weight[inside] / max(cluster.traffic.weight.sum(), 1e-300)
