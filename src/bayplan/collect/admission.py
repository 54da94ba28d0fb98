"""Files of zones, links and cluster requests: what `admit` reads.

Times are half-open, (start, end]. The closed slots [t-, t+] of 001 are (t- - 1, t+] here: `from_slots`.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from bayplan.collect.document.naming import one_of_known
from bayplan.collect.document.quantities import Quantities, resources_document
from bayplan.collect.document.salvage import Salvage, well_shaped
from bayplan.collect.document.schemas import schema
from bayplan.collect.document.text import write_text_atomically
from bayplan.collect.requests import double_requests, end_fault
from bayplan.errors import Fault, InputError
from bayplan.model import ClusterRequest, ClusterRequests, IntArray, Zones, floats, ints


def from_slots(first: int, last: int) -> tuple[float, float]:
    """(start, end] of the slots first..last of 001, both included."""
    return float(first - 1), float(last)


def read_admission(document: object, source: str) -> ClusterRequests:
    """Zones and requests, these in order of arrival (as in the file where they arrive together)."""
    faults, part = well_shaped(document, schema("admission"))
    if part is None or part.lacks("amounts"):  # no amount means anything then
        raise InputError(source, faults)
    file = part.document
    quantities = Quantities.of(part)
    faults += [*_zone_faults(part), *double_requests(tuple(entry["name"] for entry in file["requests"]))]
    demand = []
    for entry in file["requests"]:
        demand.append(quantities.table(entry["demand"], len(entry["members"]), "request", entry["name"]))
        faults += _request_faults(entry)
    capacity = [quantities.row(zone["capacity"], "zone", zone["name"]) for zone in file["zones"]]
    cap = [_cap(quantities, zone, has) for zone, has in zip(file["zones"], capacity, strict=True)]
    faults += quantities.faults
    if faults:
        raise InputError(source, faults)
    zones = Zones(
        name=tuple(zone["name"] for zone in file["zones"]),
        resources=quantities.resources,
        capacity=ints(capacity),
        request_cap=ints(cap),
        bandwidth=_bandwidth(file),
    )
    requests = [_request(entry, d) for entry, d in zip(file["requests"], demand, strict=True)]
    return ClusterRequests(zones=zones, requests=tuple(sorted(requests, key=lambda request: request.arrival)))


def write_admission(path: str | os.PathLike[str], admission: ClusterRequests) -> None:
    """Write a file that `read_admission` reads back as the same value."""
    write_text_atomically(path, admission_text(admission))


def admission_text(admission: ClusterRequests) -> str:
    """The document as JSON, amounts in base units, one line per zone, link and request."""
    zones = admission.zones
    names = [resource.name for resource in zones.resources]
    head = {"bayplan": 1, "kind": "admission", "amounts": "base-units", "resources": resources_document(zones.resources)}
    parts: dict[str, Iterable[Any]] = {
        "zones": (
            {
                "name": name,
                "capacity": dict(zip(names, zones.capacity[z].tolist(), strict=True)),
                "request_cap": dict(zip(names, zones.request_cap[z].tolist(), strict=True)),
            }
            for z, name in enumerate(zones.name)
        ),
        "links": ([zones.name[a], zones.name[b], int(zones.bandwidth[a, b])] for a, b in np.argwhere(zones.bandwidth > 0)),
        "requests": (_entry(request, names) for request in admission.requests),
    }
    body = ",\n".join(
        f' "{key}": [\n' + ",\n".join(f"  {json.dumps(item)}" for item in items) + "\n ]" for key, items in parts.items()
    )
    return json.dumps(head, indent=1)[:-2] + ",\n" + body + "\n}\n"


def _entry(request: ClusterRequest, names: list[str]) -> dict[str, Any]:
    return {
        "name": request.name,
        "arrival": request.arrival,
        "start": request.start,
        "end": request.end,
        "value": request.value,
        "members": list(request.members),
        "demand": {name: request.demand[:, r].tolist() for r, name in enumerate(names)},
        "traffic": request.traffic.tolist(),
    }


def _cap(quantities: Quantities, zone: Mapping[str, Any], capacity: IntArray) -> IntArray:
    """(resource,) what one request may take of a zone; the capacity where nothing is said."""
    stated = zone.get("request_cap", {})
    said = [resource.name in stated for resource in quantities.resources]
    return ints(np.where(said, quantities.row(stated, "zone", zone["name"]), capacity))


def _request(entry: Mapping[str, Any], demand: IntArray) -> ClusterRequest:
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


def _bandwidth(file: Mapping[str, Any]) -> IntArray:
    index = {zone["name"]: z for z, zone in enumerate(file["zones"])}
    bandwidth = np.zeros((len(index), len(index)), dtype=np.int64)
    for a, b, amount in file.get("links", []):
        bandwidth[index[a], index[b]] = amount
    return ints(bandwidth)


# Faults -------------------------------------------------------------------------------------------


def _zone_faults(part: Salvage) -> Iterator[Fault]:
    zones = Counter(zone["name"] for zone in part.document["zones"])
    for name, count in zones.items():
        if count > 1:
            problem = "the name occurs more than once"
            yield Fault(code="E1506", kind="zone", name=name, problem=problem, value=f"{count} times", expected="each name once")
    seen = set()
    for a, b, _ in part.document.get("links", []):
        link = f"{a} -> {b}"
        for name in (a, b):
            if name not in zones and not part.lacks("zones"):
                problem, expected = "names a zone that does not exist", one_of_known("zone", zones)
                yield Fault(code="E1507", kind="link", name=link, problem=problem, value=name, expected=expected)
        if a == b or link in seen:
            problem = "leads back to its own zone" if a == b else "occurs twice"
            yield Fault(code="E1508", kind="link", name=link, problem=problem, expected="one link from a zone to another")
        seen.add(link)


def _request_faults(entry: Mapping[str, Any]) -> Iterator[Fault]:
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
