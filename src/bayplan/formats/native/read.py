"""A native document -> a snapshot or a placement, or all of its faults."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from bayplan.errors import Fault, InputError
from bayplan.formats.document.location import Path, shown
from bayplan.formats.document.partial_document import ITEM, PartialDocument, item, repaired, without_faults
from bayplan.formats.document.schemas import one_of_known
from bayplan.formats.native.contradictions import contradictions
from bayplan.formats.native.machines import read_levels, read_machine_sets, read_machines, read_resources
from bayplan.formats.native.objective import read_objective
from bayplan.formats.native.reader import MISSING, Amounts, Reader
from bayplan.formats.native.rules import Names, read_rules
from bayplan.formats.native.schema import PLACEMENT, SNAPSHOT, VERSION
from bayplan.formats.native.workloads import read_containers, read_on, read_services, read_traffic, read_workloads
from bayplan.model import (
    UNPLACED,
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
    ints,
)

HARMLESS = {"name", "notes", "traffic", "rules", "objective"}  # what rules and machines do not depend on
TOO_LARGE = "E1306"  # depends on which resources the capacity rules limit


def read_native(document: Mapping[str, Any], source: str) -> Snapshot:
    """The snapshot; InputError with the faults of shape, values and names, and of contradictory rules."""
    reading = _read(document, source)
    faults = [*reading.faults, *_contradictions(document, reading)]
    if faults or reading.built is None:
        raise InputError(source, faults)
    return reading.built.snapshot


def build(document: Mapping[str, Any], source: str) -> Snapshot:
    """The snapshot, whether its rules contradict each other or not."""
    reading = _read(document, source)
    if reading.built is None:
        raise InputError(source, reading.faults)
    return reading.built.snapshot


class Built(NamedTuple):
    """A snapshot whose rules may contradict each other."""

    snapshot: Snapshot
    numbers: list[int]  # what each rule has in the file (0: not there)


class _Reading(NamedTuple):
    """What came out of a document: no snapshot if there is any fault."""

    faults: list[Fault]
    places: list[Path]
    built: Built | None


def _read(document: Mapping[str, Any], source: str) -> _Reading:
    if other := version_faults(document):
        raise InputError(source, other)
    wrong_parts, part = repaired(document, SNAPSHOT)
    faults = [(misfit.place if misfit.known else misfit.place[:-1], misfit.fault) for misfit in wrong_parts]
    if part is None:
        return _Reading([fault for _, fault in faults], [path for path, _ in faults], None)
    reader = Reader(part, whole=document)
    parts = _read_parts(reader)  # every part, so that every fault is known, before any is put together
    wanted = read_wanted(reader, parts.names)
    faults += zip(reader.places, reader.faults, strict=True)
    faults.sort(key=lambda fault: _position(document, fault[0]))
    built = None if faults else put_together(reader, parts, wanted)
    return _Reading([fault for _, fault in faults], [path for path, _ in faults], built)


def _position(document: Mapping[str, Any], path: Path) -> tuple[int, int]:
    """Where a fault stands: first those of the file as a whole, then by key and by item."""
    keys: list[str | int] = list(document)
    section = keys.index(path[0]) + 1 if path and path[0] in document else 0
    return section, path[1] if len(path) > 1 and isinstance(path[1], int) else 0


def _cut(path: Path) -> Path:
    """What is left out for a fault: the whole item, but not a workload for what it says of its machines."""
    return path[:3] if path[:1] == ("workloads",) and path[2:3] == ("on",) else item(path)


def _contradictions(document: Mapping[str, Any], reading: _Reading) -> list[Fault]:
    """Rules that cannot hold; with other faults, only if what is left without them has all machines and workloads."""
    if reading.built is not None:
        return contradictions(reading.built.snapshot.cluster, reading.built.numbers)
    cuts = [_cut(path) for path in reading.places]
    if not all(path and (path[0] in HARMLESS or len(path) > ITEM) for path in cuts):
        return []
    part = without_faults(document, SNAPSHOT, reading.places, _cut)
    if part is None:
        return []
    reader = Reader(part, whole=document)
    parts = _read_parts(reader)
    wanted = read_wanted(reader, parts.names)
    if reader.faults:
        return []
    snapshot, numbers = put_together(reader, parts, wanted)
    faults = contradictions(snapshot.cluster, numbers)
    return [fault for fault in faults if fault.code != TOO_LARGE or not part.lacks("rules")]


def version_faults(document: Mapping[str, Any]) -> list[Fault]:
    """A fault if the file says a version that is not known: then nothing else can be checked."""
    version = document.get("bayplan")
    if type(version) is int and version == VERSION:
        return []
    problem, expected = "the format version is not known", f'"bayplan": {VERSION}'
    return [Fault(code="E1012", kind="file", name="", problem=problem, value=shown(version), expected=expected)]


class Parts(NamedTuple):
    """What a document says, part by part, but for its rules and its objective."""

    resources: tuple[Resource, ...]
    machines: Machines
    levels: tuple[Level, ...]
    sets: Mapping[str, IntArray]
    services: Services
    workloads: Workloads
    containers: Containers
    placement: Placement
    traffic: Traffic

    @property
    def names(self) -> Names:
        """Every name that a rule or the objective can use."""
        return Names(
            resource=numbered([resource.name for resource in self.resources]),
            machine=numbered(self.machines.name),
            machine_set=numbered(list(self.sets)),
            level=numbered([level.name for level in self.levels]),
            service=numbered(self.services.name),
            workload=numbered(self.workloads.name),
            container=_LazyNumbers(self.containers.name),
            containers_of=_ranges(self.containers, len(self.workloads.name)),
        )


def _read_parts(reader: Reader) -> Parts:
    resources = read_resources(reader)
    resource = {resource.name: r for r, resource in enumerate(resources)}
    amounts = Amounts(reader, resources, resource, reader.document.get("amounts") == "base-units")
    machines, services = read_machines(reader, amounts), read_services(reader)
    machine, workload = _table(reader, "machine"), _table(reader, "workload")
    service = {name: s for s, name in enumerate(services.name)}
    levels, sets = read_levels(reader, machines.name), read_machine_sets(reader, machine)
    workloads = read_workloads(reader, amounts, service)
    containers = read_containers(reader, amounts, workloads.request.tolist())
    placement, traffic = read_on(reader, machine), read_traffic(reader, workload)
    return Parts(resources, machines, levels, sets, services, workloads, containers, placement, traffic)


def numbered(names: Sequence[str]) -> dict[str, int]:
    """name -> its first index, in their order."""
    numbers: dict[str, int] = {}
    for index, name in enumerate(names):
        numbers.setdefault(name, index)
    return numbers


class _LazyNumbers(Mapping[str, int]):
    """The same, made when it is needed, which is not so for the containers of most clusters."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    @cached_property
    def table(self) -> dict[str, int]:
        return numbered(self.names)

    def __getitem__(self, name: str) -> int:
        return self.table[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.table)

    def __len__(self) -> int:
        return len(self.table)


