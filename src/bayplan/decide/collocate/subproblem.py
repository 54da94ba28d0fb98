"""Subproblems in counts: some workloads on some machines, [RASA] (2)-(9); and how they are cut out of a problem.

First the movable containers of some workloads are lifted off their machines (`lift`); what all others leave free is what the
subproblems may use. [RASA] calls a workload a service.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

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
    Skew,
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
    """Which counts (workload, machine) gain most? What stays on the machines is subtracted from `free` and `set_free` already."""

    workload: IntArray  # (workload,) its index in the cluster
    machine: IntArray  # (machine,) its index in the cluster
    replicas: IntArray  # (workload,) d of (1): all containers of the workload in the cluster
    demand: IntArray  # (workload,) containers to place here, at most `replicas`
    request: IntArray  # (workload, resource); 0 where no capacity rule counts
    free: IntArray  # (machine, resource) not negative
    row_of: IntArray  # (workload,) row of `allow`
    allow: BoolArray  # (row, machine) (6)
    member: BoolArray  # (set, workload) anti-affinity sets (5)
    set_free: IntArray  # (set, machine) containers of the set that may still come: h less those that stay; not negative
    a: IntArray  # (edge,) workload
    b: IntArray  # (edge,) workload
    weight: FloatArray  # (edge,) of a total of 1 in the whole cluster
    now: IntArray  # (workload, machine) where those to place run now; may be fewer than `demand`
    fixed: IntArray  # (workload, machine) containers that stay: they count in (1)

    @property
    def shape(self) -> tuple[int, int]:
        """(workloads, machines)"""
        return len(self.workload), len(self.machine)


class SolvedCounts(NamedTuple):
    """What a solver makes of a subproblem."""

    counts: IntArray  # (workload, machine)
    solver_ran: bool  # or are they what a greedy pass found, since the program is too large or no time was left?


def gained(subproblem: Subproblem, counts: IntArray) -> float:
    """The affinity that a subproblem's workloads gain if `counts` (workload, machine) are placed (1), (2)."""
    share = (counts + subproblem.fixed) / subproblem.replicas[:, None]
    return float(subproblem.weight @ np.minimum(share[subproblem.a], share[subproblem.b]).sum(axis=1))


def violations(subproblem: Subproblem, counts: IntArray) -> list[str]:
    """Which of (3)-(6), (9) `counts` violates, a sentence each. Fewer containers than the demand are allowed."""
    violated = []
    if counts.min(initial=0) < 0 or (counts.sum(axis=1) > subproblem.demand).any():
        violated.append("a workload has a negative count on a machine, or more containers than its demand")
    if (np.asarray(csr_array(counts.T) @ subproblem.request) > subproblem.free).any():  # sparse: numpy multiplies integers slowly
        violated.append("a machine is too full")
    if (np.asarray(csr_array(subproblem.member.astype(np.int64)) @ counts) > subproblem.set_free).any():
        violated.append("too many containers of an anti-affinity set on a machine")
    if ((counts > 0) & ~subproblem.allow[subproblem.row_of]).any():
        violated.append("a workload runs where it may not")
    return violated


def expect_known_rules(cluster: Cluster, method: str) -> None:
    """UsageError if a rule applies to every container that moves and the method does not know it."""
    for rule in cluster.rules:
        if isinstance(rule, Transient | Confidence):
            raise UsageError(f"method '{method}' does not know {rule.kind} rules; expected 'best'")


def has_other_rules(problem: Problem) -> bool:
    """Is there a rule about every move, which counts of containers cannot express?"""
    return any(isinstance(rule, Transient | Confidence) for rule in problem.cluster.rules)


def may_collocate(problem: Problem) -> bool:
    """May anything that talks be moved in counts, or do rules of every move leave the decision to the search over all rules?"""
    talks = np.zeros(len(problem.cluster.workloads.name), dtype=np.bool_)
    talks[problem.cluster.traffic.a] = talks[problem.cluster.traffic.b] = True
    return has_other_rules(problem) or bool((movable(problem) & talks[problem.cluster.containers.workload]).any())


