"""Tables of cluster requests: one row per member, the rows of a request one after the other.

    request,arrival,start,end,value,member,cpu,memory,traffic
    shop,1,1,5,12.5,front,2,1Gi,db=3
    shop,,,,,db,500m,4Gi,front=7.5

Times and value stand in the first row of a request; in the others they are empty or the same. There is a column for each
resource; one that is left out is 0. `traffic` is what the member sends: other=amount, several separated by ';'.
"""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bayplan.errors import Fault, InputError, did_you_mean
from bayplan.formats.document.location import NotFinite, shown
from bayplan.formats.document.schemas import one_of_known
from bayplan.formats.streams.entry import Line
from bayplan.model import Zones

HEADER = ("request", "start", "end", "member")  # the columns that are needed
ONCE = ("arrival", "start", "end", "value")  # said once for all members
OTHERS = ("arrival", "value", "traffic")
NOT_FINITE = ("nan", "inf", "infinity")


def table_lines(text: str, source: str, zones: Zones) -> Iterator[Line]:
    """An entry for each request, with the line where it begins; InputError if the table or its header is broken."""
    rows = _rows(text, source)
    header = [cell.strip() for cell in next(rows)[1]]
    resources = [resource.name for resource in zones.resources]
    if faults := list(_header_faults(header, resources)):
        raise InputError(source, faults)
    group: list[tuple[int, dict[str, str]]] = []
    for number, cells in rows:
        if len(cells) != len(header):
            problem, value = "has another number of cells than the header", str(len(cells))
            wrong = Fault(code="E1901", kind="line", name=str(number), problem=problem, value=value, expected=str(len(header)))
            yield Line(str(number), None, [wrong])
            continue
        row = dict(zip(header, (cell.strip() for cell in cells), strict=True))
        if group and row["request"] != group[0][1]["request"]:
            yield _line(group, resources)
            group = []
        group.append((number, row))
    if group:
        yield _line(group, resources)


def _rows(text: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """Number and cells of every line that is not empty; the first is the header."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield reader.line_num, cells
    except csv.Error as error:
        problem = f"line {reader.line_num} cannot be split into cells"
        raise InputError(source, [Fault(code="E1902", kind="file", name=source, problem=problem, value=str(error))]) from None


def _header_faults(header: Sequence[str], resources: Sequence[str]) -> Iterator[Fault]:
    known = [*HEADER, *OTHERS, *resources]
    for name in dict.fromkeys(header):
        if name not in known:
            expected = f"one of {', '.join(known)}{did_you_mean(name, known)}"
            yield Fault(code="E1108", kind="column", name=name, problem="is not known", expected=expected)
        if header.count(name) > 1:
            yield Fault(code="E1203", kind="column", name=name, problem="occurs twice in the header", expected="each column once")
    for name in HEADER:
        if name not in header:
            yield Fault(code="E1107", kind="column", name=name, problem="is missing", expected=f"columns {', '.join(known)}")


def _line(group: Sequence[tuple[int, dict[str, str]]], resources: Sequence[str]) -> Line:
    """One request from its rows."""
    (number, first), rows = group[0], [row for _, row in group]
    faults = list(_contradictions(group))
    members = [row["member"] for row in rows]
    if "" in members:
        lines = [str(line) for line, row in group if not row["member"]]
        faults.append(_wrong("E1111", lines[0], first["request"], "names no member", '""', "a name"))
    entry: dict[str, Any] = {"name": first["request"], "members": members}
    entry |= {key: _number(first[key]) for key in ONCE if first.get(key)}
    entry["demand"] = {name: [row[name] or 0 for row in rows] for name in resources if name in first}
    if any(row.get("traffic") for row in rows):
        entry["traffic"] = _matrix(group, members, faults)
    return Line(str(number), entry, faults)


def _contradictions(group: Sequence[tuple[int, dict[str, str]]]) -> Iterator[Fault]:
    first = group[0][1]
    for number, row in group[1:]:
        for key in ONCE:
            if row.get(key) and _number(row[key]) != _number(first[key]):
                value = f"{key} {row[key]}, before {first[key] or 'nothing'}"
                expected = "what the first line of the request says, or nothing"
                yield _wrong("E1519", str(number), first["request"], "contradicts the request's first line", value, expected)


def _matrix(group: Sequence[tuple[int, Mapping[str, str]]], members: Sequence[str], faults: list[Fault]) -> list[list[float]]:
    """(member, member) traffic, from, to."""
    place = {member: v for v, member in enumerate(members)}
    matrix = [[0.0] * len(members) for _ in members]
    for v, (number, row) in enumerate(group):
        seen = set()
        for part in filter(None, (part.strip() for part in row.get("traffic", "").split(";"))):
            other, _, amount = (word.strip() for word in part.rpartition("="))
            value = _number(amount)
            if other not in place:
                expected = f"{one_of_known('member', members)}, as in other=amount"
                faults.append(_wrong("E1202", str(number), row["request"], "sends traffic to no member", shown(part), expected))
            elif other in seen:
                faults.append(_wrong("E1203", str(number), row["request"], "names a member twice", shown(part), "each once"))
            elif isinstance(value, str):
                expected = "a number, as in other=2.5"
                faults.append(_wrong("E1101", str(number), row["request"], "traffic must be a number", shown(part), expected))
            else:
                matrix[v][place[other]] = value
            seen.add(other)
    return matrix


def _number(cell: str) -> float | str:
    """The number; what is none stays a text, for the walk through the schema to report."""
    if cell.lower().lstrip("+-.") in NOT_FINITE:
        return NotFinite(cell)
    try:
        return float(cell) if cell.isascii() and "_" not in cell else cell
    except ValueError:
        return cell


def _wrong(code: str, line: str, request: str, problem: str, value: str, expected: str) -> Fault:
    return Fault(code=code, kind="line", name=f"{line}, request {request}", problem=problem, value=value, expected=expected)
