"""Parquet tables -> a snapshot, quickly; if anything is odd, the same tables as a native document, whose reader says what.

So what is valid, and how a fault is said, stands in one place: the reader of native files.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayplan.errors import CONTROL, InputError
from bayplan.formats.document.partial_document import PartialDocument
from bayplan.formats.document.schemas import all_plain
from bayplan.formats.document.shape import misfits
from bayplan.formats.native.columns import above_limit
from bayplan.formats.native.contradictions import contradictions
from bayplan.formats.native.machines import read_machine_sets, read_resources
from bayplan.formats.native.read import Built, Parts, build, numbered, put_together, read_native, read_wanted, version_faults
from bayplan.formats.native.reader import Reader
from bayplan.formats.native.schema import MOST_REAL, SNAPSHOT
from bayplan.formats.parquet.archive import unpacked
from bayplan.formats.parquet.columns import NOTHING, column_faults, names, reals, texts, wholes
from bayplan.formats.parquet.document import tables_document
from bayplan.model import (
    MACHINE,
    NO_LIMIT,
    UNPLACED,
    Containers,
    IntArray,
    Level,
    Machines,
    Placement,
    Resource,
    Services,
    Snapshot,
    Traffic,
    Workloads,
    floats,
    ints,
    machine_level,
)
from bayplan.model.arrays import NameArray
from bayplan.model.quantities import LARGEST

IN_TABLES = ("amounts", "defaults", "machines", "services", "workloads", "traffic")  # what the head does not say
HEAD: Mapping[str, Any] = {
    **SNAPSHOT,
    "properties": {key: member for key, member in SNAPSHOT["properties"].items() if key not in IN_TABLES},
    "required": ["bayplan", "resources"],
}
Tables = Mapping[str, Any]  # name -> pyarrow.Table


class _OddError(Exception):
    """Something is not plain; the reader of native documents says what."""


def read_tables(data: bytes, source: str) -> Snapshot:
    """The snapshot; InputError with all faults of the tables, and of contradictory rules."""
    built = _read(data, source)
    if isinstance(built, dict):
        return read_native(built, source)
    if faults := contradictions(built.snapshot.cluster, built.numbers):
        raise InputError(source, faults)
    return built.snapshot


def build_tables(data: bytes, source: str) -> Snapshot:
    """The snapshot, whether its rules contradict each other or not."""
    built = _read(data, source)
    return build(built, source) if isinstance(built, dict) else built.snapshot


def _read(data: bytes, source: str) -> Built | dict[str, Any]:
    """The snapshot, or the native document of tables in which something is odd."""
    head, tables = unpacked(data, source)
    faults = version_faults(head) or [misfit.fault for misfit in misfits(head, HEAD)] or column_faults(head, tables)
    if faults:
        raise InputError(source, faults)
    reader = Reader(PartialDocument(document=head), whole=head)
    try:
        parts = _parts(reader, tables)
        wanted = read_wanted(reader, parts.names)
    except (_OddError, KeyError):  # KeyError: a name that is not known
        return tables_document(head, tables)
    return tables_document(head, tables) if reader.faults else put_together(reader, parts, wanted)


def _expect(holds: bool | np.bool_) -> None:
    if not holds:
        raise _OddError


def _parts(reader: Reader, tables: Tables) -> Parts:
    resources = read_resources(reader)
    machines = _machines(tables["machines"], resources)
    machine = numbered(machines.name)
    sets = read_machine_sets(reader, machine)
    names = _distinct_names(tables["workloads"])
    workload = numbered(names)
    services, owner = _services(reader, tables, names)
    workloads = _workloads(reader, tables["workloads"], (names, owner), resources)
    containers, placement = _containers(tables["containers"], workload, machine)
    _expect(_sums_fit(workloads.request, np.bincount(containers.workload, minlength=len(names))))
    levels = _levels(reader, tables["machines"], machines.name)
    traffic = _traffic(tables, workload)
    return Parts(resources, machines, levels, sets, services, workloads, containers, placement, traffic)


def _distinct_names(table: Any) -> tuple[str, ...]:
    """At least one, all of them plain and different."""
    listed = names(table)
    if not listed or not listed.are_distinct or not all_plain(list(listed)):
        raise _OddError
    return tuple(listed)


def _sums_fit(amount: IntArray, times: IntArray) -> bool:
    """Is the total of each resource at most 2^63 - 1?"""
    count = times.tolist()
    return all(sum(map(int.__mul__, column, count)) <= LARGEST for column in amount.T.tolist())


def _machines(table: Any, resources: tuple[Resource, ...]) -> Machines:
    every, names = [resource.name for resource in resources], _distinct_names(table)
    capacity = wholes(table, "capacity", every, 0)
    safety = wholes(table, "safety", every, capacity)
    _expect(capacity.min(initial=0) >= 0 and safety.min(initial=0) >= 0 and (safety <= capacity).all())
    _expect(_sums_fit(capacity, np.ones(len(names), dtype=np.int64)))
    return Machines(name=names, capacity=capacity, safety=safety)


def _levels(reader: Reader, table: Any, machine_names: tuple[str, ...]) -> tuple[Level, ...]:
    stated = reader.document.get("levels", [])
    names = [level if isinstance(level, str) else level["name"] for level in stated]
    _expect(MACHINE not in names and len(set(names)) == len(names))
    return (machine_level(machine_names), *(_level(table, level) for level in stated))


def _level(table: Any, stated: str | Mapping[str, Any]) -> Level:
    """Groups in their stated order, or in the order in which machines name them."""
    name = stated if isinstance(stated, str) else stated["name"]
    at = texts(table, f"at.{name}")
    _expect((at.code != NOTHING).all())
    if isinstance(stated, str):
        used, first = np.unique(at.code, return_index=True)
        groups = [at.values[code] for code in used[np.argsort(first)].tolist()]
        _expect(all_plain(groups))
    else:
        groups = stated["groups"]
    _expect(len(set(groups)) == len(groups))
    return Level(name=name, group=tuple(groups), group_of=at.numbers(numbered(groups), NOTHING))


def _services(reader: Reader, tables: Tables, workloads: tuple[str, ...]) -> tuple[Services, IntArray]:
    """Services that are listed, then those that only workloads name, in their order; and (workload,) its service."""
    listed: tuple[str, ...] = ()
    clique = floats([])
    if "services" in tables and tables["services"].num_rows:
        listed = _distinct_names(tables["services"])
        clique = reals(tables["services"], "clique", floats(np.zeros(len(listed))))
        _expect((clique >= 0).all() and (clique <= MOST_REAL).all())
    stated = texts(tables["workloads"], "service")
    used = [stated.values[code] if code != NOTHING else own for code, own in zip(stated.code.tolist(), workloads, strict=True)]
    _expect(all_plain(stated.values))
    reader.notes.extend(f"service '{name}' has no workload" for name in sorted(set(listed) - set(used)))
    every = tuple(dict.fromkeys([*listed, *used]))
    number = {name: s for s, name in enumerate(every)}
    whole = np.concatenate([clique, np.zeros(len(every) - len(listed))])
    return Services(name=every, clique=floats(whole)), ints([number[name] for name in used])


def _workloads(reader: Reader, table: Any, named: tuple[tuple[str, ...], IntArray], resources: tuple[Resource, ...]) -> Workloads:
    """`named`: the name and the service of each workload."""
    every = [resource.name for resource in resources]
    request, limit = wholes(table, "request", every, 0), wholes(table, "limit", every, NO_LIMIT)
    mean, std = request.astype(np.float64), np.zeros(request.shape)
    for r, resource in enumerate(every):
        mean[:, r] = reals(table, f"usage.{resource}", floats(mean[:, r]))
        std[:, r] = reals(table, f"std.{resource}", floats(std[:, r]))
    _expect(request.min(initial=0) >= 0 and (limit >= request).all())
    _expect(all(((values >= 0) & (values <= LARGEST)).all() for values in (mean, std)))  # NaN is neither
    above = above_limit(limit, floats(mean))
    _expect(not (above & (limit > 2**53)).any())
    for w, r in np.argwhere(above).tolist():
        reader.notes.append(f"workload '{named[0][w]}': its mean usage of {every[r]} is above its limit")
    return Workloads(
        name=named[0], service=named[1], request=request, usage_mean=floats(mean), usage_std=floats(std), limit=limit
    )


def _containers(table: Any, workload: Mapping[str, int], machine: Mapping[str, int]) -> tuple[Containers, Placement]:
    """Rows may come in any order: those of one workload are put side by side, in theirs."""
    owner = texts(table, "workload").numbers(workload, NOTHING)
    machine_of = texts(table, "machine").numbers(machine, UNPLACED)
    order = None if (np.diff(owner) >= 0).all() else ints(np.argsort(owner, kind="stable"))
    if order is not None:
        owner, machine_of = ints(owner[order]), ints(machine_of[order])
    count = np.bincount(owner, minlength=len(workload))
    if "name" in table.column_names and table.num_rows:
        containers = Containers(name=_container_names(table, order), workload=owner)
    else:
        containers = Containers.replicas_of(list(workload), count)
    return containers, Placement(machine_of=machine_of)


def _container_names(table: Any, order: IntArray | None) -> NameArray:
    listed = names(table, order)
    if listed is None:
        raise _OddError
    _expect(listed.are_distinct and np.diff(listed.start).min(initial=1) > 0 and not CONTROL.search(listed.block.decode()))
    return listed


def _traffic(tables: Tables, workload: Mapping[str, int]) -> Traffic:
    """Edges in the order of the table."""
    if "traffic" not in tables or not tables["traffic"].num_rows:
        return Traffic.none()
    table = tables["traffic"]
    ends = np.stack([texts(table, side).numbers(workload, NOTHING) for side in ("from", "to")])
    weight = reals(table, "weight", floats(np.zeros(table.num_rows)))
    low, high = ends.min(axis=0), ends.max(axis=0)
    _expect(low.min() >= 0 and (low < high).all() and ((weight > 0) & (weight <= MOST_REAL)).all())
    _expect(len(np.unique(low * len(workload) + high)) == len(low))
    return Traffic(a=ints(low), b=ints(high), weight=weight)
