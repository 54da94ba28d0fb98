"""Requests one after the other, each checked alone and against those before it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from bayplan.errors import Fault
from bayplan.formats.streams.entry import read_entry
from bayplan.model import ClusterRequest, Zones


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
