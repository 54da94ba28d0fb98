"""JSON text -> document, with nothing dropped: no double keys, no NaN, no endless numbers."""

import json
import math
import re
from typing import Any

from bayplan.errors import Fault, InputError
from bayplan.formats.document.location import NotFinite, non_finite_faults, shown

_MAY_BE_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_LARGE_EXPONENT = re.compile(r"[eE]\+?\d{3}")
_MANY_DIGITS = 300  # no float holds many more


def parse_json(text: str, source: str) -> object:
    """The document of a JSON text; InputError with a line and column if it is none.

    Numbers that are not finite are `NotFinite` in it, for the walk through its schema to say with all else.
    """
    doubles: list[Fault] = []

    def checked(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) != len(pairs):
            doubles.extend(double_key_faults(pairs))
        return members

    try:
        odd = {"parse_float": decimal, "parse_constant": NotFinite} if _may_be_infinite(text) else {}
        document = json.loads(text, object_pairs_hook=checked, **odd)  # type: ignore[arg-type]  # two kinds of hooks
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        fault = Fault(code="E1006", kind="file", name=source, problem=f"{where}: {error.msg}", expected="complete JSON")
        raise InputError(source, [fault]) from None
    except RecursionError:
        raise InputError(source, [too_deep(source)]) from None
    except ValueError:  # int() refuses more than 4300 digits
        raise InputError(source, [too_long(text, source)]) from None
    if _MAY_BE_HALF.search(text) and (half := half_character(document)):
        problem, expected = "is not Unicode text: half a character", "UTF-8 text, or both halves"
        doubles.append(Fault(code="E1005", kind="file", name=source, problem=problem, value=half, expected=expected))
    if doubles:
        raise InputError(source, doubles + (non_finite_faults(document) if odd else []))
    return document


def _may_be_infinite(text: str) -> bool:
    """Might a number be beyond all floats, or none at all? Quick for a hundred megabytes."""
    if "NaN" in text or "Infinity" in text or _LARGE_EXPONENT.search(text):
        return True
    half = _MANY_DIGITS // 2  # this many digits in a row fill a whole block
    return any(text[at : at + half].isdigit() for at in range(0, len(text), half))


def decimal(text: str) -> float:
    """The number, with its text if no float holds it."""
    number = float(text)
    return number if math.isfinite(number) else NotFinite(text)


def half_character(document: object) -> str:
    """The first lone surrogate of a document's strings, as it is written; else nothing. Such a text cannot be shown."""
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        return f"\\u{ord(error.object[error.start]):04x}"
    return ""


def double_key_faults(pairs: list[tuple[str, Any]]) -> list[Fault]:
    """One fault for each key that an object has more than once, with the first two values."""
    values: dict[str, list[Any]] = {}
    for key, value in pairs:
        values.setdefault(key, []).append(value)
    return [
        Fault(
            code="E1010",
            kind="key",
            name=key,
            problem="is given twice in one object",
            value=f"first {shown(given[0])}, then {shown(given[1])}",
            expected="each key once",
        )
        for key, given in values.items()
        if len(given) > 1
    ]


def too_deep(source: str) -> Fault:
    """The fault of a document that is nested beyond what can be read."""
    return Fault(code="E1009", kind="file", name=source, problem="is nested too deeply", expected="a dozen levels at most")


def too_long(text: str, source: str) -> Fault:
    """The fault of a text with a number of thousands of digits."""
    longest = max(re.findall(r"\d{1000,}", text), key=len, default="")
    where = f"line {text.count(chr(10), 0, text.find(longest)) + 1}: " if longest else ""
    problem = f"{where}a number has too many digits"
    return Fault(code="E1112", kind="file", name=source, problem=problem, value=f"{len(longest)} digits, {longest[:8]}...")
