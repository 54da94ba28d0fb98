"""A part of a problem: some machines, what runs on them, and the rules and the objective of that, as a problem of its own."""

from dataclasses import dataclass, replace

import numpy as np

from bayplan.model import (
    UNPLACED,
    BoolArray,
    Cluster,
    Containers,
    FloatArray,
    IntArray,
    Level,
    Machines,
    Objective,
    Placement,
    Services,
    Term,
    Traffic,
    Workloads,
    ints,
    machine_level,
)
from bayplan.model.arrays import NameArray
from bayplan.model.problem import Problem
from bayplan.search.parts.part_rules import PartRules, RuleIndex


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part:
    """A problem of its own, and where it stands in the whole one."""

    machines: IntArray  # of the whole cluster, ascending
    containers: IntArray  # likewise
    problem: Problem

    def merge_into(self, machine_of: IntArray, of_part: IntArray) -> None:
        """Write the part's answer into the machines (container,) of the whole cluster."""
        machine_of[self.containers] = np.where(of_part == UNPLACED, UNPLACED, self.machines[of_part])


def part_of(problem: Problem, index: RuleIndex, machines: IntArray, *, max_moves: int | None = None) -> Part:
    """The part of these machines with what runs there at the start of the problem.

    Replicas on other machines count as *elsewhere*, so a container gains there what it gains in the whole cluster. A container
    that moved here from a machine outside of the part stays: its move is made, and cannot be taken back here.
    """
    cluster = problem.cluster
    inside = np.zeros(len(cluster.machines.name) + 1, dtype=np.bool_)  # the last one: UNPLACED
    inside[machines] = True
    containers = np.flatnonzero(inside[problem.start.machine_of])
    owner = cluster.containers.workload[containers]
    workloads, at = np.unique(owner, return_inverse=True)
    services = np.unique(cluster.workloads.service[workloads])
    workload_at, service_at = _places(workloads, len(cluster.workloads.name)), _places(services, len(cluster.services.name))
    rules = PartRules(index, machines, ints(containers), workload_at, service_at)
    machine_at = np.append(_places(machines, len(cluster.machines.name)), UNPLACED)
    start = machine_at[problem.start.machine_of[containers]]
    ran = problem.before.machine_of[containers]
    came = (ran != UNPLACED) & ~inside[ran]  # from another part
    frozen = rules.frozen | came | (problem.frozen[containers] if len(problem.frozen) else False)
    small = Cluster(
        name=cluster.name,
        resources=cluster.resources,
        machines=_machines(cluster, machines),
        levels=_levels(cluster, machines),
        services=Services(name=_named(cluster.services.name, services), clique=cluster.services.clique[services]),
        workloads=_workloads(cluster, workloads, service_at),
        containers=Containers(name=_container_names(cluster, containers), workload=ints(at.ravel())),
        traffic=_traffic(cluster, workload_at),
        rules=rules.rules,
        machine_sets=rules.machine_sets,
        elsewhere=ints(cluster.replicas[workloads] - np.bincount(at.ravel(), minlength=len(workloads))),
    )
    within = Problem(
        cluster=small,
        objective=_objective(problem, small, machines, workloads),
        before=Placement(machine_of=ints(np.where(came, start, machine_at[ran]))),
        start=Placement(machine_of=ints(start)),
        frozen=_read_only(frozen),
        max_moves=max_moves,
    )
    return Part(machines=machines, containers=ints(containers), problem=within)


def _places(chosen: IntArray, size: int) -> IntArray:
    """(size,) the number of each chosen one, -1 for others."""
    place = np.full(size, -1, dtype=np.int64)
    place[chosen] = np.arange(len(chosen))
    return place


def _named(names: tuple[str, ...], chosen: IntArray) -> tuple[str, ...]:
    return tuple(names[n] for n in chosen.tolist())


def _container_names(cluster: Cluster, containers: IntArray) -> NameArray:
    names = cluster.containers.name
    return NameArray.of((names[c] for c in containers.tolist()), distinct=True)


def _machines(cluster: Cluster, machines: IntArray) -> Machines:
    whole = cluster.machines
    return Machines(name=_named(whole.name, machines), capacity=whole.capacity[machines], safety=whole.safety[machines])


def _levels(cluster: Cluster, machines: IntArray) -> tuple[Level, ...]:
    """The levels, with the groups that have a machine here."""
    levels = [machine_level(_named(cluster.machines.name, machines))]
    for level in cluster.levels[1:]:
        used, at = np.unique(level.group_of[machines], return_inverse=True)
        levels.append(Level(name=level.name, group=_named(level.group, used), group_of=ints(at.ravel())))
    return tuple(levels)


def _workloads(cluster: Cluster, chosen: IntArray, service_at: IntArray) -> Workloads:
    whole = cluster.workloads
    return Workloads(
        name=_named(whole.name, chosen),
        service=service_at[whole.service[chosen]],
        request=whole.request[chosen],
        usage_mean=whole.usage_mean[chosen],
        usage_std=whole.usage_std[chosen],
        limit=whole.limit[chosen],
    )


def _traffic(cluster: Cluster, workload_at: IntArray) -> Traffic:
    """The edges of which both ends have a container here."""
    a, b = workload_at[cluster.traffic.a], workload_at[cluster.traffic.b]
    both = (a >= 0) & (b >= 0)
    return Traffic(a=a[both], b=b[both], weight=cluster.traffic.weight[both])


def _objective(problem: Problem, small: Cluster, machines: IntArray, workloads: IntArray) -> Objective:
    """The objective in which a change here is worth what it is worth in the whole cluster, but for the part's own mean load."""
    whole, weight = problem.objective, dict(problem.objective.weight)
    factor = {
        Term.AFFINITY: _ratio(small.traffic.weight, problem.cluster.traffic.weight),
        Term.UTILISATION: len(machines) / max(1, len(problem.cluster.machines.name)),
    }
    weight = {term: value * factor.get(term, 1.0) for term, value in weight.items()}
    costs = whole.move_costs
    if costs is not None:
        between = costs.machine[np.ix_(machines, machines)] if costs.machine.size else costs.machine
        costs = replace(costs, container=costs.container[workloads], machine=between)
    return replace(whole, weight=weight, move_costs=costs)


def _ratio(some: FloatArray, every: FloatArray) -> float:
    total = float(every.sum())
    return float(some.sum()) / total if total else 1.0


def _read_only(marks: BoolArray) -> BoolArray:
    marks = np.ascontiguousarray(marks)
    marks.flags.writeable = False
    return marks