def _ranges(containers: Containers, workloads: int) -> list[range]:
    """The containers of each workload."""
    ends = np.searchsorted(containers.workload, np.arange(workloads + 1)).tolist()
    return [range(start, end) for start, end in pairwise(ends)]


class Wanted(NamedTuple):
    """What a document asks for."""

    rules: list[tuple[int, Rule]]  # the number of a rule in the file, and the rule
    objective: Callable[[Objective], Objective]  # on top of a default


def read_wanted(reader: Reader, names: Names) -> Wanted:
    """The rules and the objective."""
    return Wanted(read_rules(reader, names), read_objective(reader, names))


def put_together(reader: Reader, parts: Parts, wanted: Wanted) -> Built:
    """The snapshot of parts in which nothing is wrong."""
    cluster = Cluster(
        name=reader.document.get("name", ""),
        resources=parts.resources,
        machines=parts.machines,
        levels=parts.levels,
        services=parts.services,
        workloads=parts.workloads,
        containers=parts.containers,
        traffic=parts.traffic,
        rules=tuple(rule for _, rule in wanted.rules),
        machine_sets=parts.sets,
    )
    notes = tuple(dict.fromkeys([*reader.document.get("notes", []), *reader.notes]))  # read again, said once
    objective = wanted.objective(Objective.default(cluster))
    snapshot = Snapshot(cluster=cluster, placement=parts.placement, objective=objective, notes=notes)
    return Built(snapshot, [number for number, _ in wanted.rules])


def _table(reader: Reader, kind: str) -> dict[str, int]:
    items = reader.document[f"{kind}s"]
    return reader.table(kind, [item["name"] for item in items], [(f"{kind}s", i) for i in range(len(items))])


def read_native_placement(document: Mapping[str, Any], cluster: Cluster, source: str) -> Placement:
    """The placement that {"placement": {container: machine}} says; a container that is not named has no machine."""
    wrong_parts, part = repaired(document, PLACEMENT)
    faults = [misfit.fault for misfit in wrong_parts]
    if part is None:
        raise InputError(source, faults)
    return _placed(Reader(part, whole=document, faults=faults), cluster, part.document["placement"].items(), source)


def placed_as(snapshot: Snapshot, cluster: Cluster, source: str) -> Placement:
    """Where another snapshot says that its containers run; its names are those of `cluster`."""
    machine: list[str | None] = [*snapshot.cluster.machines.name, None]  # UNPLACED is -1, the last
    names = (machine[m] for m in snapshot.placement.machine_of.tolist())
    reader = Reader(PartialDocument(document={}), whole={})
    return _placed(reader, cluster, zip(snapshot.cluster.containers.name, names, strict=True), source)


def _fault(code: str, container: str, problem: str, value: str, expected: str) -> Fault:
    return Fault(code=code, kind="container", name=container, problem=problem, value=value, expected=expected)


def _placed(reader: Reader, cluster: Cluster, pairs: Iterable[tuple[str, str | None]], source: str) -> Placement:
    container = {name: c for c, name in enumerate(cluster.containers.name)}
    machine = {name: m for m, name in enumerate(cluster.machines.name)}
    machine_of = np.full(len(container), UNPLACED, dtype=np.int64)
    for name, where in pairs:
        c = container.get(name, MISSING)
        m = UNPLACED if where is None else machine.get(where, MISSING)
        if c == MISSING:
            expected = one_of_known("container", container) + reader.hints(name, container)
            reader.faults.append(_fault("E1402", name, "is not in this cluster", shown(where), expected))
        if m == MISSING and where is not None:
            expected = one_of_known("machine", machine) + reader.hints(where, machine)
            reader.faults.append(_fault("E1403", name, "runs on an unknown machine", shown(where), expected))
        if c != MISSING:
            machine_of[c] = m
    if reader.faults:
        raise InputError(source, reader.faults)
    return Placement(machine_of=ints(machine_of))
