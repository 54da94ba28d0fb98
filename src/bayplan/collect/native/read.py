"""A native document -> a snapshot, or all of its faults."""

from collections.abc import Mapping
from typing import Any

from bayplan.collect.native.amounts import Amounts
from bayplan.collect.native.contradictions import contradictions
from bayplan.collect.native.machines import read_levels, read_machine_sets, read_machines, read_resources
from bayplan.collect.native.objective import read_objective
from bayplan.collect.native.reader import Reader
from bayplan.collect.native.rules import Names, read_rules
from bayplan.collect.native.schema import SNAPSHOT, VERSION
from bayplan.collect.native.workloads import (
    read_containers,
    read_on,
    read_services,
    read_traffic,
    read_workloads,
)
from bayplan.collect.shape import shape_faults
from bayplan.collect.subject import shown
from bayplan.errors import Fault, InputError
from bayplan.model import Cluster, Objective, Snapshot


def read_native(document: Mapping[str, Any], source: str) -> Snapshot:
    """The snapshot; InputError with the faults of shape, else of values and names, else of contradictory rules."""
    snapshot, numbers = build(document, source)
    faults = contradictions(snapshot.cluster, numbers)
    if faults:
        raise InputError(source, faults)
    return snapshot


def build(document: Mapping[str, Any], source: str) -> tuple[Snapshot, list[int]]:
    """The snapshot, its rules as they are, and the number that each rule has in the file (0: not there)."""
    faults = version_faults(document) or shape_faults(document, SNAPSHOT)
    if faults:
        raise InputError(source, faults)
    return _assembled(Reader(document), source)


def version_faults(document: Mapping[str, Any]) -> list[Fault]:
    """A fault if the file says another version than ours: then nothing else can be judged."""
    version = document.get("bayplan")
    if type(version) is int and version == VERSION:
        return []
    problem, expected = "the format version is not known", f'"bayplan": {VERSION}'
    return [Fault(code="E1012", kind="file", name="", problem=problem, value=shown(version), expected=expected)]


def _assembled(reader: Reader, source: str) -> tuple[Snapshot, list[int]]:
    """Every part is read, so that every fault is known, before any is put together."""
    resources = read_resources(reader)
    resource = {resource.name: r for r, resource in enumerate(resources)}
    amounts = Amounts(reader, resources, resource, reader.document.get("amounts") == "base-units")
    machines, services = read_machines(reader, amounts), read_services(reader)
    machine, workload = _table(reader, "machine"), _table(reader, "workload")
    levels, sets = read_levels(reader, machines.name), read_machine_sets(reader, machine)
    workloads = read_workloads(reader, amounts, {name: s for s, name in enumerate(services.name)})
    containers, container = read_containers(reader, amounts, workloads.request.tolist())
    placement, traffic = read_on(reader, machine), read_traffic(reader, workload)
    names = Names(
        resource=resource,
        machine=machine,
        machine_set={name: i for i, name in enumerate(sets)},
        level={level.name: i for i, level in enumerate(levels)},
        service={name: s for s, name in enumerate(services.name)},
        workload=workload,
        container=container,
    )
    rules, objective = read_rules(reader, names), read_objective(reader, names)
    if reader.faults:
        raise InputError(source, reader.faults)
    cluster = Cluster(
        name=reader.document.get("name", ""),
        resources=resources,
        machines=machines,
        levels=levels,
        services=services,
        workloads=workloads,
        containers=containers,
        traffic=traffic,
        rules=tuple(rule for _, rule in rules),
        machine_sets=sets,
    )
    notes = tuple(dict.fromkeys([*reader.document.get("notes", []), *reader.notes]))  # read again, said once
    snapshot = Snapshot(cluster=cluster, placement=placement, objective=objective(Objective.default(cluster)), notes=notes)
    return snapshot, [number for number, _ in rules]


def _table(reader: Reader, kind: str) -> dict[str, int]:
    items = reader.document[f"{kind}s"]
    return reader.table(kind, [item["name"] for item in items], [(f"{kind}s", i) for i in range(len(items))])
