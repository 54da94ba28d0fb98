"""A snapshot -> native text: one machine, workload, edge and rule per line, so that differences can be read."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from bayplan.formats.native.reader import digits_of, written, written_real
from bayplan.formats.native.schema import VERSION
from bayplan.model import (
    MACHINE,
    NO_LIMIT,
    UNPLACED,
    Capacity,
    Cluster,
    Containers,
    IntArray,
    Level,
    Objective,
    Placement,
    Rule,
    Snapshot,
    TransientMode,
)

RULE_TABLES = {"resource": "resources", "resources": "resources", "workloads": "workloads", "a": "workloads", "b": "workloads"}
RULE_TABLES |= {"service": "services", "on": "services", "containers": "containers", "level": "levels"}
RULE_TABLES |= {"workload": "workloads", "counted": "workloads"}
LEFT_OUT = {  # what a rule need not say
    "level": MACHINE,
    "mode": TransientMode.JOINT.value,
    "counted": [],
    "machines": "",
    "min_groups": 0,
}


ORDER = (  # of the keys
    *("bayplan", "name", "notes", "amounts", "resources", "levels", "machines", "machine_sets"),
    *("services", "workloads", "traffic", "rules", "objective"),
)


def native_document(snapshot: Snapshot) -> dict[str, Any]:
    """The document of a snapshot; what has its default is left out."""
    cluster = snapshot.cluster
    writer = _Writer(cluster)
    lists = {
        "amounts": "base-units" if writer.base_units else None,
        "machines": list(writer.machines()),
        "services": _services(cluster),
        "workloads": list(writer.workloads(snapshot.placement)),
        "traffic": [list(edge) for edge in _edges(cluster)],
    }
    document = {**head_document(snapshot), **_stated(lists)}
    return {key: document[key] for key in ORDER if key in document}


def head_document(snapshot: Snapshot) -> dict[str, Any]:
    """All of the document but machines, services, workloads and traffic."""
    cluster = snapshot.cluster
    head = {
        "bayplan": VERSION,
        "name": cluster.name,
        "notes": list(snapshot.notes),
        "resources": {r.name: _without({"scale": r.scale, "unit": r.unit}, scale=1, unit="") for r in cluster.resources},
        "levels": [_level(level) for level in cluster.levels[1:]],
        "machine_sets": {name: [cluster.machines.name[m] for m in members] for name, members in cluster.machine_sets.items()},
        "rules": list(_rules(cluster)),
        "objective": _objective(cluster, snapshot.objective),
    }
    return _stated(head)


def _stated(fields: Mapping[str, Any]) -> dict[str, Any]:
    """What is needed, or says something."""
    needed = ("bayplan", "resources", "machines", "workloads")
    return {key: value for key, value in fields.items() if key in needed or value not in (None, "", [], {})}


def text_of(document: Mapping[str, Any], *, as_yaml: bool = False) -> str:
    """JSON or YAML with one line per item of each list or object at the top."""
    if as_yaml:
        return "".join(f"{_yaml_key(key)}:{_yaml_block(value)}" for key, value in document.items())
    return "{\n" + ",\n".join(f"{_json(key)}: {_block(value)}" for key, value in document.items()) + "\n}\n"


def _block(value: Any) -> str:
    if isinstance(value, list) and value:
        return "[\n  " + ",\n  ".join(map(_json, value)) + "\n]"
    if isinstance(value, dict) and value:
        return "{\n  " + ",\n  ".join(f"{_json(key)}: {_json(member)}" for key, member in value.items()) + "\n}"
    return _json(value)


def _yaml_block(value: Any) -> str:
    """JSON is YAML, so only the outer structure is written the YAML way."""
    if isinstance(value, list) and value:
        return "\n" + "".join(f"- {_json(item)}\n" for item in value)
    if isinstance(value, dict) and value:
        return "\n" + "".join(f"  {_yaml_key(key)}: {_json(member)}\n" for key, member in value.items())
    return f" {_json(value)}\n"


def _yaml_key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z][A-Za-z0-9_/.-]*", key) else _json(key)


_ODD = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")  # YAML takes them for line ends, or not at all


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def _json(value: Any) -> str:
    text = _encode(value)
    return text if text.isascii() and "\x7f" not in text else _ODD.sub(lambda odd: f"\\u{ord(odd[0]):04x}", text)


def _without(fields: Mapping[str, Any], **default: Any) -> dict[str, Any]:
    """The fields that do not have their default."""
    return {key: value for key, value in fields.items() if key not in default or value != default[key]}


class _Writer:
    """Writes amounts; equal ones are worked out once."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.names = [resource.name for resource in cluster.resources]
        self.base_units = any(digits_of(resource.scale) is None for resource in cluster.resources)
        self.scales = [1 if self.base_units else resource.scale for resource in cluster.resources]
        self.seen: dict[tuple[int, int], int | str] = {}

    def amount(self, r: int, amount: int) -> int | str:
        scale = self.scales[r]
        if (scale, amount) not in self.seen:
            self.seen[scale, amount] = written(amount, scale)
        return self.seen[scale, amount]

    def amounts(self, row: list[int], default: list[int]) -> dict[str, int | str]:
        pairs = zip(self.names, row, default, strict=True)
        return {name: self.amount(r, have) for r, (name, have, usual) in enumerate(pairs) if have != usual}

    def machines(self) -> Iterator[dict[str, Any]]:
        machines, nothing = self.cluster.machines, [0] * len(self.names)
        at = [[level.group[g] for g in level.group_of.tolist()] for level in self.cluster.levels[1:]]
        names = [level.name for level in self.cluster.levels[1:]]
        rows = zip(machines.name, machines.capacity.tolist(), machines.safety.tolist(), strict=True)
        for m, (name, capacity, safety) in enumerate(rows):
            place = {level: groups[m] for level, groups in zip(names, at, strict=True)}
            fields = {"name": name, "capacity": self.amounts(capacity, nothing)}
            yield fields | _without({"safety": self.amounts(safety, capacity), "at": place}, safety={}, at={})

    def workloads(self, placement: Placement) -> Iterator[dict[str, Any]]:
        workloads, containers = self.cluster.workloads, self.cluster.containers
        start = np.r_[0, np.cumsum(self.cluster.replicas)].tolist()
        machine: list[str | None] = [*self.cluster.machines.name, None]  # UNPLACED is -1, the last
        on = [machine[m] for m in placement.machine_of.tolist()]
        none, no_limit = [0] * len(self.names), [NO_LIMIT] * len(self.names)
        request, limit = workloads.request.tolist(), workloads.limit.tolist()
        numbered = containers_numbered(self.cluster)
        for w, name in enumerate(workloads.name):
            mine = slice(start[w], start[w + 1])
            count = start[w + 1] - start[w]
            service = self.cluster.services.name[workloads.service[w]]
            fields = {
                "name": name,
                "service": service if service != name else None,
                "request": self.amounts(request[w], none),
                "usage": self.usage(w, request[w]) or None,
                "limit": self.amounts(limit[w], no_limit) or None,
                "containers": (count if count != 1 else None) if numbered else _containers(name, containers.name[mine]),
                "on": on[mine] if any(on[mine]) else None,
            }
            yield {key: value for key, value in fields.items() if value is not None}

    def usage(self, w: int, request: list[int]) -> dict[str, Any]:
        mean, std = self.cluster.workloads.usage_mean[w].tolist(), self.cluster.workloads.usage_std[w].tolist()
        usage: dict[str, Any] = {}
        for r, name in enumerate(self.names):
            if std[r]:
                usage[name] = {"mean": written_real(mean[r], self.scales[r]), "std": written_real(std[r], self.scales[r])}
            elif mean[r] != request[r]:
                usage[name] = written_real(mean[r], self.scales[r])
        return usage


