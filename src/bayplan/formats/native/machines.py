"""The machines of a native snapshot: resources, levels, capacities, sets."""

import math
from collections.abc import Mapping
from typing import Any

from bayplan.formats.document.location import Path
from bayplan.formats.native.columns import machines_by_column
from bayplan.formats.native.reader import MISSING, Amounts, Reader, share_of
from bayplan.model import MACHINE, IntArray, Level, Machines, Resource, ints, machine_level
from bayplan.model.quantities import LARGEST


def read_resources(reader: Reader) -> tuple[Resource, ...]:
    """The resources, in the order of the file."""
    stated: Mapping[str, Any] = reader.document["resources"]
    return tuple(
        Resource(name=name, scale=fields.get("scale", 1), unit=fields.get("unit", "")) for name, fields in stated.items()
    )


def read_machines(reader: Reader, amounts: Amounts) -> Machines:
    """Names, capacities and safety capacities."""
    usual: Path = ("defaults", "safety")
    default = reader.document.get("defaults", {}).get("safety", {})
    names = tuple(machine["name"] for machine in reader.document["machines"])
    if reader.unchanged and (quick := machines_by_column(amounts, names, reader.document["machines"], default)):
        return quick
    capacity, safety = [], []
    for m, machine in enumerate(reader.document["machines"]):
        path = ("machines", m)
        total = amounts.row(machine["capacity"], (*path, "capacity"), [0] * len(amounts.resources))
        own = (*path, "safety") if "safety" in machine else usual
        safe = _safety(amounts, machine.get("safety", default), own, total)
        for resource, have, limit in zip(amounts.resources, total, safe, strict=True):
            if limit > have:
                where = (*own, resource.name)
                given = machine["capacity"].get(resource.name, 0)
                reader.contradiction(where, "E1114", "is above the capacity", expected=f"at most {given}")
        capacity.append(total)
        safety.append(safe)
    _check_sums(reader, amounts, capacity)
    shape = (len(names), len(amounts.resources))
    return Machines(name=names, capacity=ints(capacity).reshape(shape), safety=ints(safety).reshape(shape))


def _safety(amounts: Amounts, stated: Any, path: Path, capacity: list[int]) -> list[int]:
    """Amounts by resource, or shares of the capacity, rounded down to whole base units."""
    if not isinstance(stated, Mapping):
        return [math.floor(share_of(stated) * have) for have in capacity]
    shares = {name: share_of(value) for name, value in stated.items() if isinstance(value, str) and value.endswith("%")}
    safety = amounts.row({name: value for name, value in stated.items() if name not in shares}, path, list(capacity))
    for name, share in shares.items():
        r = amounts.reader.find("resource", amounts.index, name, (*path, name))
        if r != MISSING:
            safety[r] = math.floor(share * capacity[r])
    return safety


def _check_sums(reader: Reader, amounts: Amounts, capacity: list[list[int]]) -> None:
    for r, resource in enumerate(amounts.resources):
        if (total := sum(row[r] for row in capacity)) > LARGEST:
            where = ("resources", resource.name)
            problem = "the capacities of all machines add up beyond 2^63 - 1 base units"
            reader.fault(where, "E1113", problem, value=str(total), expected=f"at most {LARGEST}")


def read_levels(reader: Reader, machine_names: tuple[str, ...]) -> tuple[Level, ...]:
    """Level 0, and those that the file names."""
    stated = reader.document.get("levels", [])
    names = [level if isinstance(level, str) else level["name"] for level in stated]
    table = reader.table("level", names, [("levels", i) for i in range(len(names))])
    if MACHINE in table:
        reader.fault(("levels", table[MACHINE]), "E1204", "is always there", expected="levels above the machine")
    for m, machine in enumerate(reader.document["machines"]):
        for name in machine.get("at", {}):
            if name not in table:
                reader.unknown("E1202", "level", table, name, ("machines", m, "at"))
    levels = [_level(reader, name, i) for name, i in table.items() if name != MACHINE]
    return (machine_level(machine_names), *levels)


def _level(reader: Reader, name: str, index: int) -> Level:
    """Groups in their stated order, or in the order in which machines name them."""
    stated: str | Mapping[str, Any] = reader.document["levels"][index]
    groups: list[str] = [] if isinstance(stated, str) else stated["groups"]
    place = ("levels", index, "groups")
    table = reader.table("group", groups, [(*place, i) for i in range(len(groups))])
    group_of = []
    for m, machine in enumerate(reader.document["machines"]):
        group = machine.get("at", {}).get(name)
        if group is None:
            reader.fault(("machines", m, "at"), "E1107", f"'{name}' is missing", value="", expected="a group at every level")
            group_of.append(0)
        elif isinstance(stated, str):
            group_of.append(table.setdefault(group, len(table)))
        else:
            group_of.append(max(0, reader.find("group", table, group, ("machines", m, "at", name))))
    return Level(name=name, group=tuple(table) or ("",), group_of=ints(group_of))


def read_machine_sets(reader: Reader, machine: Mapping[str, int]) -> dict[str, IntArray]:
    """name -> machines, ascending."""
    sets: Mapping[str, list[str]] = reader.document.get("machine_sets", {})
    by_name = {name: reader.find_all("machine", machine, members, ("machine_sets", name)) for name, members in sets.items()}
    return {name: ints(sorted(members)) for name, members in by_name.items()}
