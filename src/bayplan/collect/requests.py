"""Files of timed requests: what `schedule` reads, in columns, because there may be a million."""

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, cast

import numpy as np

from bayplan.collect.document.naming import all_plain
from bayplan.collect.document.quantities import Quantities, resources_document
from bayplan.collect.document.salvage import Salvage, item, salvaged
from bayplan.collect.document.schemas import schema
from bayplan.collect.document.shape import misshapen
from bayplan.collect.document.subject import Path
from bayplan.collect.document.text import write_text_atomically
from bayplan.errors import Fault, InputError
from bayplan.model import FloatArray, TimedRequests, floats
from bayplan.model.units import LARGEST

EXACT = 2**53  # times and values stay within what floats count exactly


def read_requests(document: object, source: str) -> TimedRequests:
    """The timed requests of a document; InputError with all that is wrong."""
    faults, part = _well_shaped(document)
    if part is None or part.lacks("amounts"):  # no amount means anything then
        raise InputError(source, faults)
    columns, count = part.document["requests"], len(part.document["requests"]["start"])
    names = tuple(columns.get("name") or (f"r{part.original(('requests', 'start', i))[2]}" for i in range(count)))
    wrong = _wrong_lengths(cast(dict[str, Any], document)["requests"])
    faults += [*wrong.values(), *double_requests(names)]
    if not wrong.keys() & {"name", "end"}:
        faults += _time_faults(names, floats(columns["start"]), floats(columns["end"]))
    quantities = Quantities.of(part)
    demand = {name: column for name, column in columns["demand"].items() if f"demand {name}" not in wrong}
    amounts = quantities.table(demand, count, "requests"), quantities.row(part.document["capacity"], "capacity")
    faults += quantities.faults
    if faults:
        raise InputError(source, faults)
    return TimedRequests(
        name=names,
        resources=quantities.resources,
        capacity=amounts[1],
        start=floats(columns["start"]),
        end=floats(columns["end"]),
        demand=amounts[0],
        value=floats(columns.get("value") or np.ones(count)),
    )


def _well_shaped(document: object) -> tuple[list[Fault], Salvage | None]:
    """The faults of shape, and the rest of the document: a request with a fault in one column is left out of all."""
    places = misshapen(_without_long_columns(document), schema("requests"))
    paths = [path for path, _ in places]
    rows = {path[-1] for path in paths if path[:1] == ("requests",) and isinstance(path[-1], int)}
    if rows:
        paths += [(*column, i) for column, _ in _columns(cast(dict[str, Any], document)["requests"]) for i in rows]
    return [fault for _, fault in places], salvaged(document, schema("requests"), paths, _cut)


def _cut(path: Path) -> Path:
    """An entry of a column, a whole column, or what stands under another key."""
    return path if path[:1] == ("requests",) else item(path)


def _columns(requests: Mapping[str, Any]) -> Iterator[tuple[Path, list[Any]]]:
    """The place of each column, and the column."""
    demand = requests.get("demand")
    for key, column in requests.items():
        if isinstance(column, list):
            yield ("requests", key), column
    for key, column in demand.items() if isinstance(demand, dict) else ():
        if isinstance(column, list):
            yield ("requests", "demand", key), column


def write_requests(path: str | os.PathLike[str], requests: TimedRequests) -> None:
    """Write a file that `read_requests` reads back as the same value."""
    write_text_atomically(path, requests_text(requests))


def requests_text(requests: TimedRequests) -> str:
    """The document as JSON, amounts in base units, one line per column."""
    names = [resource.name for resource in requests.resources]
    columns: dict[str, Any] = {
        "name": list(requests.name),
        "start": _short(requests.start),
        "end": _short(requests.end),
        "demand": {name: requests.demand[:, r].tolist() for r, name in enumerate(names)},
        "value": _short(requests.value),
    }
    head = {
        "bayplan": 1,
        "kind": "requests",
        "amounts": "base-units",
        "resources": resources_document(requests.resources),
        "capacity": dict(zip(names, requests.capacity.tolist(), strict=True)),
    }
    lines = ",\n  ".join(f"{json.dumps(key)}: {json.dumps(column, separators=(',', ':'))}" for key, column in columns.items())
    return json.dumps(head, indent=1)[:-2] + ',\n "requests": {\n  ' + lines + "\n }\n}\n"


def double_requests(names: tuple[str, ...]) -> Iterator[Fault]:
    """A fault for each request name that comes more than once."""
    if len(set(names)) == len(names):
        return
    for name, count in Counter(names).items():
        if count > 1:
            problem, expected = "the name occurs more than once", "each name once"
            yield Fault(code="E1503", kind="request", name=name, problem=problem, value=f"{count} times", expected=expected)


def end_fault(name: str, start: float, end: float) -> Fault:
    """The fault of an empty interval."""
    problem, value = "ends before or when it starts", f"start {start:g}, end {end:g}"
    return Fault(code="E1501", kind="request", name=name, problem=problem, value=value, expected="an end after the start")


def _short(column: FloatArray) -> list[Any]:
    """Numbers without '.0': a third of the size for whole seconds."""
    whole = bool((np.rint(column) == column).all() and (np.abs(column) < EXACT).all())
    return cast(list[Any], (column.astype(np.int64) if whole else column).tolist())


def _wrong_lengths(requests: Mapping[str, Any]) -> dict[str, Fault]:
    """A fault for each column that is not as long as `start`."""
    count, problem = len(requests["start"]), "the column has another length than start"
    lengths = {" ".join(map(str, path[1:])): len(column) for path, column in _columns(requests)}
    return {
        key: Fault(code="E1502", kind="column", name=key, problem=problem, value=str(length), expected=f"{count} entries")
        for key, length in lengths.items()
        if length != count
    }


def _time_faults(names: tuple[str, ...], start: FloatArray, end: FloatArray) -> list[Fault]:
    return [end_fault(names[i], start[i], end[i]) for i in np.flatnonzero(~(start < end))]


def _without_long_columns(document: object) -> object:
    """The document without its flawless columns: walking through a million numbers one by one takes seconds."""
    if not isinstance(document, dict) or not isinstance(document.get("requests"), dict):
        return document
    columns = document["requests"]
    quick = {key: [] if _flawless(column, key) else column for key, column in columns.items()}
    if isinstance(columns.get("demand"), dict):
        quick["demand"] = {key: [] if _flawless(column, "demand") else column for key, column in columns["demand"].items()}
    return {**document, "requests": quick}


def _flawless(column: object, key: str) -> bool:
    """A list of names, or of finite numbers that are not negative where they may not be."""
    if not isinstance(column, list):
        return False
    kinds = set(map(type, column))
    if key == "name":
        return kinds <= {str} and all_plain(column)
    if not kinds <= {int, float} or not column or key not in ("start", "end", "value", "demand"):
        return False
    try:
        number = np.array(column, dtype=np.float64)
    except OverflowError:  # a whole number beyond 1e308
        return False
    within = (np.abs(number) <= LARGEST if key == "demand" else np.abs(number) <= EXACT).all()  # False for NaN
    return bool(within and (key in ("start", "end") or (number >= 0).all()))
