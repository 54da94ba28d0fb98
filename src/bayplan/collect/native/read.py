"""A native document -> a snapshot, or all of its faults."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from bayplan.collect.native.amounts import Amounts
from bayplan.collect.native.contradictions import contradictions
from bayplan.collect.native.machines import read_levels, read_machine_sets, read_machines, read_resources
from bayplan.collect.native.objective import read_objective
from bayplan.collect.native.reader import Reader
from bayplan.collect.native.rules import Names, read_rules
from bayplan.collect.native.salvage import salvaged
from bayplan.collect.native.schema import SNAPSHOT, VERSION
from bayplan.collect.native.workloads import (
    read_containers,
    read_on,
    read_services,
    read_traffic,
    read_workloads,
)
from bayplan.collect.shape import misshapen
from bayplan.collect.subject import Path, shown
from bayplan.errors import Fault, InputError
from bayplan.model import (
    Cluster,
    Containers,
    IntArray,
    Level,
    Machines,
    Objective,
    Placement,
    Resource,
    Rule,
    Services,
    Snapshot,
    Traffic,
    Workloads,
)

UNKNOWN_NAMES = ("E1202", "E1403")


def read_native(document: Mapping[str, Any], source: str) -> Snapshot:
    """The snapshot; InputError with the faults of shape, values and names, else of contradictory rules."""
    snapshot, numbers = build(document, source)
    faults = contradictions(snapshot.cluster, numbers)
    if faults:
        raise InputError(source, faults)
    return snapshot


def build(document: Mapping[str, Any], source: str) -> tuple[Snapshot, list[int]]:
    """The snapshot, its rules as they are, and the number that each rule has in the file (0: not there)."""
    faults = version_faults(document)
    if not faults and (places := misshapen(document, SNAPSHOT)):
        faults = [*(fault for _, fault in places), *_further_faults(document, [path for path, _ in places])]
    if faults:
        raise InputError(source, faults)
    reader = Reader(document, whole=document)
    parts = _read_parts(reader)
    if reader.faults:
        raise InputError(source, reader.faults)
    return _put_together(reader, parts), [number for number, _ in parts.rules]


def _further_faults(document: Mapping[str, Any], places: list[Path]) -> list[Fault]:
    """The faults of values and names in what has the right shape. Unknown names may be those of what was left out."""
    part = salvaged(document, places)
    if part is None:
        return []
    reader = Reader(part.document, whole=document, position=part.position)
    _read_parts(reader)
    return [fault for fault in reader.faults if fault.code not in UNKNOWN_NAMES]


def version_faults(document: Mapping[str, Any]) -> list[Fault]:
    """A fault if the file says another version than ours: then nothing else can be judged."""
    version = document.get("bayplan")
    if type(version) is int and version == VERSION:
        return []
    problem, expected = "the format version is not known", f'"bayplan": {VERSION}'
    return [Fault(code="E1012", kind="file", name="", problem=problem, value=shown(version), expected=expected)]


class Parts(NamedTuple):
    """What a document says, part by part."""

    resources: tuple[Resource, ...]
    machines: Machines
    levels: tuple[Level, ...]
    sets: Mapping[str, IntArray]
    services: Services
    workloads: Workloads
    containers: Containers
    placement: Placement
    traffic: Traffic
    rules: list[tuple[int, Rule]]  # the number of a rule in the file, and the rule
    objective: Callable[[Objective], Objective]  # on top of a default


def _read_parts(reader: Reader) -> Parts:
    """Every part is read, so that every fault is known, before any is put together."""
    resources = read_resources(reader)
    resource = {resource.name: r for r, resource in enumerate(resources)}
    amounts = Amounts(reader, resources, resource, reader.document.get("amounts") == "base-units")
    machines, services = read_machines(reader, amounts), read_services(reader)
    machine, workload = _table(reader, "machine"), _table(reader, "workload")
    service = {name: s for s, name in enumerate(services.name)}
    levels, sets = read_levels(reader, machines.name), read_machine_sets(reader, machine)
    workloads = read_workloads(reader, amounts, service)
    containers, container = read_containers(reader, amounts, workloads.request.tolist())
    placement, traffic = read_on(reader, machine), read_traffic(reader, workload)
    names = Names(
        resource=resource,
        machine=machine,
        machine_set={name: i for i, name in enumerate(sets)},
        level={level.name: i for i, level in enumerate(levels)},
        service=service,
        workload=workload,
        container=container,
    )
    rules, objective = read_rules(reader, names), read_objective(reader, names)
    return Parts(resources, machines, levels, sets, services, workloads, containers, placement, traffic, rules, objective)


def _put_together(reader: Reader, parts: Parts) -> Snapshot:
    cluster = Cluster(
        name=reader.document.get("name", ""),
        resources=parts.resources,
        machines=parts.machines,
        levels=parts.levels,
        services=parts.services,
        workloads=parts.workloads,
        containers=parts.containers,
        traffic=parts.traffic,
        rules=tuple(rule for _, rule in parts.rules),
        machine_sets=parts.sets,
    )
    notes = tuple(dict.fromkeys([*reader.document.get("notes", []), *reader.notes]))  # read again, said once
    objective = parts.objective(Objective.default(cluster))
    return Snapshot(cluster=cluster, placement=parts.placement, objective=objective, notes=notes)


def _table(reader: Reader, kind: str) -> dict[str, int]:
    items = reader.document[f"{kind}s"]
    return reader.table(kind, [item["name"] for item in items], [(f"{kind}s", i) for i in range(len(items))])
