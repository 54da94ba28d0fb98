"""Files of zones, links and cluster requests: what `admit` reads, and what is written: documents, JSON lines, tables.

Times are half-open, (start, end]. The closed slots [t-, t+] of [Online clusters] are (t- - 1, t+] here: `from_slots`.
"""

import csv
import io
import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np

from bayplan.errors import Fault, InputError, UsageError, did_you_mean
from bayplan.formats.document.partial_document import PartialDocument, well_shaped
from bayplan.formats.document.quantities import Quantities, resources_document
from bayplan.formats.document.schemas import one_of_known, schema
from bayplan.formats.document.text import write_text_atomically
from bayplan.formats.requests.document import double_requests
from bayplan.formats.streams.entry import built, entry_of, request_faults
from bayplan.model import ClusterRequest, ClusterRequests, IntArray, Resource, Zones, ints
from bayplan.model.quantities import format_quantity, parse_quantity


def from_slots(first: int, last: int) -> tuple[float, float]:
    """(start, end] of the slots first..last of [Online clusters], both included."""
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
        faults += request_faults(entry)
    amounts = _zone_amounts(file, quantities)
    faults += quantities.faults
    if faults:
        raise InputError(source, faults)
    requests = [built(entry, d) for entry, d in zip(file["requests"], demand, strict=True)]
    zones = _zones(file, quantities, amounts)
    return ClusterRequests(zones=zones, requests=tuple(sorted(requests, key=lambda request: request.arrival)))


def read_zones(document: object, source: str) -> tuple[Zones, bool]:
    """The zones of an admission, whether it has requests or not (these are not looked at); are amounts in base units?"""
    head = {key: value for key, value in document.items() if key != "requests"} if isinstance(document, dict) else document
    faults, part = well_shaped(head, _head())
    if part is None or part.lacks("amounts"):
        raise InputError(source, faults)
    quantities = Quantities.of(part)
    faults += _zone_faults(part)
    amounts = _zone_amounts(part.document, quantities)
    faults += quantities.faults
    if faults:
        raise InputError(source, faults)
    return _zones(part.document, quantities, amounts), quantities.base_units


@cache
def _head() -> dict[str, Any]:
    """The schema of all but the requests."""
    whole = schema("admission")
    others = {key: member for key, member in whole["properties"].items() if key != "requests"}
    return {**whole, "properties": others, "required": [key for key in whole["required"] if key != "requests"]}


def _zone_amounts(file: Mapping[str, Any], quantities: Quantities) -> tuple[list[IntArray], list[IntArray]]:
    """Capacity and request cap of each zone."""
    capacity = [quantities.row(zone["capacity"], "zone", zone["name"]) for zone in file["zones"]]
    return capacity, [_cap(quantities, zone, has) for zone, has in zip(file["zones"], capacity, strict=True)]


def _zones(file: Mapping[str, Any], quantities: Quantities, amounts: tuple[list[IntArray], list[IntArray]]) -> Zones:
    return Zones(
        name=tuple(zone["name"] for zone in file["zones"]),
        resources=quantities.resources,
        capacity=ints(amounts[0]),
        request_cap=ints(amounts[1]),
        bandwidth=_bandwidth(file),
    )


def write_admission(path: str | os.PathLike[str], admission: ClusterRequests) -> None:
    """Write a file that `read_admission` reads back as the same value."""
    write_text_atomically(path, admission_text(admission))


def admission_text(admission: ClusterRequests) -> str:
    """The document as JSON, amounts in base units, one line per zone, link and request."""
    names = [resource.name for resource in admission.zones.resources]
    head, parts = head_of(admission.zones)
    parts["requests"] = (entry_of(request, names) for request in admission.requests)
    body = ",\n".join(
        f' "{key}": [\n' + ",\n".join(f"  {json.dumps(item)}" for item in items) + "\n ]" for key, items in parts.items()
    )
    return json.dumps(head, indent=1)[:-2] + ",\n" + body + "\n}\n"


