"""Kubernetes quantities (`500m`, `1.5Gi`, `1e3`), read exactly and written briefly."""

import re
from decimal import Decimal
from fractions import Fraction

BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}
DECIMAL = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "": Fraction(1),
    "k": Fraction(10**3),
    "M": Fraction(10**6),
    "G": Fraction(10**9),
    "T": Fraction(10**12),
    "P": Fraction(10**15),
    "E": Fraction(10**18),
}
SUFFIX = {**DECIMAL, **{suffix: Fraction(factor) for suffix, factor in BINARY.items()}}
CORES = frozenset({"core", "cores", "cpu", "cpus", "vcpu", "vcpus"})
LARGEST = 2**63 - 1  # amounts are int64
MOST_DIGITS = 64  # longer numbers are refused before they cost time

_MISTAKEN = re.compile(r"(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)) *(?P<letters>[A-Za-z]+)", re.ASCII)
_QUANTITY = re.compile(
    r"(?P<number>[+-]?(?:\d+\.?\d*|\.\d+))"
    r"(?:[eE](?P<exponent>[+-]?\d{1,3})|(?P<suffix>[KMGTPE]i|[numkMGTPE])| ?(?P<bytes>(?:[kKMGTPE]|[KMGTPE]i)?B))?",
    re.ASCII,
)


def parse_quantity(text: str) -> Fraction:
    """The exact value of a Kubernetes quantity; ValueError if it is none.

    Bytes may be written as such, where that is clear: 64GB is 64 * 10^9, 64GiB and 64Gi are 64 * 2^30.
    """
    match = _QUANTITY.fullmatch(text.strip()) if len(text) <= MOST_DIGITS else None
    if match is None:
        raise ValueError(f"not a quantity: {text[:MOST_DIGITS]!r}")
    number = Fraction(match["number"])
    if match["exponent"] is not None:
        return number * Fraction(10) ** int(match["exponent"])
    suffix = match["suffix"] or (match["bytes"] or "").removesuffix("B")
    return number * SUFFIX["k" if suffix == "K" else suffix]


def quantity_hint(text: str) -> str:
    """The end of a message about a text that is no quantity: "; did you mean 64Gi or 64G?", or nothing."""
    match = _MISTAKEN.fullmatch(text.strip()) if len(text) <= MOST_DIGITS else None
    if match is None:
        return ""
    number, letters = match["number"], match["letters"].lower()
    if _QUANTITY.fullmatch(together := f"{number}{match['letters']}"):
        return f"; did you mean {together}?"
    if letters in CORES:
        return f"; did you mean {number}?"
    binary = f"{letters[0].upper()}i"
    if binary not in BINARY or letters[1:] not in ("", "b", "i", "ib", "byte", "bytes"):
        return ""
    decimal = "k" if binary == "Ki" else binary[0]
    return f"; did you mean {number}{binary} or {number}{decimal}?"


def to_base_units(quantity: Fraction, scale: int) -> int:
    """`quantity` times `scale`, if that is a whole number that int64 holds; else ValueError."""
    amount = quantity * scale
    if amount.denominator != 1:
        raise ValueError(f"finer than one {scale}th of a unit" if scale > 1 else "not a whole number")
    if abs(amount.numerator) > LARGEST:
        raise ValueError("beyond 2^63 - 1 base units")
    return amount.numerator


def format_quantity(amount: int, scale: int = 1) -> str:
    """The plainest exact quantity: 500 of 1000 is '500m', 1500 of 1000 '1.5', 1610612736 '1536Mi'.

    Exact while `scale` has no prime factors but 2 and 5; else the nearest float.
    """
    value = Fraction(amount, scale)
    large = abs(value) >= 1 or value == 0
    whole = [
        f"{(value / factor).numerator}{suffix}"
        for suffix, factor in SUFFIX.items()
        if (value / factor).denominator == 1 and (factor >= 1 or not large)
    ]
    return min(whole, key=len) if whole else _decimal(value)


def _decimal(value: Fraction) -> str:
    digits = 0
    while (value * 10**digits).denominator != 1:
        digits += 1
        if digits > MOST_DIGITS // 2:
            return repr(float(value))
    return f"{Decimal((value * 10**digits).numerator).scaleb(-digits):f}"