def containers_numbered(cluster: Cluster) -> bool:
    """Do all containers have their usual names, <workload>-0, -1, ...?"""
    return cluster.containers.name == Containers.replicas_of(cluster.workloads.name, cluster.replicas).name


def _containers(workload: str, names: tuple[str, ...]) -> int | list[str] | None:
    """Nothing for one, a number or a list of names."""
    usual = all(name == f"{workload}-{i}" for i, name in enumerate(names))
    return list(names) if not usual else len(names) if len(names) != 1 else None


def _level(level: Level) -> str | dict[str, Any]:
    seen = dict.fromkeys(level.group[g] for g in level.group_of.tolist())
    return level.name if tuple(seen) == level.group else {"name": level.name, "groups": list(level.group)}


def _services(cluster: Cluster) -> list[dict[str, Any]]:
    """All of them, unless reading the workloads would make the same ones."""
    if services_implied(cluster):
        return []
    pairs = zip(cluster.services.name, cluster.services.clique.tolist(), strict=True)
    return [_without({"name": name, "clique": clique}, clique=0.0) for name, clique in pairs]


def services_implied(cluster: Cluster) -> bool:
    """Would reading the workloads alone make the same services?"""
    seen = dict.fromkeys(cluster.services.name[s] for s in cluster.workloads.service.tolist())
    return tuple(seen) == cluster.services.name and not cluster.services.clique.any()


