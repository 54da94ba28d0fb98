"""Tables of timed requests, one line each, as other programs export them:

    name,start,end,value,priority,cpu,memory
    nightly,0,4,1,batch,2,4Gi
    web,3,,2,prod,500m,512Mi

`start` and `end` are needed; an empty end is not known: it still runs. Each column of another name is a resource. A machine
has 1 of each unless the caller says otherwise, so shares of a machine ([Cradle]) can be written as they are.
Quick for a million lines.
"""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from bayplan.errors import Fault, InputError, did_you_mean
from bayplan.formats.document.location import shown
from bayplan.formats.document.schemas import all_plain
from bayplan.formats.requests.document import EXACT, RequestsFile, double_requests, kept, time_faults, up_to_horizon
from bayplan.model import FloatArray, IntArray, Resource, TimedRequests, floats, ints
from bayplan.model.quantities import LARGEST, parse_quantity, quantity_hint

NEEDED, OTHERS = ("start", "end"), ("name", "value", "priority")
OF_CLUSTERS = "member"  # a column that tables of cluster requests have
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
NOT_FINITE = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)
FEWEST_DIGITS, MOST_DIGITS = 3, 9  # after the decimal point of an amount
SUM = 2.0**62  # amounts of all lines together stay below, if that needs no fewer digits than are written


def is_requests_table(text: str) -> bool:
    """Is the first line the header of such a table?"""
    cells = {cell.strip().strip('"') for cell in text.lstrip().partition("\n")[0].split(",")}
    return cells >= set(NEEDED) and OF_CLUSTERS not in cells


def read_requests_table(text: str, source: str, horizon: float | None = None) -> RequestsFile:
    """The requests of a table; InputError with all that is wrong. `horizon` as in `read_requests_file`."""
    table = _split(text, source)
    start, end = table.times("start"), table.times("end", unknown=True)
    value = table.times("value", least=0.0) if "value" in table.columns else np.ones(len(start))
    resources, demand = table.amounts()
    names = table.names("name") or tuple(f"r{i}" for i in range(len(start)))
    priority = table.names("priority")
    faults = [*table.faults, *double_requests(names), *time_faults(names, start, end)]
    if faults:
        raise InputError(source, faults)
    within = up_to_horizon(start, end, horizon)
    requests = TimedRequests(
        name=kept(names, within.kept),
        resources=resources,
        capacity=ints([resource.scale for resource in resources]),
        start=floats(start[within.kept]),
        end=floats(within.end[within.kept]),
        demand=ints(demand[within.kept]),
        value=floats(value[within.kept]),
        priority=kept(priority, within.kept),
    )
    words = ", ".join(resource.name for resource in resources)
    note = f"a machine has 1 of each resource of the table ({words}), unless --capacity or --fleet says otherwise"
    return RequestsFile(requests=requests, notes=(note, *table.notes, *within.notes))


@dataclass(slots=True)
class _Table:
    """The cells of a table by column, and what is wrong with them."""

    columns: dict[str, tuple[str, ...]]
    line: Sequence[int]  # (row,) where it stands
    faults: list[Fault] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def names(self, key: str) -> tuple[str, ...]:
        """The words of a column; nothing if there is no such column."""
        cells = self.columns.get(key, ())
        if not all_plain(list(cells)):
            for i, cell in enumerate(cells):
                if not cell:
                    self.fault("E1111", i, key, "is empty", cell, "a word")
                elif not all_plain([cell]):
                    self.fault("E1205", i, key, "has a control character", cell, "letters, digits and signs only")
        return cells

    def times(self, key: str, *, least: float = -EXACT, unknown: bool = False) -> FloatArray:
        """(row,) numbers; NaN where nothing stands and nothing may."""
        cells = self.columns[key]
        quick = _quick(cells, unknown=unknown)
        if quick is not None and ((quick >= least) & (quick <= EXACT) | (np.isnan(quick) & unknown)).all():
            return quick
        return floats([self.number(i, key, cell, least, unknown=unknown) for i, cell in enumerate(cells)])

    def number(self, i: int, key: str, cell: str, least: float, *, unknown: bool) -> float:
        """One number; a fault and 0 or NaN if it is none."""
        if not cell and unknown:
            return np.nan
        if not NUMBER.fullmatch(cell):
            code = "E1103" if NOT_FINITE.fullmatch(cell) else "E1101"
            self.fault(code, i, key, "is not finite" if code == "E1103" else "must be a number", cell, "a finite number")
        elif float(cell) < 0 <= least:
            self.fault("E1102", i, key, "is negative", cell, "zero or more")
        elif abs(float(cell)) > EXACT:
            self.fault("E1110", i, key, "is out of range", cell, f"at most {EXACT}")
        else:
            return float(cell)
        return {"start": -float(EXACT), "end": np.nan}.get(key, 0.0)  # so that no second fault is found

    def amounts(self) -> tuple[tuple[Resource, ...], IntArray]:
        """The resources, and (row, resource) base units."""
        names = [name for name in self.columns if name not in (*NEEDED, *OTHERS)]
        parts = [self.amount(name) for name in names]
        demand = np.stack([part[1] for part in parts], axis=1) if parts else np.zeros((len(self.line), 0))
        return tuple(Resource(name=name, scale=part[0]) for name, part in zip(names, parts, strict=True)), ints(demand)

    def amount(self, name: str) -> tuple[int, FloatArray]:
        """How many base units are one unit, and (row,) base units."""
        cells = self.columns[name]
        quick = _quick(cells, unknown=False)
        if quick is None or not ((quick >= 0) & (quick <= LARGEST)).all():
            quick = floats([self.quantity(i, name, cell) for i, cell in enumerate(cells)])
        total = float(quick.sum())
        for digits in range(FEWEST_DIGITS if total * 10**FEWEST_DIGITS < SUM else 0, MOST_DIGITS + 1):
            scaled = quick * 10**digits
            whole = np.rint(scaled)
            if (np.abs(scaled - whole) <= 1e-6).all():
                return 10**digits, whole
            if total * 10 ** (digits + 1) >= SUM:
                break
        self.notes.append(f"{name} is rounded to {digits} digits after the decimal point")
        return 10**digits, whole

    def quantity(self, i: int, name: str, cell: str) -> float:
        """One amount; a fault and 0 if it is none."""
        try:
            number = float(parse_quantity(cell))
        except (ValueError, OverflowError):
            finite = not NOT_FINITE.fullmatch(cell)
            words = ("E1104", "is not a quantity") if finite else ("E1103", "is not finite")
            self.fault(words[0], i, name, words[1], cell, "a number such as 2, 500m, 1.5Gi, 1e3" + quantity_hint(cell))
            return 0.0
        if number < 0:
            self.fault("E1102", i, name, "is negative", cell, "zero or more")
        elif number > LARGEST:
            self.fault("E1106", i, name, "is beyond 2^63 - 1", cell, "less")
        else:
            return number
        return 0.0

    def fault(self, code: str, i: int, key: str, problem: str, cell: str, expected: str) -> None:
        """One thing that is wrong with one cell."""
        where = f"{key} {problem}"
        self.faults.append(
            Fault(code=code, kind="line", name=str(self.line[i]), problem=where, value=shown(cell), expected=expected)
        )


