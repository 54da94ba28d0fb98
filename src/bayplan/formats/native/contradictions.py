"""What no placement can ever satisfy, found before a search begins.

Only plain cases: a rule that cannot hold, or a co-located group that another rule forbids. Whether there is
a placement at all is for the decisions to answer.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from bayplan.errors import Fault
from bayplan.model import (
    Allow,
    AllowedMachines,
    AntiAffinity,
    Capacity,
    Cluster,
    CoLocate,
    Dependency,
    Interference,
    Spread,
    Transient,
    allowed,
)

R = TypeVar("R")


def contradictions(cluster: Cluster, numbers: Sequence[int] | None = None) -> list[Fault]:
    """A fault for each rule that cannot hold and each machine that can hold nothing.

    `numbers` says how the rules are numbered for the user; from 1 if left out.
    """
    view = _View(cluster, numbers or range(1, len(cluster.rules) + 1))
    rules = [
        *_spreads(view),
        *_allows(view),
        *_dependencies(view),
        *_interferences(view),
        *_transients(view),
        *_overlaps(view),
        *_groups(view),
    ]
    return [*_bare_machines(cluster), *sorted(rules, key=_number)]  # in the order of the file


@dataclass(frozen=True)
class _View:
    """A cluster, with the tables that several checks need."""

    cluster: Cluster
    numbers: Sequence[int]

    def rules(self, kind: type[R]) -> list[tuple[int, R]]:
        """(number, rule) of one kind."""
        return [(n, rule) for n, rule in zip(self.numbers, self.cluster.rules, strict=True) if isinstance(rule, kind)]

    @cached_property
    def size(self) -> list[int]:
        """Containers of each service."""
        size = [0] * len(self.cluster.services.name)
        for s, replicas in zip(self.cluster.workloads.service.tolist(), self.cluster.replicas.tolist(), strict=True):
            size[s] += replicas
        return size

    @cached_property
    def sets_of(self) -> Mapping[int, list[str]]:
        """The machine sets that each workload is bound to."""
        bound: dict[int, list[str]] = {}
        for _, rule in self.rules(Allow):
            for w in rule.workloads:
                bound.setdefault(w, []).append(rule.machines)
        return bound

    @cached_property
    def allowed(self) -> AllowedMachines:
        """Where each workload may run."""
        return allowed(self.cluster)

    def workload(self, c: int) -> int:
        return int(self.cluster.containers.workload[c])


def _fault(code: str, number: int, kind: str, problem: str, value: object, expected: str) -> Fault:
    return Fault(code=code, kind="rule", name=f"{number} ({kind})", problem=problem, value=str(value), expected=expected)


def _number(fault: Fault) -> int:
    """The number of the rule that a fault is about; 0 for those about something else."""
    return int(fault.name.split()[0]) if fault.kind == "rule" else 0


def _bare_machines(cluster: Cluster) -> Iterator[Fault]:
    for m in np.flatnonzero(~cluster.machines.capacity.any(axis=1)):
        problem, expected = "has no capacity of any resource", "some of at least one"
        yield Fault(code="E1115", kind="machine", name=cluster.machines.name[m], problem=problem, value="0", expected=expected)


def _spreads(view: _View) -> Iterator[Fault]:
    for number, rule in view.rules(Spread):
        name, level = view.cluster.services.name[rule.service], view.cluster.levels[rule.level]
        size, groups = view.size[rule.service], len(np.unique(level.group_of))
        if rule.minimum > size:
            problem = f"service '{name}' has fewer containers than the minimum"
            yield _fault("E1301", number, rule.kind, problem, rule.minimum, f"at most {size}")
        if rule.minimum > groups:
            problem = f"level '{level.name}' has fewer groups than the minimum"
            yield _fault("E1302", number, rule.kind, problem, rule.minimum, f"at most {groups}")


def _allows(view: _View) -> Iterator[Fault]:
    empty = {name for name, machines in view.cluster.machine_sets.items() if not machines.size}
    for number, rule in view.rules(Allow):
        if rule.machines in empty:
            yield _fault("E1307", number, rule.kind, "its machine set is empty", rule.machines, "at least one machine")
    nowhere = np.flatnonzero(~view.allowed.row.any(axis=1))
    reported: set[int] = set()  # rows: one of all workloads with the same sets is enough
    for w in np.flatnonzero(np.isin(view.allowed.row_of, nowhere)).tolist():
        row, sets = int(view.allowed.row_of[w]), set(view.sets_of[w])
        if row not in reported and not sets & empty:
            reported.add(row)
            problem, expected = "its allowed sets share no machine", "a machine in all of them"
            name, value = view.cluster.workloads.name[w], ", ".join(sorted(sets))
            yield Fault(code="E1307", kind="workload", name=name, problem=problem, value=value, expected=expected)


def _dependencies(view: _View) -> Iterator[Fault]:
    for number, rule in view.rules(Dependency):
        if rule.service == rule.on:
            name = view.cluster.services.name[rule.on]
            yield _fault("E1311", number, rule.kind, "a service depends on itself", name, "another service")
        if view.size[rule.service] and not view.size[rule.on]:
            problem = "depends on a service without containers"
            yield _fault("E1308", number, rule.kind, problem, view.cluster.services.name[rule.on], "at least one container")


def _interferences(view: _View) -> Iterator[Fault]:
    for number, rule in view.rules(Interference):
        if rule.a == rule.b and rule.limit == 0 and view.cluster.replicas[rule.a]:
            problem = f"workload '{view.cluster.workloads.name[rule.a]}' may run nowhere"
            yield _fault("E1309", number, rule.kind, problem, rule.limit, "at least 1 where a is b")


def _transients(view: _View) -> Iterator[Fault]:
    modes: dict[int, str] = {}
    for number, rule in view.rules(Transient):
        if modes.setdefault(rule.resource, rule.mode) != rule.mode:
            name = view.cluster.resources[rule.resource].name
            yield _fault("E1310", number, rule.kind, f"{name} is transient in two modes", rule.mode, modes[rule.resource])


def _overlaps(view: _View) -> Iterator[Fault]:
    """Co-located groups share no container; this also catches chains and cycles: a-b, b-c, c-a."""
    first: dict[int, int] = {}
    for number, rule in view.rules(CoLocate):
        for c in rule.containers:
            if first.setdefault(c, number) != number:
                problem, name = f"shares a container with rule {first[c]}", view.cluster.containers.name[c]
                yield _fault("E1303", number, rule.kind, problem, name, "one co-locate rule that names them all")


def _groups(view: _View) -> Iterator[Fault]:
    groups = view.rules(CoLocate)
    if not groups:
        return
    limits: dict[int, dict[int, AntiAffinity | Interference]] = {}  # workload -> number -> rule
    rules: list[tuple[int, AntiAffinity | Interference]] = [*view.rules(AntiAffinity), *view.rules(Interference)]
    for number, limit in rules:
        for w in _counted(limit):
            limits.setdefault(w, {})[number] = limit
    for number, rule in groups:
        members = Counter(view.workload(c) for c in rule.containers)
        applying = {other: limit for w in members for other, limit in limits.get(w, {}).items()}
        yield from _forbidden_together(number, members, applying)
        yield from _without_machine(view, number, rule, members)


def _counted(limit: AntiAffinity | Interference) -> tuple[int, ...]:
    """The workloads whose containers a rule counts."""
    return limit.workloads if isinstance(limit, AntiAffinity) else (limit.b,)


def _forbidden_together(number: int, members: Counter[int], limits: Mapping[int, AntiAffinity | Interference]) -> Iterator[Fault]:
    """The group is one that an anti-affinity or an interference rule forbids on one machine, so at any level."""
    for other, limit in limits.items():
        applies = isinstance(limit, AntiAffinity) or limit.a in members
        together = sum(members[w] for w in _counted(limit))
        if applies and together > limit.limit:
            problem = f"puts more containers together than rule {other} ({limit.kind}) permits"
            yield _fault("E1304", number, CoLocate.kind, problem, together, f"at most {limit.limit}")


def _without_machine(view: _View, number: int, rule: CoLocate, members: Counter[int]) -> Iterator[Fault]:
    """No machine may have the group, or none is large enough."""
    machines = view.allowed.row[[view.allowed.row_of[w] for w in members]].all(axis=0)
    names = ", ".join(view.cluster.containers.name[c] for c in rule.containers[:3])
    if not machines.any():
        yield _fault(
            "E1305", number, rule.kind, "no machine is allowed for all of the group", names, "a machine in all of their sets"
        )
        return
    limited = sorted({r for _, capacity in view.rules(Capacity) for r in capacity.resources})
    need = view.cluster.request_of(np.array(rule.containers)).sum(axis=0)
    capacity_there = view.cluster.machines.capacity[machines]
    if not (capacity_there[:, limited] >= need[limited]).all(axis=1).any():
        short = [r for r in limited if need[r] > capacity_there[:, r].max()] or limited
        resource = view.cluster.resources[short[0]]
        problem = f"the group is larger than every machine it may run on ({resource.name})"
        value = f"{names}: {need[short[0]] / resource.scale:g}"
        yield _fault(
            "E1306", number, rule.kind, problem, value, f"at most {capacity_there[:, short[0]].max() / resource.scale:g}"
        )