def movable(problem: Problem) -> BoolArray:
    """(container,) may it be moved without regard to the rules that [RASA] does not know?

    Others stay: what is pinned, co-located or frozen, and all containers of workloads that are named by spread, skew, dependency
    or interference rules, or by anti-affinity rules of a level above the machine.
    """
    cluster = problem.cluster
    held = np.zeros(len(cluster.workloads.name), dtype=np.bool_)
    for rule in cluster.rules:
        held[list(_held_by(rule, cluster))] = True
    stays = singled_out(cluster) | held[cluster.containers.workload]
    return ~(stays | problem.frozen if len(problem.frozen) else stays)


def _held_by(rule: Rule, cluster: Cluster) -> Iterable[int]:
    """The workloads that a rule keeps where they are."""
    if isinstance(rule, AntiAffinity):
        return rule.workloads if rule.level else ()
    if isinstance(rule, Interference):
        return rule.a, rule.b
    if isinstance(rule, Skew):
        return (rule.workload, *rule.counts)
    services = [rule.service] if isinstance(rule, Spread) else [rule.service, rule.on] if isinstance(rule, Dependency) else []
    workloads: list[int] = np.flatnonzero(np.isin(cluster.workloads.service, services)).tolist() if services else []
    return workloads


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LiftedCluster:
    """A cluster while some containers are lifted off their machines."""

    cluster: Cluster
    count: IntArray  # (workload,) containers that are lifted, or never had a machine
    origin: Counts  # (workload, machine) where the lifted ones ran
    staying: Counts  # (workload, machine) all others
    capped: BoolArray  # (resource,) does a capacity rule limit it?
    free: IntArray  # (machine, resource) beside those that stay; 0 without a capacity rule, never negative
    may_run: AllowedMachines
    member: Counts  # (set, workload) anti-affinity on machines
    limit: IntArray  # (set,)
    set_count: Counts  # (set, machine) containers of the set that stay


def whole_cluster(problem: Problem, *, workloads: IntArray | None = None, free: IntArray | None = None) -> Subproblem:
    """The subproblem of some workloads (by default those with traffic) on all machines.

    All other containers stay where they are. Movable ones of the workloads `free` are lifted, too: they use no capacity.
    """
    chosen = workloads_with_traffic(problem.cluster) if workloads is None else workloads
    lifted = lift(problem, chosen if free is None else np.union1d(chosen, free))
    return cut_subproblem(lifted, chosen, np.arange(len(problem.cluster.machines.name)))


def subproblems_of(problem: Problem, sets: Sequence[IntArray], machine_set: IntArray, *, trivial: str) -> tuple[Subproblem, ...]:
    """One subproblem per set of workloads, on the machines that `machine_set` (machine,) gives to it; other numbers mean no set.

    The containers of all sets are lifted, wherever they run. Trivial workloads, those in no set, stay where they are
    ("pinned") or are lifted, too ("refit").
    """
    if trivial not in ("pinned", "refit"):
        raise ModelError(f"trivial workloads '{trivial}'; expected 'pinned' or 'refit'")
    all_workloads = np.arange(len(problem.cluster.workloads.name))
    lifted = lift(problem, all_workloads if trivial == "refit" else np.concatenate([np.zeros(0, dtype=np.int64), *sets]))
    return tuple(cut_subproblem(lifted, members, np.flatnonzero(machine_set == k)) for k, members in enumerate(sets))


def workloads_with_traffic(cluster: Cluster) -> IntArray:
    """The workloads that have traffic, ascending."""
    return ints(np.union1d(cluster.traffic.a, cluster.traffic.b))


