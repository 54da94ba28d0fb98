"""Measured usage: samples per workload, from a table (CSV) or a document (JSON, YAML), in units as people write them."""

import csv
import io
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from bayplan.errors import Fault, InputError, did_you_mean
from bayplan.formats.document.lines import located
from bayplan.formats.document.location import Path as Place
from bayplan.formats.document.location import fault_at, shown
from bayplan.formats.document.partial_document import PartialDocument, well_shaped
from bayplan.formats.document.schemas import one_of_known, schema
from bayplan.formats.document.shape import OCTAL
from bayplan.formats.document.text import parse_document, read_text
from bayplan.model import Cluster, FloatArray, floats
from bayplan.model.quantities import LARGEST, parse_quantity, quantity_hint
from bayplan.score.peak import UsageSeries

LONG = {"workload", "value"}  # the columns of a table with one sample per line; `time` may be among them, too
TIME = "time"
WHEN = "seconds such as 3600, or a date such as 2024-05-01T10:00:00Z"
PLAIN = re.compile(r"\d+(\.\d*)?([eE][+-]?\d{1,3})?", re.ASCII)  # what float() reads as people mean it
NOT_FINITE = re.compile(r"[+-]?\.?(nan|inf|infinity)", re.IGNORECASE)
QUANTITY = "a number such as 2, 500m, 1.5Gi, 1e3"
DOCUMENTS = (".json", ".yaml", ".yml")


def read_samples(path: str | os.PathLike[str], cluster: Cluster, resource: int) -> Mapping[int, FloatArray]:
    """Samples of one resource in base units, by workload; InputError with every fault of the file.

    JSON or YAML by its suffix or by a first '{'; else a table with commas.
    """
    source, text = os.fspath(path), read_text(path)
    suffix = Path(source.removesuffix(".gz")).suffix.lower()
    samples = _Samples({name: w for w, name in enumerate(cluster.workloads.name)}, cluster.resources[resource].scale)
    if suffix in DOCUMENTS or (suffix != ".csv" and text.lstrip()[:1] == "{"):
        _document(parse_document(text, source), samples)
        samples.faults = [*located(samples.faults, text, source)] if samples.faults else []
    else:
        _table(text, source, samples)
    if samples.faults:
        raise InputError(source, samples.faults)
    return MappingProxyType({samples.workload[name]: floats(values) for name, values in samples.values.items()})


def read_usage_series(path: str | os.PathLike[str], cluster: Cluster, resource: int) -> Mapping[int, UsageSeries]:
    """Samples of one resource in base units with their times, by workload; InputError with every fault of the file.

    A table with the columns `workload`, `time` and `value`, in any order; several lines of one time are replicas.
    """
    source, text = os.fspath(path), read_text(path)
    samples = _Samples({name: w for w, name in enumerate(cluster.workloads.name)}, cluster.resources[resource].scale)
    header = {cell.strip() for cell in next(_lines(text, source), (0, []))[1]}
    if header == LONG | {TIME}:
        _table(text, source, samples)
    else:
        samples.fault("file", source, "E1107", "is no usage series", expected="a table with the columns workload, time, value")
    if samples.faults:
        raise InputError(source, samples.faults)
    return MappingProxyType(
        {samples.workload[name]: UsageSeries.of(samples.times[name], v) for name, v in samples.values.items()}
    )


@dataclass(slots=True)
class _Samples:
    """What was read so far, by name, and what is wrong with it."""

    workload: Mapping[str, int]
    scale: int
    values: dict[str, list[float]] = field(default_factory=dict)
    times: dict[str, list[float]] = field(default_factory=dict)  # seconds, one per value, where the table has times
    faults: list[Fault] = field(default_factory=list)

    def fault(self, kind: str, name: str, code: str, problem: str, value: str = "", expected: str = "") -> None:
        self.faults.append(Fault(code=code, kind=kind, name=name, problem=problem, value=value, expected=expected))

    def known(self, name: str, kind: str, where: str) -> bool:
        """Is it a workload? A fault if not."""
        if name in self.workload:
            return True
        expected = one_of_known("workload", self.workload) + did_you_mean(name, self.workload)
        self.fault(kind, where, "E1202", "names an unknown workload", shown(name), expected)
        return False


class _NoSampleError(ValueError):
    """Why a text or a number is no sample: code, problem, expected."""


def _amount(value: float | str, scale: int) -> float:
    """Base units; _NoSampleError if it is no amount from 0 to 2^63 - 1."""
    text = value.strip() if isinstance(value, str) else ""
    if isinstance(value, str) and NOT_FINITE.fullmatch(text):
        raise _NoSampleError("E1103", "is not finite", "a finite number")
    try:
        number = float(value) if not text or PLAIN.fullmatch(text) else float(parse_quantity(text))
    except (ValueError, OverflowError):
        raise _NoSampleError("E1104", "is not a quantity", QUANTITY + quantity_hint(text)) from None
    if OCTAL.match(text):
        raise _NoSampleError("E1104", "is not a quantity", f"{QUANTITY}, without a leading zero")
    if number < 0:
        raise _NoSampleError("E1102", "is negative", "zero or more")
    if not math.isfinite(number) or number * scale > LARGEST:
        raise _NoSampleError("E1106", "is beyond 2^63 - 1 base units", f"at most {LARGEST}")
    return number * scale


