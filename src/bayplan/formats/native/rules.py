"""The rules of a native snapshot: names -> indices."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bayplan.formats.document.location import Path
from bayplan.formats.native.reader import MISSING, Reader
from bayplan.model import (
    MACHINE,
    Allow,
    AntiAffinity,
    Capacity,
    CoLocate,
    Confidence,
    Dependency,
    Interference,
    Pinned,
    Rule,
    Skew,
    Spread,
    Transient,
    TransientMode,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """Every name that a rule or an objective can use -> its index."""

    resource: Mapping[str, int]
    machine: Mapping[str, int]
    machine_set: Mapping[str, int]
    level: Mapping[str, int]
    service: Mapping[str, int]
    workload: Mapping[str, int]
    container: Mapping[str, int]
    containers_of: Sequence[range]  # (workload,)


@dataclass(frozen=True, slots=True)
class _Stated:
    """One rule as it is written."""

    reader: Reader
    names: Names
    fields: Mapping[str, Any]
    path: Path

    def one(self, kind: str, key: str) -> int:
        table = getattr(self.names, kind.replace(" ", "_"))
        return self.reader.find(kind, table, self.fields[key], (*self.path, key))

    def many(self, kind: str, key: str) -> tuple[int, ...]:
        return self.reader.find_all(kind, getattr(self.names, kind), self.fields[key], (*self.path, key))

    def level(self) -> int:
        return self.one("level", "level") if "level" in self.fields else self.names.level[MACHINE]


def _capacity(rule: _Stated) -> Rule:
    every = tuple(range(len(rule.names.resource)))
    return Capacity(resources=rule.many("resource", "resources") if "resources" in rule.fields else every)


def _anti_affinity(rule: _Stated) -> Rule:
    return AntiAffinity(workloads=rule.many("workload", "workloads"), limit=rule.fields.get("limit", 1), level=rule.level())


def _spread(rule: _Stated) -> Rule:
    return Spread(service=rule.one("service", "service"), minimum=rule.fields["minimum"], level=rule.level())


def _skew(rule: _Stated) -> Rule:
    if "machines" in rule.fields:
        rule.one("machine set", "machines")
    return Skew(
        workload=rule.one("workload", "workload"),
        counted=rule.many("workload", "counted") if "counted" in rule.fields else (),
        limit=rule.fields.get("limit", 1),
        level=rule.level(),
        machines=rule.fields.get("machines", ""),
        min_groups=rule.fields.get("min_groups", 0),
    )


def _co_locate(rule: _Stated) -> Rule:
    return CoLocate(containers=rule.many("container", "containers"))


def _allow(rule: _Stated) -> Rule:
    rule.one("machine set", "machines")
    return Allow(workloads=rule.many("workload", "workloads"), machines=rule.fields["machines"])


def _dependency(rule: _Stated) -> Rule:
    return Dependency(service=rule.one("service", "service"), on=rule.one("service", "on"), level=rule.level())


def _transient(rule: _Stated) -> Rule:
    return Transient(resource=rule.one("resource", "resource"), mode=TransientMode(rule.fields.get("mode", "joint")))


def _interference(rule: _Stated) -> Rule:
    a, b = rule.one("workload", "a"), rule.one("workload", "b")
    return Interference(a=a, b=b, limit=rule.fields["limit"], level=rule.level())


def _pinned(rule: _Stated) -> Rule:
    """Containers by name, and those of workloads by theirs."""
    named = rule.many("container", "containers") if "containers" in rule.fields else ()
    workloads = rule.many("workload", "workloads") if "workloads" in rule.fields else ()
    ranges = (rule.names.containers_of[w] for w in workloads if w != MISSING)
    return Pinned(containers=tuple(dict.fromkeys([*named, *(c for containers in ranges for c in containers)])))


def _confidence(rule: _Stated) -> Rule:
    return Confidence(resource=rule.one("resource", "resource"), alpha=float(rule.fields["alpha"]))


READERS: Mapping[str, Callable[[_Stated], Rule]] = {
    "capacity": _capacity,
    "anti-affinity": _anti_affinity,
    "spread": _spread,
    "skew": _skew,
    "co-locate": _co_locate,
    "allow": _allow,
    "dependency": _dependency,
    "transient": _transient,
    "interference": _interference,
    "pinned": _pinned,
    "confidence": _confidence,
}


def read_rules(reader: Reader, names: Names) -> list[tuple[int, Rule]]:
    """(number in the file, rule); capacity of all resources first, unless the file says something about capacity.

    `{rule: capacity, resources: []}` says that nothing limits capacity; it becomes no rule.
    """
    stated = reader.document.get("rules", [])
    rules = [
        (_number(reader, place), READERS[fields["rule"]](_Stated(reader, names, fields, ("rules", place))))
        for place, fields in enumerate(stated)
    ]
    if not any(fields["rule"] == Capacity.kind for fields in stated):
        rules.insert(0, (0, Capacity(resources=tuple(range(len(names.resource))))))
    return [(number, rule) for number, rule in rules if not (isinstance(rule, Capacity) and not rule.resources)]


def _number(reader: Reader, place: int) -> int:
    """What a rule is called: its place in the whole document, from 1."""
    return int(reader.part.original(("rules", place))[1]) + 1
