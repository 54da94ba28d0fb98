"""What the parts of the native reader share: the document, the faults so far, names -> indices, amounts -> base units."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

from bayplan.errors import Fault
from bayplan.formats.document.location import Path, fault_at, shown
from bayplan.formats.document.partial_document import PartialDocument
from bayplan.formats.document.schemas import Hints, one_of_known
from bayplan.model import Resource
from bayplan.model.quantities import LARGEST, format_quantity, parse_quantity

MISSING = -1  # the index of a name that nothing has


NAMED_BY = {  # the keys of a document that give names of each kind; none of the others can be left out
    "resource": ("resources",),
    "level": ("levels",),
    "group": ("levels",),
    "machine": ("machines",),
    "machine set": ("machine_sets",),
    "service": ("services", "workloads"),
    "workload": ("workloads",),
    "container": ("workloads",),
}


NAMED_INSIDE = {  # the keys of an item that give names, too
    "service": ("workloads", "service"),
    "container": ("workloads", "containers", "replicas"),
    "group": ("levels", "groups"),
}


@dataclass(slots=True)
class Reader:
    """A document of the right shape, on its way to a model."""

    part: PartialDocument
    whole: Mapping[str, Any]  # as the user wrote it: the same, unless parts of the wrong shape were left out
    faults: list[Fault] = field(default_factory=list)
    places: list[Path] = field(default_factory=list)  # of the faults, in `whole`
    notes: list[str] = field(default_factory=list)
    hints: Hints = field(default_factory=Hints)

    @property
    def document(self) -> Mapping[str, Any]:
        """What is read."""
        document: Mapping[str, Any] = self.part.document
        return document

    @property
    def unchanged(self) -> bool:
        """Is what is read all that the user wrote, since nothing of it has the wrong shape?"""
        return self.part.document is self.whole

    def fault(self, path: Path, code: str, problem: str, *, value: str | None = None, expected: str = "") -> None:
        """Note a fault at a place of the document."""
        self.places.append(self.part.original(path))
        self.faults.append(fault_at(self.whole, self.places[-1], code, problem, value=value, expected=expected))

    def contradiction(self, path: Path, code: str, problem: str, *, value: str | None = None, expected: str = "") -> None:
        """Note that two values of one item do not fit each other; not if one of them was changed to go on reading."""
        if not self.part.changed(path[:2]):
            self.fault(path, code, problem, value=value, expected=expected)

    def table(self, kind: str, names: Sequence[str], paths: Sequence[Path]) -> dict[str, int]:
        """name -> index; a fault for each name that comes twice."""
        table: dict[str, int] = {}
        for index, name in enumerate(names):
            if table.setdefault(name, index) != index:
                self.fault(
                    paths[index], "E1201", f"a {kind} of this name is there already", value=shown(name), expected="each name once"
                )
        return table

    def find(self, kind: str, table: Mapping[str, int], name: str, path: Path) -> int:
        """The index of a name, or MISSING and a fault."""
        index = table.get(name, MISSING)
        if index == MISSING:
            self.unknown("E1202", kind, table, name, path)
        return index

    def unknown(self, code: str, kind: str, table: Mapping[str, int], name: str, path: Path) -> None:
        """Note a name that nothing has, with the nearest one that something has; not if what has it may be left out."""
        key, *members = NAMED_INSIDE.get(kind, ("",))
        if self.part.lacks(*NAMED_BY[kind]) or any(self.part.lacks_inside(key, member) for member in members):
            return
        expected = one_of_known(kind, table) + self.hints(name, table)
        self.fault(path, code, f"names an unknown {kind}", value=shown(name), expected=expected)

    def find_all(self, kind: str, table: Mapping[str, int], names: Sequence[str], path: Path) -> tuple[int, ...]:
        """The indices of a list of names; a fault for each that is unknown or comes twice."""
        indices = tuple(self.find(kind, table, name, (*path, place)) for place, name in enumerate(names))
        if len(set(names)) != len(names):
            first: dict[str, int] = {}
            for place, name in enumerate(names):
                if first.setdefault(name, place) != place:
                    where = (*path, place)
                    self.fault(where, "E1203", f"names the same {kind} again", value=shown(name), expected="each once")
        return indices


def exact(value: float | str) -> Fraction:
    """The number that was written: 0.1 is one tenth, not the nearest float. ValueError if it is none."""
    if isinstance(value, int):
        return Fraction(value)
    return Fraction(repr(value)) if isinstance(value, float) else parse_quantity(value)


def share_of(value: float | str) -> Fraction:
    """The exact share that 0.8 or '80%' says."""
    return Fraction(value.removesuffix("%")) / 100 if isinstance(value, str) else exact(value)


@dataclass(slots=True)
class Amounts:
    """Reads the amounts of a document; what replicas repeat is worked out once."""

    reader: Reader
    resources: tuple[Resource, ...]
    index: Mapping[str, int]
    base_units: bool  # are amounts written in base units?
    seen: dict[tuple[int, Any], Fraction] = field(default_factory=dict)

    def row(self, amounts: Mapping[str, Any], path: Path, start: list[int]) -> list[int]:
        """`start` with the amounts of a {resource: amount} object put in."""
        for name, value in amounts.items():
            r = self.reader.find("resource", self.index, name, (*path, name))
            if r >= 0:
                start[r] = self.whole(r, value, (*path, name))
        return start

    def whole(self, r: int, value: Any, path: Path) -> int:
        """Base units as an int64; 0 and a fault if it is none."""
        amount = self.base(r, value, path)
        if amount.denominator == 1 or self.unclear(r):
            return amount.numerator
        scale = 1 if self.base_units else self.resources[r].scale
        finest = f"multiples of 1/{scale}" if scale > 1 else "whole numbers"
        self.reader.fault(path, "E1105", "is finer than one base unit", expected=finest)
        return 0

    def unclear(self, r: int) -> bool:
        """Is it not known how large a base unit is, because that was written wrongly?"""
        part = self.reader.part
        return part.changed(("amounts",)) or part.changed(("resources", self.resources[r].name))

    def real(self, r: int, value: Any, path: Path) -> float:
        """Base units as the nearest float."""
        return float(self.base(r, value, path))

    def base(self, r: int, value: Any, path: Path) -> Fraction:
        """Base units, exactly, from 0 to 2^63 - 1; 0 and a fault if it is not so."""
        known = self.seen.get((r, value))
        if known is not None:
            return known
        try:
            amount = exact(value) * (1 if self.base_units else self.resources[r].scale)
        except ValueError:
            self.reader.fault(path, "E1104", "is not a quantity", expected="a number such as 2, 500m, 1.5Gi, 1e3")
            return Fraction(0)
        if amount < 0:
            self.reader.fault(path, "E1102", "is negative", expected="zero or more")
            return Fraction(0)
        if amount > LARGEST and self.unclear(r):
            return Fraction(0)
        if amount > LARGEST:
            self.reader.fault(path, "E1106", "is beyond 2^63 - 1 base units", expected=f"at most {LARGEST}")
            return Fraction(0)
        self.seen[r, value] = amount
        return amount


def digits_of(scale: int) -> int | None:
    """k if the scale is 10^k, so that every amount has a short decimal; else None."""
    text = str(scale)
    return len(text) - 1 if text == "1" + "0" * (len(text) - 1) else None


def written(amount: int, scale: int) -> int | str:
    """The shortest exact way to write base units of a power of ten."""
    text = format_quantity(amount, scale)
    if exact(text) * scale != amount:  # finer than a nano
        text = f"{amount}e-{digits_of(scale)}"
    return int(text) if text.isdigit() else text


def written_real(value: float, scale: int) -> float | str:
    """A usage in written units that reads back as the same float of base units."""
    decimal = Decimal(repr(value)).scaleb(-(digits_of(scale) or 0))
    number = float(decimal)
    if float(exact(number) * scale) == value:
        return int(number) if number.is_integer() and number < 2**53 else number
    return str(decimal)