# ---- documents -----------------------------------------------------------------------------------------------------------------


def _document(document: object, samples: _Samples) -> None:
    """{"samples": {"web": [0.3, "250m"]}}."""
    faults, part = well_shaped(document, schema("samples"), _sample)
    samples.faults += faults
    if part is None:
        return
    for name, values in part.document["samples"].items():
        if samples.known(name, "sample", name):
            samples.values[name] = list(_entries(values, name, part, document, samples))


def _sample(path: Place) -> Place:
    """What is left out for a fault: samples, workload, entry."""
    return path[:3]


def _entries(
    values: Sequence[float | str], name: str, part: PartialDocument, document: object, samples: _Samples
) -> Iterator[float]:
    for i, value in enumerate(values):
        try:
            yield _amount(value, samples.scale)
        except _NoSampleError as why:
            code, problem, expected = why.args
            place = part.original(("samples", name, i))
            samples.faults.append(fault_at(document, place, code, problem, expected=expected))


# ---- tables --------------------------------------------------------------------------------------------------------------------


def _table(text: str, source: str, samples: _Samples) -> None:
    """One sample per line (columns `workload` and `value`, maybe `time`), or one column per workload."""
    lines = _lines(text, source)
    header = [cell.strip() for cell in next(lines)[1]]
    if len(set(header)) != len(header):
        double = next(name for name in header if header.count(name) > 1)
        samples.fault("column", double, "E1203", "occurs twice in the header", expected="each column once")
        return
    if LONG <= set(header) <= LONG | {TIME}:
        _long(lines, header, samples)
    else:
        _wide(lines, header, samples)
    if not samples.values and not samples.faults:
        samples.fault("file", source, "E1111", "has no samples below its header", expected="at least one")


def _lines(text: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """Number and cells of every line that is not empty; the first is the header."""
    reader = csv.reader(io.StringIO(text.lstrip(), newline=""), strict=True)
    skipped = text[: len(text) - len(text.lstrip())].count("\n")
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells) or len(cells) > 1:
                yield reader.line_num + skipped, cells
    except csv.Error as error:
        where = f"line {reader.line_num + skipped}"
        fault = Fault(code="E1902", kind="file", name=source, problem=f"{where} cannot be split into cells", value=str(error))
        raise InputError(source, [fault]) from None


def _long(lines: Iterator[tuple[int, list[str]]], header: Sequence[str], samples: _Samples) -> None:
    workload, value = header.index("workload"), header.index("value")
    for number, cells in _of_width(lines, len(header), samples):
        name = cells[workload].strip()
        entered = samples.known(name, "line", str(number)) and _add(samples, name, cells[value], "line", str(number))
        if entered and TIME in header:
            _add_time(samples, name, cells[header.index(TIME)].strip(), str(number))


def _wide(lines: Iterator[tuple[int, list[str]]], header: Sequence[str], samples: _Samples) -> None:
    known = [samples.known(name, "column", str(k + 1)) for k, name in enumerate(header)]
    for number, cells in _of_width(lines, len(header), samples):
        for name, cell, is_known in zip(header, cells, known, strict=True):
            if is_known and cell.strip():
                _add(samples, name, cell, "line", f"{number}, column {name}")
    for name, is_known in zip(header, known, strict=True):
        if is_known and not samples.values.get(name) and not samples.faults:
            samples.fault("column", name, "E1111", "has no samples", expected="at least one")


def _of_width(lines: Iterator[tuple[int, list[str]]], width: int, samples: _Samples) -> Iterator[tuple[int, list[str]]]:
    """The lines with as many cells as the header; a fault for each other."""
    for number, cells in lines:
        if len(cells) == width:
            yield number, cells
        else:
            samples.fault(
                "line", str(number), "E1901", "has another number of cells than the header", str(len(cells)), str(width)
            )


def _add_time(samples: _Samples, name: str, cell: str, where: str) -> None:
    """The time of the last sample: seconds, or a date, which is in UTC if it does not say; a fault if it is neither."""
    try:
        date = None if PLAIN.fullmatch(cell) else datetime.fromisoformat(cell)
        seconds = float(cell) if date is None else (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        samples.fault("line", where, "E1101", "has no time", shown(cell), WHEN)
        return
    samples.times.setdefault(name, []).append(seconds)


def _add(samples: _Samples, name: str, cell: str, kind: str, where: str) -> bool:
    """Enter a sample; False, and a fault, if it is none."""
    try:
        if not cell.strip():
            raise _NoSampleError("E1104", "is not a quantity", QUANTITY)
        samples.values.setdefault(name, []).append(_amount(cell, samples.scale))
    except _NoSampleError as why:
        code, problem, expected = why.args
        samples.fault(kind, where, code, problem, shown(cell.strip()), expected)
        return False
    return True
