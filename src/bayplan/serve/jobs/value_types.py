"""Types of Python as types of JSON: what a value may look like in a request, and how it becomes what the library takes.

The types are those in the signatures of the library, so a request can state what a call can state. What JSON cannot carry (a
callback, an array, a path of the server) is left out of the schema, and so cannot be sent.
"""

import json
import math
import os
import re
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from typing import Any, Union, get_args, get_origin, get_type_hints

from bayplan.errors import ModelError, UsageError
from bayplan.formats.targets import MigrationTarget
from bayplan.model import Fleet, Objective, Placement, Snapshot, TimedRequests
from bayplan.model.plan import Plan

JsonSchema = dict[str, Any]
LONGEST_TEXT = 1_000  # letters of a name or a pattern
MOST_ENTRIES = 100_000  # of a list or an object
LARGEST = 2**53  # whole numbers that every JSON library keeps exactly
SNAPSHOT_ID = "^sha256-[0-9a-f]{64}$"
NOT_IN_JSON = (Objective, Fleet, MigrationTarget, Plan)  # values of the model that have no short form


class MisfitError(Exception):
    """A value is not what a type expects."""

    def __init__(self, expected: str, place: str = "", value: object = None) -> None:
        super().__init__(expected)
        self.expected, self.place, self.value = expected, place, value


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueType:
    """What a value may look like."""

    schema: JsonSchema
    expected: str  # in words: "a number"
    read: Callable[[Any], Any]  # the value for the library; MisfitError if it is not what is expected


def value_type(hint: Any) -> ValueType | None:
    """The type of JSON values for a type of Python; None if JSON cannot carry it, or must not."""
    if hint in _PLAIN:
        return _PLAIN[hint]
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _union_of(arguments)
    if origin is not None and _is(origin, Mapping):
        return _object_of(arguments)
    if origin is not None and (_is(origin, tuple) or _is(origin, Sequence)):
        return _list_of(arguments[0], tuple if origin is tuple else list)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return choice([str(member.value) for member in hint])
    if isinstance(hint, type) and is_dataclass(hint) and hint not in NOT_IN_JSON:
        return _fields_of(hint)
    return None


def choice(names: Sequence[str]) -> ValueType:
    """One of several words."""

    def read(value: Any) -> str:
        if not isinstance(value, str) or value not in names:
            raise MisfitError(f"one of {', '.join(names)}")
        return value

    return ValueType(schema={"type": "string", "enum": list(names)}, expected=f"one of {', '.join(names)}", read=read)


def within(kind: ValueType, least: float, most: float) -> ValueType:
    """Numbers of a range."""
    expected = f"a number from {least:g} to {most:g}"

    def read(value: Any) -> Any:
        number = kind.read(value)
        if number is not None and not least <= number <= most:
            raise MisfitError(expected)
        return number

    limits = {"minimum": least, "maximum": most}
    if "anyOf" in kind.schema:
        parts = [part if part == {"type": "null"} else {**part, **limits} for part in kind.schema["anyOf"]]
        return ValueType(schema={"anyOf": parts}, expected=f"{expected}, or null", read=read)
    return ValueType(schema={**kind.schema, **limits}, expected=expected, read=read)


def any_of(kinds: Sequence[ValueType]) -> ValueType:
    """A value of one of several types; the first that it fits counts."""
    if len(kinds) == 1:
        return kinds[0]
    expected = " or ".join(kind.expected for kind in kinds)

    def read(value: Any) -> Any:
        deepest: MisfitError | None = None
        for kind in kinds:
            try:
                return kind.read(value)
            except MisfitError as misfit:
                deepest = misfit if misfit.place else deepest
        raise deepest or MisfitError(expected)

    return ValueType(schema={"anyOf": [kind.schema for kind in kinds]}, expected=expected, read=read)