def _edges(cluster: Cluster) -> Iterator[tuple[str, str, float]]:
    traffic, name = cluster.traffic, cluster.workloads.name
    for a, b, weight in zip(traffic.a.tolist(), traffic.b.tolist(), traffic.weight.tolist(), strict=True):
        yield name[a], name[b], weight


def _rules(cluster: Cluster) -> Iterator[dict[str, Any]]:
    """Capacity of all resources is understood, so its absence has to be said."""
    every = Capacity(resources=tuple(range(len(cluster.resources))))
    capacities = [rule for rule in cluster.rules if isinstance(rule, Capacity)]
    understood = capacities == [every] and cluster.rules[0] == every
    if not capacities:
        yield {"rule": Capacity.kind, "resources": []}
    names = {
        "resources": [resource.name for resource in cluster.resources],
        "workloads": cluster.workloads.name,
        "services": cluster.services.name,
        "containers": cluster.containers.name,
        "levels": [level.name for level in cluster.levels],
    }
    for rule in cluster.rules[understood:]:
        yield {"rule": rule.kind, **_without(dict(_fields(rule, names)), **LEFT_OUT)}


def _fields(rule: Rule, names: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key in rule.__slots__:
        value = getattr(rule, key)
        table = names[RULE_TABLES[key]] if key in RULE_TABLES else None
        if table is not None:
            value = [table[index] for index in value] if isinstance(value, tuple) else table[value]
        yield key, value.value if isinstance(value, TransientMode) else value


def _objective(cluster: Cluster, objective: Objective) -> dict[str, Any] | None:
    """The objective that the user stated; None if there is none."""
    if not objective.explicit:
        return None
    default = Objective.default(cluster)
    resource = [r.name for r in cluster.resources]
    ratio = objective.ratio.tolist()
    fields = {
        "weights": {term.value: weight for term, weight in objective.weight.items()},
        "ratios": [
            [resource[a], resource[b], ratio[a][b]]
            for a, b in np.ndindex(len(ratio), len(ratio))
            if a != b and ratio[a][b] != 1 and (a < b or ratio[a][b] != 1 / ratio[b][a])
        ],
        "hops": _changed([level.name for level in cluster.levels], objective.hop.tolist(), default.hop.tolist()),
        "overload_weights": _changed(resource, objective.overload_weight.tolist(), default.overload_weight.tolist()),
        "targets": [
            {"r1": resource[t.r1], "r2": resource[t.r2], "target": t.target, "weight": t.weight} for t in objective.targets
        ],
        "move_costs": _move_costs(cluster, objective),
    }
    return {key: value for key, value in fields.items() if key == "weights" or value}


def _changed(names: list[str], values: list[float], default: list[float]) -> dict[str, float]:
    return {name: value for name, value, usual in zip(names, values, default, strict=True) if value != usual}


def _move_costs(cluster: Cluster, objective: Objective) -> dict[str, Any] | None:
    costs = objective.move_costs
    if costs is None:
        return None
    fields = {
        "container": _prices(cluster.workloads.name, costs.container),
        "machine": costs.machine.tolist(),
        "container_weight": costs.container_weight,
        "service_weight": costs.service_weight,
        "machine_weight": costs.machine_weight,
    }
    return _without(fields, machine=[], container_weight=1, service_weight=1, machine_weight=1)


def _prices(names: tuple[str, ...], price: IntArray) -> int | dict[str, int]:
    given = price.tolist()
    if len(set(given)) == 1:
        return int(given[0])
    return {name: value for name, value in zip(names, given, strict=True) if value}


def placement_document(cluster: Cluster, placement: Placement) -> dict[str, Any]:
    """{"placement": {container: machine}}; containers without a machine are left out."""
    pairs = zip(cluster.containers.name, placement.machine_of.tolist(), strict=True)
    return {"placement": {container: cluster.machines.name[m] for container, m in pairs if m != UNPLACED}}
