"""A stream of cluster requests from a file, whatever its form."""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from bayplan.errors import Fault, InputError, UsageError
from bayplan.formats.document.lines import faults_with_lines, located
from bayplan.formats.document.parse import parse_json
from bayplan.formats.document.text import parse_document, read_document, read_text
from bayplan.formats.files import ADMISSION, unknown_kind
from bayplan.formats.streams.document import read_admission, read_zones
from bayplan.formats.streams.entry import Gathering, Line, fits_nowhere
from bayplan.formats.streams.table import HEADER, table_lines
from bayplan.model import ClusterRequests, Zones

LINES, TABLES, DOCUMENTS = (".jsonl", ".ndjson"), (".csv",), (".json", ".yaml", ".yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """The requests of a file, in order of arrival."""

    admission: ClusterRequests
    skipped: int = 0  # requests that were left out because of their faults
    faults: tuple[Fault, ...] = ()  # of those


def read_stream(path: str | os.PathLike[str], *, zones: str | os.PathLike[str] | None = None, keep_going: bool = False) -> Stream:
    """The requests of a native document, of JSON lines or of a table; InputError with all that is wrong.

    `zones` is a file with the zones of a stream that has none of its own. With `keep_going`, requests with faults are left out
    and counted; a fault of the zones is raised all the same.
    """
    return stream_in(read_text(path), os.fspath(path), zones=zones, keep_going=keep_going)


def stream_in(text: str, source: str, *, zones: str | os.PathLike[str] | None = None, keep_going: bool = False) -> Stream:
    """As `read_stream`, for a text that has been read."""
    form = _form(text, source)
    if form == "document":
        if zones is not None:
            raise UsageError(f"'{source}' has zones of its own; expected no --zones")
        with faults_with_lines(text, source):
            gathering = _of_document(parse_document(text, source), source, keep_going=keep_going)
    elif form == "table":
        gathering = Gathering(zones=_zones_of(zones, source), base_units=False)
        gathering.take(table_lines(text, source, gathering.zones))
    else:
        gathering = _of_lines(text, source, zones)
    if gathering.faults and not keep_going:
        faults = located(gathering.faults, text, source) if form == "document" else gathering.faults
        raise InputError(source, faults)
    requests = sorted(gathering.requests, key=lambda request: request.arrival)
    admission = ClusterRequests(zones=gathering.zones, requests=tuple(requests))
    return Stream(admission=admission, skipped=gathering.skipped, faults=tuple(gathering.faults))


def is_stream(text: str, source: str) -> bool:
    """Is this a text of JSON lines, or a table of requests, and not a document?"""
    return _form(text, source) != "document"


def has_lines(path: str | os.PathLike[str]) -> bool:
    """Does the suffix say that the file has one document per line?"""
    return Path(os.fspath(path).removesuffix(".gz")).suffix.lower() in LINES


def _form(text: str, source: str) -> str:
    """ "lines", "table" or "document": by the suffix; without one that says so, by the first line."""
    suffix = Path(source.removesuffix(".gz")).suffix.lower()
    if suffix in (*LINES, *TABLES, *DOCUMENTS):
        return "lines" if suffix in LINES else "table" if suffix in TABLES else "document"
    first, _, others = text.lstrip().partition("\n")
    if first.startswith("{"):
        alone = not others.strip()
        return "lines" if (not alone or '"members"' in first) and _is_entry(first, alone=alone) else "document"
    return "table" if set(HEADER) <= {cell.strip() for cell in first.split(",")} else "document"


def _is_entry(line: str, *, alone: bool) -> bool:
    """Is the line an object, and if it is the only one, a request?"""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and not (alone and "bayplan" in value)


def _of_document(document: object, source: str, *, keep_going: bool) -> Gathering:
    """The requests of a native document: sorted by arrival, so they may stand in any order."""
    if not isinstance(document, Mapping) or document.get("kind") != "admission":
        raise InputError(source, [unknown_kind(document, f"{ADMISSION}, JSON lines or a table of requests")])
    if not keep_going or not isinstance(document.get("requests"), list):
        admission = read_admission(document, source)
        faults = [fault for request in admission.requests for fault in fits_nowhere(request, admission.zones)]
        return Gathering(zones=admission.zones, base_units=True, requests=list(admission.requests), faults=faults)
    zones, base_units = read_zones(document, source)
    gathering = Gathering(zones=zones, base_units=base_units, unit="request", in_order=False)
    gathering.take(Line(str(number), entry) for number, entry in enumerate(document["requests"], start=1))
    return gathering


def _of_lines(text: str, source: str, zones: str | os.PathLike[str] | None) -> Gathering:
    """A header with the zones and one request per line, or requests alone."""
    lines = _parsed(text, source)
    first = next(lines, Line("1", None))
    header = first.entry if isinstance(first.entry, dict) and first.entry.keys() & {"bayplan", "kind", "zones"} else None
    if header is None:
        if zones is None and first.faults:
            expected = "a document on one line: a header with the zones, or a request"
            raise InputError(source, [replace(fault, expected=expected) for fault in first.faults])
        gathering = Gathering(zones=_zones_of(zones, source), base_units=False)
        gathering.take([first])
    elif zones is not None:
        raise UsageError(f"'{source}' has zones of its own, in its first line; expected no --zones")
    else:
        if "requests" in header:
            raise InputError(source, [_fault("E1108", "header", "unknown key 'requests'", "one request per line below it")])
        own, base_units = read_zones(header, source)
        gathering = Gathering(zones=own, base_units=base_units)
    gathering.take(lines)
    return gathering


def _parsed(text: str, source: str) -> Iterator[Line]:
    """Every line that is not empty, parsed, or with its faults."""
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            yield Line(str(number), parse_json(line, source))
        except InputError as error:
            yield Line(str(number), None, error.faults)


def _zones_of(path: str | os.PathLike[str] | None, source: str) -> Zones:
    if path is None:
        raise InputError(source, [_fault("E1520", "stream", "has no zones", "a header as its first line, or --zones FILE")])
    return read_zones(_head_in(path), os.fspath(path))[0]


def _head_in(path: str | os.PathLike[str]) -> object:
    """The document in a file, or the first line of a stream."""
    if has_lines(path):
        return parse_json(read_text(path).lstrip().partition("\n")[0], os.fspath(path))
    return read_document(path)


def _fault(code: str, kind: str, problem: str, expected: str) -> Fault:
    return Fault(code=code, kind=kind, name="", problem=problem, expected=expected)
