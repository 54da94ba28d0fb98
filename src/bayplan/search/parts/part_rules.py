"""The rules of a part: whatever the parts do by themselves, no rule of the whole cluster is violated further than before.

- Rules about single machines hold in the part as they are. So do those about groups (racks, zones) that lie inside of the part.
- If the part lies inside of one group, nothing that happens in it changes what the group has: the rule is left out.
- A spread rule counts groups of the whole cluster: each part keeps the groups that it has, less its share of those to spare. If
  too few are used, the part with most of the service's containers has to find the others.
- What else spans parts cannot be divided: the containers that it names stay where they run.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bayplan.model import (
    UNPLACED,
    Allow,
    AntiAffinity,
    BoolArray,
    Cluster,
    CoLocate,
    Dependency,
    IntArray,
    Interference,
    Pinned,
    Placement,
    Rule,
    Skew,
    Spread,
    ints,
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RuleIndex:
    """What is known of all rules of the cluster before any part is cut out; the parts share it."""

    cluster: Cluster
    start: Placement
    of_workload: tuple[IntArray, IntArray]  # rules that name a workload: (workload + 1,) where they begin, and their numbers
    everywhere: tuple[int, ...]  # rules that name no workload: they are about each machine, or about containers
    service: tuple[IntArray, IntArray]  # (service + 1,) where its workloads begin, and the workloads

    @classmethod
    def of(cls, cluster: Cluster, start: Placement) -> "RuleIndex":
        """The index of a cluster that runs as `start` says."""
        n_s, n_w = len(cluster.services.name), len(cluster.workloads.name)
        by_service = np.argsort(cluster.workloads.service, kind="stable")
        service = _starts(cluster.workloads.service, n_s), ints(by_service)
        named: list[tuple[int, int]] = []
        everywhere: list[int] = []
        for number, rule in enumerate(cluster.rules):
            workloads = _workloads_of(rule, service)
            named += [(w, number) for w in set(workloads)]
            everywhere += [] if workloads or _services_of(rule) else [number]
        pairs = np.array(sorted(named), dtype=np.int64).reshape(-1, 2)
        return cls(
            cluster=cluster,
            start=start,
            of_workload=(_starts(pairs[:, 0], n_w), ints(pairs[:, 1])),
            everywhere=tuple(everywhere),
            service=service,
        )

    def rules_about(self, workloads: IntArray) -> list[Rule]:
        """The rules that name some of these workloads, and those that name none at all."""
        begin, number = self.of_workload
        named = [number[begin[w] : begin[w + 1]] for w in workloads.tolist() if begin[w] < begin[w + 1]]
        numbers = np.unique(np.concatenate([ints(self.everywhere), *named]))
        return [self.cluster.rules[n] for n in numbers.tolist()]

    def workloads_of_services(self, *services: int) -> list[int]:
        """All workloads of these services."""
        begin, workload = self.service
        return [w for s in services for w in workload[begin[s] : begin[s + 1]].tolist()]


class PartRules:
    """The rules of one part, made from those of the cluster one after the other."""

    def __init__(self, index: RuleIndex, machines: IntArray, containers: IntArray, workload_at: IntArray, service_at: IntArray):
        """`machines`, `containers`: of the part; `workload_at`, `service_at`: their numbers in the part, -1 for others."""
        self.index, self.cluster = index, index.cluster
        self.machines, self.containers = machines, containers
        self.workload_at, self.service_at = workload_at, service_at
        self.inside = np.zeros(len(self.cluster.machines.name), dtype=np.bool_)
        self.inside[machines] = True
        self.machine_sets: dict[str, IntArray] = {}
        self.stays: set[int] = set()  # workloads of the cluster whose containers may not move in the part
        self.held: set[int] = set()  # containers of the cluster that may not move in the part
        about = index.rules_about(ints(np.flatnonzero(workload_at >= 0)))
        self.rules = tuple(made for rule in about for made in self._restricted(rule))

    @property
    def frozen(self) -> BoolArray:
        """(container of the part,) those that rules hold where they are, because they cannot be divided."""
        owner = self.cluster.containers.workload[self.containers]
        return np.isin(owner, list(self.stays)) | np.isin(self.containers, list(self.held))

    def _restricted(self, rule: Rule) -> Iterator[Rule]:
        """The rule in the part; none if it cannot be violated there, or if what it names stays."""
        if isinstance(rule, Allow):
            yield from self._allow(rule)
        elif isinstance(rule, CoLocate):
            yield from self._co_locate(rule)
        elif isinstance(rule, Pinned):
            yield from self._pinned(rule)
        elif isinstance(rule, AntiAffinity | Interference | Dependency | Spread | Skew):
            yield from self._in_groups(rule)
        else:
            yield rule  # about each machine by itself: capacity, transient, confidence

    def _allow(self, rule: Allow) -> Iterator[Rule]:
        machines = np.searchsorted(self.machines, np.intersect1d(self.cluster.machine_sets[rule.machines], self.machines))
        if len(machines) == len(self.machines):
            return
        if not len(machines):
            self.stays.update(rule.workloads)  # they run where they may not, and no machine here is better
            return
        self.machine_sets[rule.machines] = ints(machines)
        yield Allow(workloads=self._workloads(rule.workloads), machines=rule.machines)

    def _co_locate(self, rule: CoLocate) -> Iterator[Rule]:
        here = self._containers(rule.containers)
        if len(here) == len(rule.containers):
            yield CoLocate(containers=here)
        elif here:
            self.held.update(rule.containers)

    def _pinned(self, rule: Pinned) -> Iterator[Rule]:
        here = self._containers(rule.containers)
        if here:
            yield Pinned(containers=here)

    def _in_groups(self, rule: AntiAffinity | Interference | Dependency | Spread | Skew) -> Iterator[Rule]:
        groups = self._groups(rule.level)
        if isinstance(rule, Skew):
            counted = np.isin(self.machines, rule.counting_machines(self.cluster))
            if not (groups.one and (counted.all() or not counted.any())):
                self.stays.update((rule.workload, *rule.counts))
        elif groups.one:
            return
        elif not groups.whole:
            self.stays.update(_workloads_of(rule, self.index.service))
        elif isinstance(rule, AntiAffinity):
            yield AntiAffinity(workloads=self._workloads(rule.workloads), limit=rule.limit, level=rule.level)
        elif isinstance(rule, Interference):
            if self.workload_at[rule.a] >= 0 and self.workload_at[rule.b] >= 0:
                a, b = self._workloads((rule.a,))[0], self._workloads((rule.b,))[0]
                yield Interference(a=a, b=b, limit=rule.limit, level=rule.level)
        elif isinstance(rule, Dependency):
            yield from self._dependency(rule)
        else:
            yield from self._spread(rule)

    def _dependency(self, rule: Dependency) -> Iterator[Rule]:
        if self.service_at[rule.service] < 0:
            return
        if self.service_at[rule.on] < 0:  # none of what it needs runs here: it is violated wherever it goes
            self.stays.update(self.index.workloads_of_services(rule.service))
            return
        yield Dependency(service=int(self.service_at[rule.service]), on=int(self.service_at[rule.on]), level=rule.level)

    def _spread(self, rule: Spread) -> Iterator[Rule]:
        if self.service_at[rule.service] < 0:
            return
        group_of = self.cluster.levels[rule.level].group_of
        containers = self._containers_of_service(rule.service)
        machine = self.index.start.machine_of[containers]
        machine = machine[machine != UNPLACED]
        used, here = len(np.unique(group_of[machine])), len(np.unique(group_of[machine[self.inside[machine]]]))
        spare = used - rule.minimum
        minimum = here - spare * here // max(1, used) if spare > 0 else here
        if spare < 0 and self._has_most(machine):
            minimum = here - spare
        yield Spread(service=int(self.service_at[rule.service]), minimum=minimum, level=rule.level)

    def _has_most(self, machine: IntArray) -> bool:
        """Does more than half of what runs there run in this part?"""
        return 2 * int(self.inside[machine].sum()) > len(machine)

    def _containers_of_service(self, service: int) -> IntArray:
        first = np.searchsorted(self.cluster.containers.workload, np.arange(len(self.cluster.workloads.name) + 1))
        spans = [np.arange(first[w], first[w + 1]) for w in self.index.workloads_of_services(service)]
        return ints(np.concatenate(spans))

    def _groups(self, level: int) -> "Groups":
        if level == 0:
            return Groups(one=len(self.machines) == 1, whole=True)
        group_of = self.cluster.levels[level].group_of
        here = np.unique(group_of[self.machines])
        whole = bool((self.inside | ~np.isin(group_of, here)).all())
        return Groups(one=len(here) == 1, whole=whole)

    def _workloads(self, workloads: tuple[int, ...]) -> tuple[int, ...]:
        """Their numbers in the part, those without a container there left out."""
        at = self.workload_at[list(workloads)]
        return tuple(at[at >= 0].tolist())

    def _containers(self, containers: tuple[int, ...]) -> tuple[int, ...]:
        """Numbers in the part of those that run there."""
        wanted = np.array(containers, dtype=np.int64)
        place = np.minimum(np.searchsorted(self.containers, wanted), len(self.containers) - 1)
        return tuple(place[self.containers[place] == wanted].tolist()) if len(self.containers) else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """How the groups of a level lie to a part."""

    one: bool  # the part lies inside of one group
    whole: bool  # every group of which it has a machine lies inside of it


def _workloads_of(rule: Rule, service: tuple[IntArray, IntArray]) -> list[int]:
    """All workloads that a rule names, itself or by their service."""
    if isinstance(rule, AntiAffinity | Allow):
        return list(rule.workloads)
    if isinstance(rule, Interference):
        return [rule.a, rule.b]
    if isinstance(rule, Skew):
        return [rule.workload, *rule.counts]
    begin, workload = service
    return [w for s in _services_of(rule) for w in workload[begin[s] : begin[s + 1]].tolist()]


def _services_of(rule: Rule) -> tuple[int, ...]:
    if isinstance(rule, Spread):
        return (rule.service,)
    return (rule.service, rule.on) if isinstance(rule, Dependency) else ()


def _starts(sorted_or_not: IntArray, size: int) -> IntArray:
    """(size + 1,) where each value begins once they are sorted."""
    return ints(np.r_[0, np.cumsum(np.bincount(sorted_or_not, minlength=size))])
