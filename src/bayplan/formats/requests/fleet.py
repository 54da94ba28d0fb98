"""Fleets: how many machines there are of each kind, beside the requests or in a file of their own."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from bayplan.errors import Fault, InputError
from bayplan.formats.document.lines import document_of
from bayplan.formats.document.partial_document import well_shaped
from bayplan.formats.document.quantities import Quantities
from bayplan.formats.document.schemas import schema
from bayplan.formats.document.text import PathLike
from bayplan.model import Fleet, Resource, ints


def read_fleet(path: PathLike, resources: Sequence[Resource]) -> Fleet:
    """The fleet in a file, in the base units of these resources."""
    with document_of(path) as document:
        return fleet_in(document, resources, os.fspath(path))


def fleet_in(document: object, resources: Sequence[Resource], source: str) -> Fleet:
    """The fleet of a document, in the base units of `resources`; InputError with all that is wrong."""
    faults, part = well_shaped(document, schema("fleet"))
    if part is None or part.lacks("amounts"):  # no amount means anything then
        raise InputError(source, faults)
    quantities = Quantities(tuple(resources), part.document.get("amounts") == "base-units")
    fleet = fleet_of(part.document["fleet"], quantities)
    faults += quantities.faults
    if faults:
        raise InputError(source, faults)
    return fleet


def fleet_of(entries: Sequence[Mapping[str, Any]], quantities: Quantities) -> Fleet:
    """The fleet that well-shaped entries say; what is wrong with their names and amounts is told to `quantities`."""
    rows = [quantities.row(entry["capacity"], "machine kind", entry["kind"]) for entry in entries]
    quantities.faults += _kind_faults([entry["kind"] for entry in entries])
    for entry, row in zip(entries, rows, strict=True):
        if not quantities.faults and not row.any():
            quantities.faults.append(_empty(entry["kind"]))
    return Fleet(
        kind=tuple(entry["kind"] for entry in entries),
        machines=ints([entry["machines"] for entry in entries]),
        capacity=ints(np.array(rows, dtype=np.int64).reshape(len(rows), len(quantities.resources))),
    )


def fleet_document(fleet: Fleet, resources: Sequence[Resource]) -> list[dict[str, Any]]:
    """The entries that `fleet_of` reads back as the same fleet, in base units."""
    names = [resource.name for resource in resources]
    return [
        {"kind": kind, "machines": int(machines), "capacity": dict(zip(names, capacity.tolist(), strict=True))}
        for kind, machines, capacity in zip(fleet.kind, fleet.machines, fleet.capacity, strict=True)
    ]


def _kind_faults(kinds: Sequence[str]) -> Iterator[Fault]:
    for kind, count in Counter(kinds).items():
        if count > 1:
            value, expected = f"{count} times", "each kind once"
            problem = "the name occurs more than once"
            yield Fault(code="E1201", kind="machine kind", name=kind, problem=problem, value=value, expected=expected)


def _empty(kind: str) -> Fault:
    problem, expected = "has no capacity of any resource", "more than 0 of one at least"
    return Fault(code="E1115", kind="machine kind", name=kind, problem=problem, expected=expected)
