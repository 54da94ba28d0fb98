"""A snapshot with the containers, workloads and rules that only a target or a plan names.

What the snapshot itself says stays as it is. New containers have no machine yet.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeGuard

import numpy as np

from bayplan.model import (
    NO_LIMIT,
    UNPLACED,
    Allow,
    AntiAffinity,
    Cluster,
    CoLocate,
    Containers,
    Dependency,
    IntArray,
    Interference,
    Pinned,
    Placement,
    Rule,
    Services,
    Skew,
    Snapshot,
    Spread,
    Workloads,
    floats,
    ints,
)

TARGET_PREFIX = "of the target: "  # before the names of machine sets that come with new workloads


class NewRules:
    """Rules of one cluster in the numbers of another that has the same names and more."""

    def __init__(self, other: Cluster, cluster: Cluster, workloads: frozenset[int], containers: frozenset[str]) -> None:
        self.other, self.cluster, self.new, self.new_containers = other, cluster, workloads, containers
        self.workload = _numbers(other.workloads.name, cluster.workloads.name)
        self.service = _numbers(other.services.name, cluster.services.name)
        self.container = _numbers(other.containers.name, cluster.containers.name)
        self.level = _numbers([level.name for level in other.levels], [level.name for level in cluster.levels])
        old = {other.workloads.service[w] for w in range(len(other.workloads.name)) if w not in workloads}
        self.new_services = {int(other.workloads.service[w]) for w in workloads} - {int(s) for s in old}
        self.together = {c for rule in cluster.rules if isinstance(rule, CoLocate) for c in rule.containers}

    def rules(self) -> Iterator[Rule]:
        """Those about new containers; a rule of a level that is not here is left out."""
        for rule in self.other.rules:
            if self._is_new(rule) and getattr(rule, "level", 0) in self.level:
                yield self._translated(rule)

    def _is_new(self, rule: Rule) -> bool:
        if isinstance(rule, AntiAffinity | Allow):
            return not self.new.isdisjoint(rule.workloads)
        if isinstance(rule, Interference):
            return rule.a in self.new or rule.b in self.new
        if isinstance(rule, Skew):
            return rule.workload in self.new
        if isinstance(rule, Spread | Dependency):
            return rule.service in self.new_services and getattr(rule, "on", rule.service) in self.service
        return isinstance(rule, CoLocate) and self._new_unit(rule)

    def _new_unit(self, rule: CoLocate) -> bool:
        """Two such rules never share a container: one that is bound already stays as it is bound."""
        names = [self.other.containers.name[c] for c in rule.containers]
        bound = any(self.container[c] in self.together for c in rule.containers)
        return not bound and any(name in self.new_containers for name in names)

    def _translated(self, rule: Rule) -> Rule:
        level = {"level": self.level[rule.level]} if hasattr(rule, "level") else {}
        if isinstance(rule, AntiAffinity):
            return replace(rule, workloads=tuple(self.workload[w] for w in rule.workloads), **level)
        if isinstance(rule, Allow):
            mine = tuple(self.workload[w] for w in rule.workloads if w in self.new)
            return Allow(workloads=mine, machines=f"{TARGET_PREFIX}{rule.machines}")
        if isinstance(rule, Skew):
            counted = tuple(self.workload[w] for w in rule.counted)
            machines = f"{TARGET_PREFIX}{rule.machines}" if rule.machines else ""
            return replace(rule, workload=self.workload[rule.workload], counted=counted, machines=machines, **level)
        if isinstance(rule, Interference):
            return replace(rule, a=self.workload[rule.a], b=self.workload[rule.b], **level)
        if isinstance(rule, Spread):
            return replace(rule, service=self.service[rule.service], **level)
        if isinstance(rule, Dependency):
            return replace(rule, service=self.service[rule.service], on=self.service[rule.on], **level)
        assert isinstance(rule, CoLocate)
        return CoLocate(containers=tuple(self.container[c] for c in rule.containers))


def _numbers(names: Sequence[str], known: Sequence[str]) -> dict[int, int]:
    """Number there -> number here, of every name that both have."""
    here = {name: k for k, name in enumerate(known)}
    return {k: here[name] for k, name in enumerate(names) if name in here}


def grown(snapshot: Snapshot, owner: Mapping[str, int]) -> Snapshot:
    """The snapshot with these containers too, each behind the other replicas of its workload."""
    if not owner:
        return snapshot
    cluster = snapshot.cluster
    name = (*cluster.containers.name, *owner)
    workload = np.r_[cluster.containers.workload, np.fromiter(owner.values(), np.int64, len(owner))]
    order = np.argsort(workload, kind="stable")
    place = np.empty(len(order), dtype=np.int64)  # old index -> new index
    place[order] = np.arange(len(order))
    containers = Containers(name=tuple(name[c] for c in order.tolist()), workload=ints(workload[order]))
    machine_of = np.r_[snapshot.placement.machine_of, np.full(len(owner), UNPLACED)][order]
    rules = tuple(_renumbered(rule, place) for rule in cluster.rules)
    return replace(
        snapshot, cluster=replace(cluster, containers=containers, rules=rules), placement=Placement(machine_of=ints(machine_of))
    )


def _renumbered(rule: Rule, place: IntArray) -> Rule:
    if isinstance(rule, CoLocate | Pinned):
        return replace(rule, containers=tuple(place[list(rule.containers)].tolist()))
    return rule


def joined(snapshot: Snapshot, other: Snapshot) -> Snapshot:
    """The snapshot with the workloads and containers that only `other` has, and the rules of `other` about them.

    Amounts are converted between the scales of the two, rounded up. Traffic is not taken over.
    """
    known = set(snapshot.cluster.workloads.name)
    new = [w for w, name in enumerate(other.cluster.workloads.name) if name not in known]
    wider = _with_workloads(snapshot, other.cluster, new)
    workload = {name: w for w, name in enumerate(wider.cluster.workloads.name)}
    here = set(snapshot.cluster.containers.name)
    names, of = other.cluster.containers.name, other.cluster.containers.workload.tolist()
    owner = {c: workload[other.cluster.workloads.name[w]] for c, w in zip(names, of, strict=True) if c not in here}
    whole = grown(wider, owner)
    rules = [*NewRules(other.cluster, whole.cluster, frozenset(new), frozenset(owner)).rules()]
    sets = {
        f"{TARGET_PREFIX}{name}": _same_machines(other.cluster, whole.cluster, name)
        for name in dict.fromkeys(rule.machines.removeprefix(TARGET_PREFIX) for rule in rules if _has_set(rule))
    }
    cluster = replace(whole.cluster, rules=(*whole.cluster.rules, *rules), machine_sets={**whole.cluster.machine_sets, **sets})
    return replace(whole, cluster=cluster)


def _has_set(rule: Rule) -> TypeGuard[Allow | Skew]:
    """Does the rule name a set of machines?"""
    return isinstance(rule, Allow | Skew) and bool(rule.machines)


def _same_machines(other: Cluster, cluster: Cluster, name: str) -> IntArray:
    machine = {name: m for m, name in enumerate(cluster.machines.name)}
    listed = (other.machines.name[m] for m in other.machine_sets[name].tolist())
    return ints(sorted(machine[m] for m in listed if m in machine))


def _with_services(cluster: Cluster, other: Cluster, names: list[str]) -> Services:
    known = set(cluster.services.name)
    fresh = [name for name in dict.fromkeys(names) if name not in known]
    clique = dict(zip(other.services.name, other.services.clique.tolist(), strict=True))
    weights = floats(np.r_[cluster.services.clique, np.array([clique[name] for name in fresh])])
    return Services(name=(*cluster.services.name, *fresh), clique=weights)


def _with_workloads(snapshot: Snapshot, other: Cluster, new: list[int]) -> Snapshot:
    if not new:
        return snapshot
    cluster, objective = snapshot.cluster, snapshot.objective
    owner = [other.services.name[s] for s in other.workloads.service[new].tolist()]
    services = _with_services(cluster, other, owner)
    index = {name: s for s, name in enumerate(services.name)}
    added, old = _converted(other, cluster, new), cluster.workloads
    workloads = Workloads(
        name=(*old.name, *(other.workloads.name[w] for w in new)),
        service=ints(np.r_[old.service, [index[s] for s in owner]]),
        request=ints(np.r_[old.request, added.request]),
        usage_mean=floats(np.r_[old.usage_mean, added.usage_mean]),
        usage_std=floats(np.r_[old.usage_std, added.usage_std]),
        limit=ints(np.r_[old.limit, added.limit]),
    )
    if (costs := objective.move_costs) is not None:
        container = ints(np.r_[costs.container, np.zeros(len(new), dtype=np.int64)])
        objective = replace(objective, move_costs=replace(costs, container=container))
    return replace(snapshot, cluster=replace(cluster, services=services, workloads=workloads), objective=objective)


def _converted(other: Cluster, cluster: Cluster, workloads: list[int]) -> Workloads:
    """Some workloads of `other` with the resources and scales of `cluster`."""
    column = {resource.name: r for r, resource in enumerate(other.resources)}
    shape = (len(workloads), len(cluster.resources))
    request, limit = np.zeros(shape, dtype=np.int64), np.full(shape, NO_LIMIT)
    mean, std = np.zeros(shape), np.zeros(shape)
    for r, resource in enumerate(cluster.resources):
        if (o := column.get(resource.name)) is not None:
            up, down = resource.scale, other.resources[o].scale
            request[:, r] = [-(-amount * up // down) for amount in other.workloads.request[workloads, o].tolist()]
            stated = other.workloads.limit[workloads, o].tolist()
            limit[:, r] = [NO_LIMIT if amount == NO_LIMIT else -(-amount * up // down) for amount in stated]
            mean[:, r] = other.workloads.usage_mean[workloads, o] * (up / down)
            std[:, r] = other.workloads.usage_std[workloads, o] * (up / down)
    names = tuple(other.workloads.name[w] for w in workloads)
    service = ints(np.zeros(len(workloads)))  # the caller's business
    return Workloads(
        name=names, service=service, request=ints(request), usage_mean=floats(mean), usage_std=floats(std), limit=ints(limit)
    )
