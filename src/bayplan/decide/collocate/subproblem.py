"""A sub-problem in counts: some services, some machines, (2)-(9) of 004. Services here are workloads of the cluster."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from bayplan.errors import ModelError, UsageError
from bayplan.model import (
    UNPLACED,
    AllowedMachines,
    AntiAffinity,
    BoolArray,
    Capacity,
    Cluster,
    Confidence,
    Dependency,
    FloatArray,
    IntArray,
    Interference,
    Placement,
    Rule,
    Spread,
    Transient,
    allowed,
    ints,
    singled_out,
)
from bayplan.model.problem import Problem
from bayplan.score.counts import Counts, loads, workload_counts


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Subproblem:
    """Which counts (service, machine) gain most? What does not belong to it is off `room` and `spare` already."""

    workload: IntArray  # (service,) its index in the cluster
    machine: IntArray  # (machine,) its index in the cluster
    replicas: IntArray  # (service,) d of (1): all containers of the service in the cluster
    demand: IntArray  # (service,) containers to place here, at most `replicas`
    request: IntArray  # (service, resource); 0 where no capacity rule counts
    room: IntArray  # (machine, resource) not negative
    row_of: IntArray  # (service,) row of `allow`
    allow: BoolArray  # (row, machine) (6)
    member: BoolArray  # (set, service) anti-affinity sets (5)
    spare: IntArray  # (set, machine) containers of the set that may still come: h less those that stand there; not negative
    a: IntArray  # (edge,) service
    b: IntArray  # (edge,) service
    weight: FloatArray  # (edge,) of a total of 1 in the whole cluster
    now: IntArray  # (service, machine) where those to place stand now; may be fewer than `demand`
    fixed: IntArray  # (service, machine) containers that stay: they count in (1), and are off `room` and `spare`

    @property
    def shape(self) -> tuple[int, int]:
        """(services, machines)"""
        return len(self.workload), len(self.machine)


def gained(task: Subproblem, counts: IntArray) -> float:
    """The affinity of a task's services if `counts` (service, machine) are placed (1), (2)."""
    share = (counts + task.fixed) / task.replicas[:, None]
    return float(task.weight @ np.minimum(share[task.a], share[task.b]).sum(axis=1))


def violations(task: Subproblem, counts: IntArray) -> list[str]:
    """What of (3)-(6), (9) `counts` breaks, a sentence each. Fewer containers than the demand are no fault."""
    found = []
    if counts.min(initial=0) < 0 or (counts.sum(axis=1) > task.demand).any():
        found.append("a service has fewer than no containers on a machine, or more than its demand")
    if (np.asarray(csr_array(counts.T) @ task.request) > task.room).any():  # sparse: numpy multiplies whole numbers slowly
        found.append("a machine is too full")
    if (np.asarray(csr_array(task.member.astype(np.int64)) @ counts) > task.spare).any():
        found.append("too many containers of an anti-affinity set on a machine")
    if ((counts > 0) & ~task.allow[task.row_of]).any():
        found.append("a service stands where it may not")
    return found


def expect_known_rules(cluster: Cluster, method: str) -> None:
    """Nothing; UsageError if a rule counts for every container that moves, and the method does not know it."""
    for rule in cluster.rules:
        if isinstance(rule, Transient | Confidence):
            raise UsageError(f"method '{method}' does not know {rule.kind} rules; expected 'best'")


def movable(problem: Problem) -> BoolArray:
    """(container,) that may be moved without a look at rules that 004 does not know.

    Others stay: what is pinned, co-located or frozen, and all containers of workloads that are named by spread, dependency
    or interference rules, or by anti-affinity rules of a level above the machine.
    """
    cluster = problem.cluster
    bound = np.zeros(len(cluster.workloads.name), dtype=np.bool_)
    for rule in cluster.rules:
        bound[list(_bound_by(rule, cluster))] = True
    stays = singled_out(cluster) | bound[cluster.containers.workload]
    return ~(stays | problem.frozen if len(problem.frozen) else stays)


