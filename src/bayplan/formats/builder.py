"""A cluster built in code, part by part.

The builder writes the document that a native file holds, and the reader of those files makes the snapshot: amounts, names,
defaults and messages are the same in code and in files. That is why it stands here, above the model.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from bayplan.errors import Fault, InputError, UsageError, did_you_mean
from bayplan.formats.native.contradictions import contradictions
from bayplan.formats.native.read import read_native
from bayplan.formats.native.reader import exact
from bayplan.formats.native.schema import VERSION
from bayplan.model import Rule, Snapshot

Amount: TypeAlias = int | float | str  # 8, 0.5, "500m", "32Gi"
Names: TypeAlias = str | Sequence[str]  # one name, or several
Wanted: TypeAlias = Mapping[str, Any]

USUAL: Mapping[str, Wanted] = {"cpu": {"scale": 1000, "unit": "cores"}, "memory": {"unit": "bytes"}}
FINER = 1000  # the scale of a resource that states none and has amounts that are not whole


class ClusterBuilder:
    """Builds a snapshot by names; every method returns the builder, and `build` says all faults at once.

    Amounts are numbers or texts as in files: `cpu=0.5`, `cpu="500m"`, `memory="32Gi"`. Parts may come in any order.

    >>> import bayplan as bp
    >>> b = bp.ClusterBuilder("two")
    >>> b = b.machines("m-{}", 2, cpu=8, memory="32Gi", safety=0.8, rack=lambda i: f"r{i}")
    >>> b = b.workload("web", replicas=3, cpu="500m", memory="1Gi", on=["m-0", "m-0", "m-1"])
    >>> b = b.workload("db", cpu=2, memory="8Gi", on="m-1").traffic("web", "db", 10.0)
    >>> snapshot = b.anti_affinity("web", limit=2).pin("db").build()
    >>> snapshot.cluster.containers.name
    ('web-0', 'web-1', 'web-2', 'db-0')
    """

    def __init__(self, name: str = "", *, resources: Iterable[str] = (), levels: Iterable[str] = ()) -> None:
        """`resources`: cpu and memory if left out. `levels`: if left out, those that machines name, in that order."""
        self._name = name
        self._resources: dict[str, dict[str, Any]] = {}
        self._levels: dict[str, Any] = {level: level for level in levels}
        self._machines: list[dict[str, Any]] = []
        self._sets: dict[str, list[str]] = {}
        self._services: dict[str, dict[str, Any]] = {}
        self._workloads: list[dict[str, Any]] = []
        self._traffic: list[list[Any]] = []
        self._rules: list[dict[str, Any] | Rule] = []
        self._objective: dict[str, Any] = {}
        for resource in resources:
            self.resource(resource)

    def resource(self, name: str, *, scale: int | None = None, unit: str | None = None) -> "ClusterBuilder":
        """Something that machines have and containers use.

        `scale` base units are one unit as written. Left out: 1000 for cpu, else 1 if all amounts are whole, else 1000.
        """
        usual = dict(USUAL.get(name, {}))
        self._resources[name] = usual | _stated(scale=scale, unit=unit)
        return self

    def level(self, name: str, groups: Iterable[str] | None = None) -> "ClusterBuilder":
        """A partition of the machines, such as rack or zone; `groups` fixes the order of its groups."""
        self._levels[name] = name if groups is None else {"name": name, "groups": list(groups)}
        return self

    def machine(
        self, name: str, *, safety: Any = None, capacity: Wanted | None = None, at: Wanted | None = None, **given: Any
    ) -> "ClusterBuilder":
        """A machine: `cpu=8, memory="32Gi", rack="r1"`; what is no resource is the group of a level.

        `safety` is a share of the capacity (0.8 or "80%") or an amount by resource. `capacity` and `at` take what cannot be
        written as a keyword: `capacity={"nvidia.com/gpu": 4}`.
        """
        fields = {"name": name, "given": {**(capacity or {}), **given}, "at": dict(at or {})}
        self._machines.append(_plain(fields | _stated(safety=safety)))
        return self

    def machines(self, names: str, count: int, **fields: Any) -> "ClusterBuilder":
        """`count` machines named by a pattern with {}: m-0, m-1, ... A field may be a function of the number."""
        for i in range(count):
            self.machine(names.format(i), **{key: value(i) if callable(value) else value for key, value in fields.items()})
        return self

    def machine_set(self, name: str, machines: Names) -> "ClusterBuilder":
        """A named set of machines, for `allow` and `skew`."""
        self._sets[name] = _list(machines)
        return self

    def service(self, name: str, *, clique: float = 0.0) -> "ClusterBuilder":
        """A service with traffic `clique` between each pair of its containers; others are made as workloads name them."""
        self._services[name] = _plain({"name": name, "clique": clique})
        return self

    def workload(
        self,
        name: str,
        *,
        replicas: int | Sequence[str] | None = None,
        service: str | None = None,
        on: str | Sequence[str | None] | None = None,
        request: Wanted | None = None,
        usage: Wanted | None = None,
        limit: Wanted | None = None,
        **requests: Amount,
    ) -> "ClusterBuilder":
        """A workload and what each of its replicas requests: `cpu="500m", memory="1Gi"`.

        `replicas` is how many, called web-0, web-1, ..., or their names; left out, as many as `on` has entries, or one.
        `on` is the machine of each replica (None: it has none), or one machine for all. `usage` is by resource a mean, or a pair
        (mean, standard deviation); `limit` is by resource.
        """
        named = replicas if replicas is None or isinstance(replicas, int) else list(replicas)
        if named is None and on is not None and not isinstance(on, str):
            named = len(on)
        count = 1 if named is None else named if isinstance(named, int) else len(named)
        fields = {"name": name, "request": {**(request or {}), **requests}}
        fields |= _stated(containers=named, service=service, limit=limit)
        fields |= _stated(on=[on] * count if isinstance(on, str) else on)
        if usage is not None:
            fields["usage"] = {resource: _usage(value) for resource, value in usage.items()}
        self._workloads.append(_plain(fields))
        return self

    def traffic(self, a: str, b: str, weight: float) -> "ClusterBuilder":
        """Traffic between two workloads, in both directions together."""
        self._traffic.append(_plain([a, b, weight]))
        return self

    def rule(self, rule: Rule | str, **fields: Any) -> "ClusterBuilder":
        """A rule: a value of the model, by indices; or its kind and fields by name, as in a file."""
        if isinstance(rule, str):
            self._rules.append(_plain({"rule": rule, **fields}))
        elif fields:
            raise UsageError("a rule that is a value has all of its fields already")
        else:
            self._rules.append(rule)
        return self

    def capacity(self, *resources: str) -> "ClusterBuilder":
        """Requests stay within the capacity of these resources only; without any, of none. Left out: of all."""
        return self.rule("capacity", resources=list(resources))

    def anti_affinity(self, workloads: Names, *, limit: int = 1, level: str = "machine") -> "ClusterBuilder":
        """At most `limit` containers of these workloads together in one group."""
        return self.rule("anti-affinity", workloads=_list(workloads), limit=limit, level=level)

    def spread(self, service: str, minimum: int, *, level: str = "machine") -> "ClusterBuilder":
        """A service uses at least `minimum` groups."""
        return self.rule("spread", service=service, minimum=minimum, level=level)

    def skew(
        self,
        workload: str,
        *,
        limit: int = 1,
        level: str = "machine",
        counted: Names = (),
        machines: Names = (),
        min_groups: int = 0,
    ) -> "ClusterBuilder":
        """No group with a container of `workload` has over `limit` more than the emptiest group of these machines."""
        fields: dict[str, Any] = {"counted": _list(counted)} if counted else {}
        if machines:
            fields["machines"] = self._set_of(machines)
        return self.rule("skew", workload=workload, limit=limit, level=level, min_groups=min_groups, **fields)

    def co_locate(self, *containers: str) -> "ClusterBuilder":
        """These containers run on one machine."""
        return self.rule("co-locate", containers=list(containers))

    def allow(self, workloads: Names, machines: Names) -> "ClusterBuilder":
        """These workloads run only on these machines: the name of a set, or a list of machines."""
        return self.rule("allow", workloads=_list(workloads), machines=self._set_of(machines))

    def _set_of(self, machines: Names) -> str:
        """The name of a set: the one given, or that of a new set with the machines listed."""
        if isinstance(machines, str):
            return machines
        name = ", ".join(machines)
        self.machine_set(name, machines)
        return name

    def dependency(self, service: str, on: str, *, level: str = "machine") -> "ClusterBuilder":
        """Every container of `service` has one of `on` in its group."""
        return self.rule("dependency", service=service, on=on, level=level)

    def transient(self, resource: str, *, mode: str = "joint") -> "ClusterBuilder":
        """While a container moves, it is charged on both machines: until all moves have ended, or ("sequential") its own."""
        return self.rule("transient", resource=resource, mode=mode)

    def interference(self, a: str, b: str, *, limit: int = 0, level: str = "machine") -> "ClusterBuilder":
        """Where workload `a` runs, at most `limit` containers of `b` run."""
        return self.rule("interference", a=a, b=b, limit=limit, level=level)

    def pin(self, *names: str) -> "ClusterBuilder":
        """These containers, or all containers of these workloads, may not move."""
        return self.rule("pinned", names=list(names))

    def confidence(self, resource: str, alpha: float) -> "ClusterBuilder":
        """P(usage <= capacity) >= alpha on every machine."""
        return self.rule("confidence", resource=resource, alpha=alpha)

    def objective(self, **fields: Any) -> "ClusterBuilder":
        """What is good, with the keys of a file: `weights={"communication": 1}`, `hops={"rack": 2}`, ..."""
        self._objective |= _plain(fields)
        return self

    def build(self) -> Snapshot:
        """The snapshot; InputError with every fault."""
        snapshot = read_native(self.document(), self._name or "the cluster that was built")
        values = tuple(rule for rule in self._rules if not isinstance(rule, dict))
        if not values:
            return snapshot
        cluster = replace(snapshot.cluster, rules=(*snapshot.cluster.rules, *values))
        if faults := contradictions(cluster):
            raise InputError(self._name, faults)
        return replace(snapshot, cluster=cluster)

    def document(self) -> dict[str, Any]:
        """The native document of what was built so far: what a file of it says."""
        machines, levels = self._located()
        parts = {
            "name": self._name,
            "resources": self._scaled(machines),
            "levels": list(levels.values()),
            "machines": machines,
            "machine_sets": self._sets,
            "services": list(self._services.values()),
            "workloads": self._workloads,
            "traffic": self._traffic,
            "rules": [self._named(rule) for rule in self._rules if isinstance(rule, dict)],
            "objective": self._objective,
        }
        needed = ("resources", "machines", "workloads")
        return {"bayplan": VERSION} | {key: value for key, value in parts.items() if value or key in needed}

    def _located(self) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """The machines with their amounts told from their groups, and all levels; InputError for what is neither."""
        machines, levels, faults = [], dict(self._levels), []
        known = self._resources or USUAL
        for fields in self._machines:
            machine: dict[str, Any] = {"name": fields["name"], "capacity": {}, **_stated(safety=fields.get("safety"))}
            groups = dict(fields["at"])
            for key, value in fields["given"].items():
                if key in known:
                    machine["capacity"][key] = value
                elif key in levels or not _is_amount(value):
                    groups[key] = str(value)
                else:
                    faults.append(_neither(fields["name"], key, value, [*known, *levels]))
            for level in groups:
                levels.setdefault(level, level)
            machines.append(machine | ({"at": groups} if groups else {}))
        if faults:
            raise InputError(self._name or "the cluster that was built", faults)
        return machines, levels

    def _scaled(self, machines: Iterable[Wanted]) -> dict[str, dict[str, Any]]:
        """The resources; those without a scale get one that holds every amount."""
        resources = {name: dict(fields) for name, fields in (self._resources or USUAL).items()}
        rows = [row for machine in machines for row in (machine["capacity"], machine.get("safety"))]
        rows += [row for workload in self._workloads for row in (workload["request"], workload.get("limit"))]
        for row in rows:
            for name, amount in row.items() if isinstance(row, Mapping) else ():
                if name in resources and "scale" not in resources[name] and _is_fraction(amount):
                    resources[name]["scale"] = FINER
        return resources

    def _named(self, rule: Mapping[str, Any]) -> dict[str, Any]:
        """A rule as a file has it: what is pinned is told apart into workloads and containers."""
        if "names" not in rule:
            return dict(rule)
        workloads = {workload["name"] for workload in self._workloads}
        pinned = {
            "workloads": [name for name in rule["names"] if name in workloads],
            "containers": [name for name in rule["names"] if name not in workloads],
        }
        return {"rule": rule["rule"]} | {key: names for key, names in pinned.items() if names}


def _neither(machine: str, key: str, value: object, known: Sequence[str]) -> Fault:
    problem = f"'{key}' is neither a resource nor a level"
    expected = f"one of {', '.join(known)}, or resource('{key}') or level('{key}') first{did_you_mean(key, known)}"
    return Fault(code="E1202", kind="machine", name=machine, problem=problem, value=str(value), expected=expected)


def _stated(**fields: Any) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}


def _list(names: Names) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _usage(value: Any) -> Any:
    """A mean, or {mean, std} of a pair."""
    return dict(zip(("mean", "std"), value, strict=True)) if isinstance(value, tuple | list) else value


def _plain(value: Any) -> Any:
    """A value as a document has it: numpy's numbers and arrays are Python's."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): _plain(member) for key, member in value.items()}
    return [_plain(member) for member in value] if isinstance(value, list | tuple) else value


def _is_amount(value: object) -> bool:
    if not isinstance(value, str):
        return True
    try:
        exact(value)
    except ValueError:
        return False
    return True


def _is_fraction(amount: Any) -> bool:
    try:
        return exact(amount).denominator != 1
    except (ValueError, TypeError):
        return False  # said by the reader