def lift(problem: Problem, workloads: IntArray) -> LiftedCluster:
    """The cluster while the movable containers of some workloads are lifted."""
    cluster = problem.cluster
    goes = movable(problem) & np.isin(cluster.containers.workload, workloads)
    staying = Placement(machine_of=ints(np.where(goes, UNPLACED, problem.start.machine_of)))
    origin = Placement(machine_of=ints(np.where(goes, problem.start.machine_of, UNPLACED)))
    capped = np.zeros(len(cluster.resources), dtype=np.bool_)
    for rule in cluster.rules:
        if isinstance(rule, Capacity):
            capped[list(rule.resources)] = True
    staying_count = workload_counts(cluster, staying)
    member, limit = _anti_affinity(cluster)
    return LiftedCluster(
        cluster=cluster,
        count=ints(np.bincount(cluster.containers.workload[goes], minlength=len(cluster.workloads.name))),
        origin=workload_counts(cluster, origin),
        staying=staying_count,
        capped=capped,
        free=np.maximum(0, np.where(capped, cluster.machines.capacity - loads(cluster, staying), 0)),
        may_run=allowed(cluster),
        member=member,
        limit=limit,
        set_count=csr_array(member @ staying_count),
    )


def _anti_affinity(cluster: Cluster) -> tuple[Counts, IntArray]:
    """Members (set, workload) and limits of the anti-affinity rules on machines."""
    rules = [rule for rule in cluster.rules if isinstance(rule, AntiAffinity) and rule.level == 0]
    members = [sorted(set(rule.workloads)) for rule in rules]
    start = np.r_[0, np.cumsum([len(workloads) for workloads in members], dtype=np.int64)]
    column = np.array([w for workloads in members for w in workloads], dtype=np.int64)
    ones = np.ones(len(column), dtype=np.int64)
    shape = (len(rules), len(cluster.workloads.name))
    return csr_array((ones, column, start), shape=shape), ints([rule.limit for rule in rules])


def cut_subproblem(lifted: LiftedCluster, workloads: IntArray, machines: IntArray) -> Subproblem:
    """The subproblem of some lifted workloads on some machines. Workloads without containers are dropped."""
    cluster = lifted.cluster
    w = workloads[cluster.replicas[workloads] > 0]
    row, row_of = np.unique(lifted.may_run.row_of[w], return_inverse=True)
    member, set_free = _limits(lifted, w, machines)
    a, b, weight = _edges(cluster, w)
    return Subproblem(
        workload=ints(w),
        machine=ints(machines),
        replicas=ints(cluster.replicas[w]),
        demand=ints(lifted.count[w]),
        request=ints(np.where(lifted.capped, cluster.workloads.request[w], 0)),
        free=ints(lifted.free[machines]),
        row_of=ints(row_of.ravel()),
        allow=lifted.may_run.row[row][:, machines],
        member=member,
        set_free=set_free,
        a=a,
        b=b,
        weight=weight,
        now=lifted.origin[w][:, machines].toarray(),
        fixed=lifted.staying[w][:, machines].toarray(),
    )


def _limits(lifted: LiftedCluster, w: IntArray, machines: IntArray) -> tuple[BoolArray, IntArray]:
    """Members (set, workload) and what may still come (set, machine), of those sets whose limit can bind."""
    member = lifted.member[:, w]
    coming = np.asarray(member @ lifted.count[w])
    used = np.flatnonzero(coming > 0)
    set_free = np.maximum(0, lifted.limit[used, None] - lifted.set_count[used][:, machines].toarray())
    tight = coming[used] > set_free.min(axis=1, initial=np.iinfo(np.int64).max)
    return member[used[tight]].toarray() > 0, ints(set_free[tight])


def _edges(cluster: Cluster, w: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Traffic within some workloads, by their position; weights of a total of 1 in the cluster."""
    position = np.full(len(cluster.workloads.name), -1, dtype=np.int64)
    position[w] = np.arange(len(w))
    a, b = position[cluster.traffic.a], position[cluster.traffic.b]
    inside = (a >= 0) & (b >= 0)
    return ints(a[inside]), ints(b[inside]), cluster.traffic.weight[inside] / max(cluster.traffic.weight.sum(), 1e-300)