def head_of(zones: Zones) -> tuple[dict[str, Any], dict[str, Iterable[Any]]]:
    """All of a document but its requests, amounts in base units: what stands alone, and the lists."""
    names = [resource.name for resource in zones.resources]
    head = {"bayplan": 1, "kind": "admission", "amounts": "base-units", "resources": resources_document(zones.resources)}
    return head, {
        "zones": (
            {
                "name": name,
                "capacity": dict(zip(names, zones.capacity[z].tolist(), strict=True)),
                "request_cap": dict(zip(names, zones.request_cap[z].tolist(), strict=True)),
            }
            for z, name in enumerate(zones.name)
        ),
        "links": ([zones.name[a], zones.name[b], int(zones.bandwidth[a, b])] for a, b in np.argwhere(zones.bandwidth > 0)),
    }


def _cap(quantities: Quantities, zone: Mapping[str, Any], capacity: IntArray) -> IntArray:
    """(resource,) what one request may take of a zone; the capacity where nothing is said."""
    stated = zone.get("request_cap", {})
    is_stated = [resource.name in stated for resource in quantities.resources]
    return ints(np.where(is_stated, quantities.row(stated, "zone", zone["name"]), capacity))


def _bandwidth(file: Mapping[str, Any]) -> IntArray:
    index = {zone["name"]: z for z, zone in enumerate(file["zones"])}
    bandwidth = np.zeros((len(index), len(index)), dtype=np.int64)
    for a, b, amount in file.get("links", []):
        bandwidth[index[a], index[b]] = amount
    return ints(bandwidth)


# Faults -------------------------------------------------------------------------------------------


def _zone_faults(part: PartialDocument) -> Iterator[Fault]:
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
                problem, expected = "names a zone that does not exist", one_of_known("zone", zones) + did_you_mean(name, zones)
                yield Fault(code="E1507", kind="link", name=link, problem=problem, value=name, expected=expected)
        if a == b or link in seen:
            problem = "leads back to its own zone" if a == b else "occurs twice"
            yield Fault(code="E1508", kind="link", name=link, problem=problem, expected="one link from a zone to another")
        seen.add(link)


SEPARATORS = frozenset("=;")


def json_lines(admission: ClusterRequests) -> str:
    """The zones in a first line, then one request per line, amounts in base units."""
    head, lists = head_of(admission.zones)
    names = [resource.name for resource in admission.zones.resources]
    entries = [entry_of(request, names) for request in admission.requests]
    whole = {**head, **{key: list(items) for key, items in lists.items()}}
    return "".join(f"{json.dumps(line, separators=(',', ':'))}\n" for line in [whole, *entries])


def table_text(admission: ClusterRequests) -> str:
    """One row per member, amounts in written units; the zones are not in it. UsageError if it cannot say all."""
    resources, out = admission.zones.resources, io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["request", "arrival", "start", "end", "value", "member", *(r.name for r in resources), "traffic"])
    for request in admission.requests:
        if odd := [member for member in request.members if SEPARATORS & set(member) or member != member.strip()]:
            raise UsageError(f"member '{odd[0]}' of request '{request.name}' has '=', ';' or blanks in its name: use JSON lines")
        writer.writerows(_rows(request, resources))
    return out.getvalue()


def _rows(request: ClusterRequest, resources: tuple[Resource, ...]) -> Iterator[list[str]]:
    times = [repr(number) for number in (request.arrival, request.start, request.end, request.value)]
    for v, member in enumerate(request.members):
        row = zip(request.members, request.traffic[v].tolist(), strict=True)
        sent = (f"{other}={traffic!r}" for other, traffic in row if traffic)
        amounts = [_written(int(request.demand[v, r]), resource) for r, resource in enumerate(resources)]
        yield [request.name, *(times if v == 0 else [""] * 4), member, *amounts, ";".join(sent)]


def _written(amount: int, resource: Resource) -> str:
    text = format_quantity(amount, resource.scale)
    if parse_quantity(text) * resource.scale != amount:
        raise UsageError(f"{amount}/{resource.scale} of {resource.name} has no finite decimals: use JSON lines")
    return text