def _bound_by(rule: Rule, cluster: Cluster) -> Iterable[int]:
    """The workloads that a rule holds where they are."""
    if isinstance(rule, AntiAffinity):
        return rule.workloads if rule.level else ()
    if isinstance(rule, Interference):
        return rule.a, rule.b
    services = [rule.service] if isinstance(rule, Spread) else [rule.service, rule.on] if isinstance(rule, Dependency) else []
    of_services: list[int] = np.flatnonzero(np.isin(cluster.workloads.service, services)).tolist() if services else []
    return of_services


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LiftedCluster:
    """A cluster while some containers are lifted off their machines."""

    cluster: Cluster
    lifted: IntArray  # (workload,) containers that are lifted, or never had a machine
    left: Counts  # (workload, machine) where the lifted ones stood
    standing: Counts  # (workload, machine) all others
    capped: BoolArray  # (resource,) a capacity rule counts it
    room: IntArray  # (machine, resource) beside those that stand; 0 where no rule counts, never negative
    may: AllowedMachines
    member: Counts  # (set, workload) anti-affinity on machines
    limit: IntArray  # (set,)
    crowd: Counts  # (set, machine) containers of the set that stand


def whole_cluster(problem: Problem, *, services: IntArray | None = None, free: IntArray | None = None) -> Subproblem:
    """The task of some workloads (those with traffic, if not told) on all machines.

    All other containers stand where they are. Movable ones of the workloads `free` are lifted, too: they take no room.
    """
    chosen = workloads_with_traffic(problem.cluster) if services is None else services
    ground = lift(problem, chosen if free is None else np.union1d(chosen, free))
    return cut_subproblem(ground, chosen, np.arange(len(problem.cluster.machines.name)))


def subproblems(problem: Problem, sets: Sequence[IntArray], machine_set: IntArray, *, trivial: str) -> tuple[Subproblem, ...]:
    """One task per set of workloads, on the machines that `machine_set` (machine,) gives to it; other numbers: to none.

    The containers of all sets are lifted, wherever they stand. Trivial services, those in no set, stand where they are
    ("pinned") or are lifted, too ("refit").
    """
    if trivial not in ("pinned", "refit"):
        raise ModelError(f"trivial services '{trivial}': expected 'pinned' or 'refit'")
    everyone = np.arange(len(problem.cluster.workloads.name))
    ground = lift(problem, everyone if trivial == "refit" else np.concatenate([np.zeros(0, dtype=np.int64), *sets]))
    return tuple(cut_subproblem(ground, some, np.flatnonzero(machine_set == number)) for number, some in enumerate(sets))


def workloads_with_traffic(cluster: Cluster) -> IntArray:
    """The workloads that have traffic, ascending."""
    return ints(np.union1d(cluster.traffic.a, cluster.traffic.b))


def lift(problem: Problem, workloads: IntArray) -> LiftedCluster:
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
    member, limit = _anti_affinity(cluster)
    return LiftedCluster(
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


def _anti_affinity(cluster: Cluster) -> tuple[Counts, IntArray]:
    """Members (set, workload) and limits of the anti-affinity rules on machines."""
    rules = [rule for rule in cluster.rules if isinstance(rule, AntiAffinity) and rule.level == 0]
    members = [sorted(set(rule.workloads)) for rule in rules]
    start = np.r_[0, np.cumsum([len(some) for some in members], dtype=np.int64)]
    column = np.array([w for some in members for w in some], dtype=np.int64)
    ones = np.ones(len(column), dtype=np.int64)
    shape = (len(rules), len(cluster.workloads.name))
    return csr_array((ones, column, start), shape=shape), ints([rule.limit for rule in rules])


def cut_subproblem(ground: LiftedCluster, services: IntArray, machines: IntArray) -> Subproblem:
    """The task of some lifted workloads on some machines. Workloads without containers are dropped."""
    cluster = ground.cluster
    w = services[cluster.replicas[services] > 0]
    row, row_of = np.unique(ground.may.row_of[w], return_inverse=True)
    member, spare = _limits(ground, w, machines)
    a, b, weight = _edges(cluster, w)
    return Subproblem(
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


def _limits(ground: LiftedCluster, w: IntArray, machines: IntArray) -> tuple[BoolArray, IntArray]:
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