def shown(value: object) -> str:
    """A value of a request for a message: as JSON, cut short."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


# ---- plain values -------------------------------------------------------------------------------------------------------------


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_TEXT or "\0" in value:
        raise MisfitError(f"a text of at most {LONGEST_TEXT:,} letters")
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < math.inf or abs(value) > 1e300:
        raise MisfitError("a number")
    return float(value)


def _whole(value: Any) -> int:
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole or abs(value) > LARGEST:
        raise MisfitError("a whole number")
    return int(value)


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise MisfitError("true or false")
    return value


def _nothing(value: Any) -> None:
    if value is not None:
        raise MisfitError("null")


def _snapshot(value: Any) -> str:
    if not isinstance(value, str) or not re.fullmatch(SNAPSHOT_ID.strip("^$"), value):
        raise MisfitError("the id of a snapshot: sha256- and 64 hexadecimal digits")
    return value


def _machines(value: Any) -> dict[str, str | None]:
    right = isinstance(value, dict) and all(machine is None or isinstance(machine, str) for machine in value.values())
    if not right or len(value) > MOST_ENTRIES * 10:
        raise MisfitError("an object of machines by container")
    return dict(value)


_NAME = {"type": ["string", "null"], "maxLength": LONGEST_TEXT}
_SNAPSHOT = ValueType(schema={"type": "string", "pattern": SNAPSHOT_ID}, expected="the id of a snapshot", read=_snapshot)
_PLACEMENT = ValueType(
    schema={"type": "object", "additionalProperties": _NAME, "examples": [{"web-0": "m-1"}]},
    expected="an object of machines by container",
    read=_machines,
)
_PLAIN: Mapping[Any, ValueType] = {
    str: ValueType(schema={"type": "string", "maxLength": LONGEST_TEXT}, expected="a text", read=_text),
    float: ValueType(schema={"type": "number", "minimum": -1e300, "maximum": 1e300}, expected="a number", read=_number),
    int: ValueType(schema={"type": "integer", "minimum": -LARGEST, "maximum": LARGEST}, expected="a whole number", read=_whole),
    bool: ValueType(schema={"type": "boolean"}, expected="true or false", read=_truth),
    type(None): ValueType(schema={"type": "null"}, expected="null", read=_nothing),
    Placement: _PLACEMENT,
    Snapshot: _SNAPSHOT,
    TimedRequests: _SNAPSHOT,
}

# ---- values of several parts --------------------------------------------------------------------------------------------------


def _is(origin: Any, kind: type) -> bool:
    return isinstance(origin, type) and issubclass(origin, kind)


def _union_of(hints: Sequence[Any]) -> ValueType | None:
    if any(hint is os.PathLike or get_origin(hint) is os.PathLike for hint in hints):
        return None  # no path of the server can be named in a request
    kinds = [kind for kind in map(value_type, hints) if kind is not None]
    if all(kind.schema == {"type": "null"} for kind in kinds):
        return None
    return any_of(kinds)


def _object_of(arguments: Sequence[Any]) -> ValueType | None:
    name, item = value_type(arguments[0]), value_type(arguments[1])
    if name is None or item is None:
        return None

    def read(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict) or len(value) > MOST_ENTRIES:
            raise MisfitError(f"an object, each value {item.expected}")
        return {name.read(key): _inner(item, part, f".{key}") for key, part in value.items()}

    names = {"propertyNames": {"enum": name.schema["enum"]}} if "enum" in name.schema else {}
    schema = {"type": "object", "additionalProperties": item.schema, **names}
    return ValueType(schema=schema, expected=f"an object, each value {item.expected}", read=read)


def _list_of(hint: Any, kind: type) -> ValueType | None:
    item = value_type(hint)
    if item is None:
        return None

    def read(value: Any) -> Any:
        if not isinstance(value, list) or len(value) > MOST_ENTRIES:
            raise MisfitError(f"a list, each entry {item.expected}")
        return kind(_inner(item, part, f"[{number}]") for number, part in enumerate(value))

    return ValueType(schema={"type": "array", "items": item.schema}, expected=f"a list, each entry {item.expected}", read=read)


def _inner(kind: ValueType, value: Any, place: str) -> Any:
    """A part of a value; a misfit says where it is."""
    try:
        return kind.read(value)
    except MisfitError as misfit:
        at = misfit.value if misfit.place else value
        raise MisfitError(misfit.expected, f"{place}{misfit.place}", at) from None


def _fields_of(hint: type) -> ValueType | None:
    """A frozen value of the model, stated field by field."""
    hints = get_type_hints(hint)
    known = {field.name: kind for field in fields(hint) if (kind := value_type(hints[field.name])) is not None}
    needed = [field.name for field in fields(hint) if field.default is MISSING and field.default_factory is MISSING]
    if not known or set(needed) - known.keys():
        return None
    expected = f"an object with {', '.join(known)}"

    def read(value: Any) -> Any:
        if not isinstance(value, dict) or value.keys() - known.keys() or set(needed) - value.keys():
            raise MisfitError(expected)
        parts = {name: _inner(known[name], part, f".{name}") for name, part in value.items()}
        try:
            return hint(**parts)
        except (ModelError, UsageError) as error:
            raise MisfitError(str(error)) from error

    schema = {"type": "object", "properties": {name: kind.schema for name, kind in known.items()}, "additionalProperties": False}
    return ValueType(schema={**schema, **({"required": needed} if needed else {})}, expected=expected, read=read)
