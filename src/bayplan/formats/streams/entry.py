"""Cluster requests as documents: one alone, as a line of a stream or an offer to a service has it; and one after the other."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from bayplan.errors import Fault, InputError
from bayplan.formats.document.quantities import Quantities
from bayplan.formats.document.schemas import all_plain, schema
from bayplan.formats.document.shape import shape_faults
from bayplan.formats.requests.document import EXACT, end_fault
from bayplan.model import ClusterRequest, IntArray, Zones, floats
from bayplan.model.quantities import LARGEST, format_quantity

NEEDED = frozenset({"name", "start", "end", "members", "demand"})
NUMBERS = ("arrival", "start", "end", "value")
KNOWN = NEEDED | frozenset(NUMBERS) | {"traffic"}


def request_of(entry: object, zones: Zones, *, base_units: bool = False, source: str = "request") -> ClusterRequest:
    """The request that an entry of `requests` (docs/formats.md) says; InputError with all that is wrong.

    That a member fits into no zone, even if all are empty, is wrong, too. With `base_units` amounts are not scaled.
    """
    request, faults = read_entry(entry, zones, base_units=base_units)
    if request is None:
        raise InputError(source, faults)
    return request


def read_entry(entry: object, zones: Zones, *, base_units: bool) -> tuple[ClusterRequest | None, list[Fault]]:
    """The request and no faults, or None and all faults."""
    faults = [] if flawless(entry) else shape_faults({"requests": [entry]}, _alone())
    if faults or not isinstance(entry, dict):
        return None, faults
    quantities = Quantities(zones.resources, base_units)
    demand = quantities.table(entry["demand"], len(entry["members"]), "request", entry["name"])
    faults += [*request_faults(entry), *quantities.faults]
    if faults:
        return None, faults
    request = built(entry, demand)
    faults += fits_nowhere(request, zones)
    return (None if faults else request), faults


def built(entry: Mapping[str, Any], demand: IntArray) -> ClusterRequest:
    """The request of an entry that has no faults."""
    v = len(entry["members"])
    return ClusterRequest(
        name=entry["name"],
        members=tuple(entry["members"]),
        demand=demand,
        traffic=floats(entry.get("traffic", np.zeros((v, v)))),
        arrival=float(entry.get("arrival", entry["start"])),
        start=float(entry["start"]),
        end=float(entry["end"]),
        value=float(entry.get("value", 1)),
    )


def entry_of(request: ClusterRequest, resources: Sequence[str]) -> dict[str, Any]:
    """The entry that `request_of` reads back as the same request, amounts in base units."""
    return {
        "name": request.name,
        "arrival": request.arrival,
        "start": request.start,
        "end": request.end,
        "value": request.value,
        "members": list(request.members),
        "demand": {name: request.demand[:, r].tolist() for r, name in enumerate(resources)},
        "traffic": request.traffic.tolist(),
    }


@cache
def _alone() -> dict[str, Any]:
    """The schema of a document with nothing but requests, so that faults name them as in a whole file."""
    whole = schema("admission")
    return {"type": "object", "properties": {"requests": whole["properties"]["requests"]}, "$defs": whole["$defs"]}


def flawless(entry: object) -> bool:
    """Does the entry have the shape that its schema asks for? A quick yes for most; False may only mean: look closer."""
    if type(entry) is not dict or not NEEDED <= entry.keys() <= KNOWN:
        return False
    if type(entry["name"]) is not str or not all_plain([entry["name"]]):
        return False
    times = [entry[key] for key in NUMBERS if key in entry]
    if not set(map(type, times)) <= {int, float} or not all(-EXACT <= number <= EXACT for number in times):  # False for NaN
        return False
    members, demand = entry["members"], entry["demand"]
    return (
        entry.get("value", 0) >= 0
        and type(members) is list
        and set(map(type, members)) == {str}
        and type(demand) is dict
        and _amounts(demand.values(), LARGEST)
        and ("traffic" not in entry or (type(entry["traffic"]) is list and _amounts(entry["traffic"], EXACT)))
    )


def _amounts(lists: Iterable[object], most: float) -> bool:
    """Lists of numbers from 0 to `most`."""
    return all(
        type(row) is list and set(map(type, row)) <= {int, float} and all(0 <= number <= most for number in row) for row in lists
    )


# Faults -------------------------------------------------------------------------------------------


def request_faults(entry: Mapping[str, Any]) -> Iterator[Fault]:
    """What is wrong with the times, members and traffic of an entry of the right shape."""
    name, members = entry["name"], entry["members"]
    start, end, arrival = entry["start"], entry["end"], entry.get("arrival", entry["start"])
    if not start < end:
        yield end_fault(name, start, end)
    if arrival > start:
        value = f"arrival {arrival:g}, start {start:g}"
        problem, expected = "starts before it arrives", "arrival <= start"
        yield Fault(code="E1511", kind="request", name=name, problem=problem, value=value, expected=expected)
    for member, count in Counter(members).items():
        if count > 1:
            problem, value = "has a member name more than once", f"{member}, {count} times"
            yield Fault(code="E1512", kind="request", name=name, problem=problem, value=value, expected="each name once")
    yield from _traffic_faults(name, entry.get("traffic"), members)


def fits_nowhere(request: ClusterRequest, zones: Zones) -> Iterator[Fault]:
    """A fault for each member that fits into no zone, even if all are empty."""
    most = np.minimum(zones.capacity, zones.request_cap)  # (zone, resource)
    fits = np.all(request.demand[:, None, :] <= most[None, :, :], axis=2)  # (member, zone)
    for v in np.flatnonzero(~np.any(fits, axis=1)).tolist():
        demanded = ", ".join(
            f"{resource.name} {format_quantity(int(request.demand[v, r]), resource.scale)}"
            for r, resource in enumerate(zones.resources)
        )
        yield Fault(
            code="E1518",
            kind="request",
            name=request.name,
            problem="a member fits into no zone, even if all are empty",
            value=f"{request.members[v]}: {demanded}",
            expected=f"one of the {len(zones.name)} zones that lets one request have as much",
        )


def _traffic_faults(name: str, traffic: list[list[float]] | None, members: list[str]) -> Iterator[Fault]:
    if traffic is None:
        return
    size = len(members)
    widths = sorted({len(row) for row in traffic})
    if len(traffic) != size or widths != [size]:
        value = f"{len(traffic)} rows of {' or '.join(map(str, widths)) or 'no'} entries"
        problem, expected = "its traffic matrix does not fit its members", f"{size} rows of {size}"
        yield Fault(code="E1509", kind="request", name=name, problem=problem, value=value, expected=expected)
        return
    for v, member in enumerate(members):
        if traffic[v][v]:
            problem, value = "a member sends traffic to itself", f"{member}, {traffic[v][v]:g}"
            yield Fault(code="E1510", kind="request", name=name, problem=problem, value=value, expected="0 on the diagonal")


class Line(NamedTuple):
    """Where an entry stands, the entry as in `requests` of a document, and what is wrong with its text."""

    where: str  # "12": the line
    entry: object
    faults: Sequence[Fault] = ()


@dataclass(slots=True)
class Gathering:
    """What was read so far: the requests that are good, and all that is wrong with the others."""

    zones: Zones
    base_units: bool
    unit: str = "line"  # what `where` counts
    in_order: bool = True  # must they come in order of arrival?
    requests: list[ClusterRequest] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    skipped: int = 0  # entries that are not in `requests`
    names: set[str] = field(default_factory=set)

    def take(self, lines: Iterable[Line]) -> None:
        """Read entries; those with faults are left out."""
        for line in lines:
            request, faults = (None, list(line.faults)) if line.faults else self._read(line)
            if request is None or faults:
                self.faults += [replace(self._at(fault, line), place=()) for fault in faults]  # an entry is no document
                self.skipped += 1
            else:
                self.names.add(request.name)
                self.requests.append(request)

    def _read(self, line: Line) -> tuple[ClusterRequest | None, list[Fault]]:
        request, faults = read_entry(line.entry, self.zones, base_units=self.base_units)
        name = line.entry.get("name") if isinstance(line.entry, dict) else None
        if isinstance(name, str) and name in self.names:
            problem, expected = "the name occurs more than once", "each name once"
            faults.append(Fault(code="E1503", kind="request", name=name, problem=problem, expected=expected))
        if request is not None and self.in_order and self.requests and request.arrival < self.requests[-1].arrival:
            before = self.requests[-1]
            problem, expected = "arrives before the one that came before it", "requests in order of arrival"
            value = f"arrival {request.arrival:g}, after {before.arrival:g} of '{before.name}'"
            faults.append(Fault(code="E1517", kind="request", name=name or "", problem=problem, value=value, expected=expected))
        return request, faults

    def _at(self, fault: Fault, line: Line) -> Fault:
        """The fault, named by its line too."""
        named = isinstance(line.entry, dict) and isinstance(line.entry.get("name"), str)
        if self.unit == "request":  # items of a document: named as everywhere, or by their number
            return fault if named or fault.kind != "request" else replace(fault, name=line.where)
        if fault.kind == self.unit:  # the reader of the text has named it
            return fault
        if fault.kind == "file" or (fault.kind == "request" and not named):
            return replace(fault, kind=self.unit, name=line.where, problem=fault.problem.removeprefix("line 1 "))
        return replace(fault, kind=self.unit, name=f"{line.where}, {fault.kind} {fault.name}")