def _quick(cells: Sequence[str], *, unknown: bool) -> FloatArray | None:
    """The numbers that all cells are; None if one is something else."""
    if set("".join(cells)) - set("0123456789+-.eE"):
        return None
    try:
        return np.array([float(cell or "nan") for cell in cells] if unknown else list(map(float, cells)))
    except ValueError:
        return None


def _split(text: str, source: str) -> _Table:
    """Columns of cells; InputError if the header is not what it should be, or lines are too short or too long."""
    number, width, cells = _quoted(text, source) if '"' in text else _plain(text)
    header = [cell.strip() for cell in cells[: width[0]]]
    faults = _header_faults(header) or _width_faults(number, width)
    if faults:
        raise InputError(source, faults)
    wide = len(header)
    columns = {name: tuple(map(str.strip, cells[wide + c :: wide])) for c, name in enumerate(header)}
    return _Table(columns, number[1:])


def _plain(text: str) -> tuple[list[int], list[int], list[str]]:
    """Number and width of every line that is not empty, and all cells, if none is quoted: much faster than `csv`."""
    lines = text.replace("\r\n", "\n").split("\n")
    number = [i for i, line in enumerate(lines, start=1) if line and not line.isspace()]
    filled = [lines[i - 1] for i in number]
    return number, [line.count(",") + 1 for line in filled], ",".join(filled).split(",")


def _quoted(text: str, source: str) -> tuple[list[int], list[int], list[str]]:
    """The same of any table."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    number, width, every = [], [], []
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                number.append(reader.line_num)
                width.append(len(cells))
                every.extend(cells)
    except csv.Error as error:
        problem = f"line {reader.line_num} cannot be split into cells"
        raise InputError(source, [Fault(code="E1902", kind="file", name=source, problem=problem, value=str(error))]) from None
    return number, width, every


def _header_faults(header: Sequence[str]) -> list[Fault]:
    known, expected = (*NEEDED, *OTHERS), "name, start, end, value, priority, and a column for each resource"
    problems = [("E1107", name, "is missing", expected) for name in NEEDED if name not in header]
    problems += [
        ("E1203", name, "occurs twice in the header", "each column once") for name in set(header) if header.count(name) > 1
    ]
    problems += [("E1111", str(i + 1), "has no name", expected) for i, name in enumerate(header) if not name]
    problems += [("E1205", name, "has a control character", expected) for name in header if name and not all_plain([name])]
    problems += [
        ("E1108", name, "is not known", expected + meant)
        for name in header
        if name not in known and (meant := did_you_mean(name, known))
    ]
    if not problems and not set(header) - set(known):
        problems.append(("E1107", "of a resource", "is missing", expected))
    return [
        Fault(code=code, kind="column", name=name, problem=problem, expected=wanted) for code, name, problem, wanted in problems
    ]


def _width_faults(number: Sequence[int], width: Sequence[int]) -> list[Fault]:
    problem, expected = "has another number of cells than the header", str(width[0])
    return [
        Fault(code="E1901", kind="line", name=str(line), problem=problem, value=str(cells), expected=expected)
        for line, cells in zip(number, width, strict=True)
        if cells != width[0]
    ]
