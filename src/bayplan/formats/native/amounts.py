"""Amounts as people write them <-> int64 base units, exactly."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any

from bayplan.formats.document.subject import Path
from bayplan.formats.native.reader import Reader
from bayplan.model import Resource
from bayplan.model.units import LARGEST, format_quantity, parse_quantity


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
