"""Documents of timed requests: what `schedule` reads, in columns, because there may be a million."""

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import compress
from typing import Any, cast

import numpy as np

from bayplan.errors import Fault, InputError
from bayplan.formats.document.location import Path
from bayplan.formats.document.partial_document import PartialDocument, item, without_faults
from bayplan.formats.document.quantities import Quantities, resources_document
from bayplan.formats.document.schemas import all_plain, schema
from bayplan.formats.document.shape import misshapen
from bayplan.formats.document.text import write_text_atomically
from bayplan.formats.requests.fleet import fleet_document, fleet_of
from bayplan.model import BoolArray, Fleet, FloatArray, TimedRequests, floats, ints
from bayplan.model.quantities import LARGEST

EXACT = 2**53  # times and values stay within what floats count exactly


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UpToHorizon:
    """What is left of requests, and what became of the others in words."""

    kept: BoolArray  # (request,) does it start before the horizon?
    end: FloatArray  # (request,) all known, and none after the horizon if there is one
    notes: tuple[str, ...]


def up_to_horizon(start: FloatArray, end: FloatArray, horizon: float | None) -> UpToHorizon:
    """Requests up to `horizon`; an end of NaN is not known. None: the latest time that is known, for those alone."""
    open_end = np.isnan(end)
    if horizon is None and not open_end.any():
        return UpToHorizon(kept=np.ones(len(start), dtype=np.bool_), end=end, notes=())
    last = float(np.fmax.reduce(np.concatenate([start, end]), initial=-np.inf)) if horizon is None else horizon
    late = (start >= last) & (open_end if horizon is None else True)
    cut = ~late & ~open_end & (end > last)
    counts = [
        (int((open_end & ~late).sum()), f"not ended: taken to run until the horizon, {last:g}"),
        (int(cut.sum()), f"an end after the horizon, {last:g}: cut off there"),
        (int(late.sum()), f"a start at or after the horizon, {last:g}: left out"),
    ]
    notes = tuple(f"{'1 request has' if count == 1 else f'{count:,} requests have'} {words}" for count, words in counts if count)
    return UpToHorizon(kept=~late, end=floats(np.where(open_end | cut, last, end)), notes=notes)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RequestsFile:
    """What a file of requests says."""

    requests: TimedRequests
    fleet: Fleet | None = None  # None: it does not say how many machines there are
    notes: tuple[str, ...] = ()  # what was made of it, in words


def read_requests(document: object, source: str) -> TimedRequests:
    """The timed requests of a document; InputError with all that is wrong."""
    return read_requests_file(document, source).requests


def read_requests_file(document: object, source: str, horizon: float | None = None) -> RequestsFile:
    """The timed requests and the fleet of a document; InputError with all that is wrong.

    `horizon`: ends that are later or not known become this time, requests that start then or later are left out.
    """
    faults, part = _well_shaped(document)
    if part is None or part.lacks("amounts"):  # no amount means anything then
        raise InputError(source, faults)
    columns, count = part.document["requests"], len(part.document["requests"]["start"])
    names = tuple(columns.get("name") or (f"r{part.original(('requests', 'start', i))[2]}" for i in range(count)))
    wrong = _wrong_lengths(cast(dict[str, Any], document)["requests"])
    faults += [*wrong.values(), *double_requests(names)]
    start, end = (floats(np.array(columns[key], dtype=np.float64)) for key in ("start", "end"))  # None is NaN
    if not wrong.keys() & {"name", "end"}:
        faults += time_faults(names, start, end)
    quantities = Quantities.of(part)
    demand = {name: column for name, column in columns["demand"].items() if f"demand {name}" not in wrong}
    amounts = quantities.table(demand, count, "requests"), quantities.row(part.document["capacity"], "capacity")
    fleet = fleet_of(part.document["fleet"], quantities) if "fleet" in part.document else None
    faults += quantities.faults
    if faults:
        raise InputError(source, faults)
    within = up_to_horizon(start, end, horizon)
    requests = TimedRequests(
        name=kept(names, within.kept),
        resources=quantities.resources,
        capacity=amounts[1],
        start=floats(start[within.kept]),
        end=floats(within.end[within.kept]),
        demand=ints(amounts[0][within.kept]),
        value=floats((floats(columns["value"]) if "value" in columns else np.ones(count))[within.kept]),
        priority=kept(tuple(map(str, columns.get("priority", ()))), within.kept),
    )
    return RequestsFile(requests=requests, fleet=fleet, notes=within.notes)


def kept(column: tuple[str, ...], keep: BoolArray) -> tuple[str, ...]:
    """The entries that stay; of an empty column none."""
    return column if keep.all() else tuple(compress(column, keep.tolist()))


def _well_shaped(document: object) -> tuple[list[Fault], PartialDocument | None]:
    """The faults of shape, and the rest of the document: a request with a fault in one column is left out of all."""
    places = misshapen(_without_long_columns(document), schema("requests"))
    paths = [path for path, _ in places]
    rows = {path[-1] for path in paths if path[:1] == ("requests",) and isinstance(path[-1], int)}
    if rows:
        paths += [(*column, i) for column, _ in _columns(cast(dict[str, Any], document)["requests"]) for i in rows]
    return [fault for _, fault in places], without_faults(document, schema("requests"), paths, _cut)


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


def write_requests(path: str | os.PathLike[str], requests: TimedRequests, fleet: Fleet | None = None) -> None:
    """Write a file that `read_requests_file` reads back as the same values."""
    write_text_atomically(path, requests_text(requests, fleet))


def requests_text(requests: TimedRequests, fleet: Fleet | None = None) -> str:
    """The document as JSON, amounts in base units, one line per column."""
    names = [resource.name for resource in requests.resources]
    columns: dict[str, Any] = {
        "name": list(requests.name),
        "start": _short(requests.start),
        "end": _short(requests.end),
        "demand": {name: requests.demand[:, r].tolist() for r, name in enumerate(names)},
        "value": _short(requests.value),
        **({"priority": list(requests.priority)} if requests.priority else {}),
    }
    head = {
        "bayplan": 1,
        "kind": "requests",
        "amounts": "base-units",
        "resources": resources_document(requests.resources),
        "capacity": dict(zip(names, requests.capacity.tolist(), strict=True)),
        **({} if fleet is None else {"fleet": fleet_document(fleet, requests.resources)}),
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


def time_faults(names: tuple[str, ...], start: FloatArray, end: FloatArray) -> list[Fault]:
    """A fault for each end that is known and not after its start."""
    return [end_fault(names[i], start[i], end[i]) for i in np.flatnonzero(~(start < end) & ~np.isnan(end))]


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
    if key in ("name", "priority"):
        return (kinds <= {str} and all_plain(column)) or (key == "priority" and kinds == {int} and _near(column, LARGEST))
    numbers = {int, float, type(None)} if key == "end" else {int, float}
    if key not in ("start", "end", "value", "demand") or not column or not kinds <= numbers:
        return False
    return _near(column, LARGEST if key == "demand" else EXACT) and (key in ("start", "end") or min(column) >= 0)


def _near(column: list[Any], most: int) -> bool:
    """Are all numbers within `most` of zero? None is."""
    try:
        number = np.array(column, dtype=np.float64)
    except OverflowError:  # a whole number beyond 1e308
        return False
    unknown = np.isnan(number)
    return bool((unknown | (np.abs(number) <= most)).all()) and int(unknown.sum()) == column.count(None)
