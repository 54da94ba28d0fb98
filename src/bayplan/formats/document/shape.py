"""Does a document have the shape that a JSON Schema asks for? All faults at once, in words.

The schemas are the published ones: what is checked is what is printed. Of JSON Schema this knows: type,
properties, required, additionalProperties, items, prefixItems, minItems, maxItems, minLength, minProperties,
enum, const, minimum, exclusiveMinimum, maximum, exclusiveMaximum, pattern (of quantities and of names),
propertyNames (of names), anyOf and oneOf (told apart by type, or by a `const` member), and $ref into $defs.
Stricter in one point: 3.0 is not an integer.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

from bayplan.errors import Fault, did_you_mean
from bayplan.formats.document.location import NotFinite, Path, fault_at, shown
from bayplan.formats.document.quick_shape import LONGEST, TYPES, Schema, allowed_types, fits
from bayplan.formats.document.schemas import NOTHING, PLAIN_NAME, all_plain, placeholder
from bayplan.model.quantities import quantity_hint

Report: TypeAlias = Callable[..., None]  # (path, code, problem, value=, expected=)

OCTAL = re.compile(r"[+-]?0[0-9]")  # other programs take 010 for 8
FAR = 2**53  # a bound beyond this is not worth saying of a number below it
MISSING_KEY = "E1107"
ODD_NAME, PLAIN = "has a control character", "letters, digits and signs only"
WORDS = {"object": "an object", "array": "a list", "string": "a string", "integer": "a whole number", "number": "a number"}
WORDS |= {"boolean": "true or false", "null": "null"}


def shape_faults(document: object, schema: Schema) -> list[Fault]:
    """Every way in which the document is not what the schema asks for."""
    return [fault for _, fault in misshapen(document, schema)]


def misshapen(document: object, schema: Schema) -> list[tuple[Path, Fault]]:
    """Every place where the document is not what the schema asks for, with its fault."""
    return [(misfit.place if misfit.known else misfit.place[:-1], misfit.fault) for misfit in misfits(document, schema)]


class Misfit(NamedTuple):
    """Something that is not what a schema asks for."""

    place: Path  # an unknown or missing key has a place of its own, though the fault is about the object
    fault: Fault
    placeholder: Any  # what can stand there instead; NOTHING if nothing can
    known: bool = True  # is something there? False for a key that is missing


def misfits(document: object, schema: Schema, *, any_name: bool = False) -> list[Misfit]:
    """Every misfit of the document; with `any_name`, names may be empty and hold what they may not."""
    return [] if not any_name and fits(document, schema) else walked(document, schema, any_name=any_name)


def walked(document: object, schema: Schema, *, any_name: bool = False) -> list[Misfit]:
    """The same, without a quick look before the walk."""
    all_misfits: list[Misfit] = []
    walk: _Walk

    def report(path: Path, code: str, problem: str, *, key: Path = (), wanted: Schema | None = None, **details: Any) -> None:
        instead = NOTHING if wanted is None else placeholder(wanted, walk.resolved)
        fault = fault_at(document, path, code, problem, **details)
        is_there = not (key and code == MISSING_KEY)
        fault = replace(fault, place=(*path, *key)) if key and is_there else fault
        all_misfits.append(Misfit((*path, *key), fault, instead, is_there))

    walk = _Walk(schema, report, any_name)
    walk.check(document, schema, ())
    return all_misfits


def counted(entries: int) -> str:
    """'1 entry', '2 entries'."""
    return f"{entries} entry" if entries == 1 else f"{entries} entries"


class _Facts(NamedTuple):
    """What the walk asks of a schema at every value."""

    schema: Schema  # itself, or what it refers to
    choices: list[Schema]
    allowed: tuple[type, ...]  # empty for any
    plain: bool  # nothing but a type to check


class _Walk:
    """One walk through a document, with the schema's definitions at hand."""

    def __init__(self, root: Schema, report: Report, any_name: bool) -> None:
        self.root, self.report, self.any_name = root, report, any_name
        self.known: dict[int, _Facts] = {}  # by the identity of the schema, which outlives the walk

    def check(self, value: Any, schema: Schema, path: Path) -> None:
        facts = self.known.get(id(schema)) or self.learn(schema)
        schema = facts.schema
        if facts.choices:
            branch = self.branch(value, facts, path)
            if branch is not None:
                self.check(value, branch, path)
        elif facts.allowed and type(value) not in facts.allowed:
            self.report(path, "E1101", f"must be {_either(facts.allowed)}", wanted=schema)
        elif facts.plain:
            return
        elif type(value) is dict:
            self.check_object(value, schema, path)
        elif type(value) is list:
            self.check_list(value, schema, path)
        else:
            self.check_scalar(value, schema, path)

    def learn(self, schema: Schema) -> "_Facts":
        whole = self.resolved(schema)
        choices = [self.resolved(branch) for branch in whole.get("anyOf", whole.get("oneOf", ()))]
        allowed = allowed_types(whole) if "type" in whole else ()
        plain = whole.keys() <= {"type", "description"} and set(allowed) <= {str, bool, type(None)}
        facts = self.known[id(schema)] = _Facts(whole, choices, allowed, plain)
        return facts

    def resolved(self, schema: Schema) -> Schema:
        while "$ref" in schema:
            schema = self.root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
        return schema

    def branch(self, value: Any, facts: "_Facts", path: Path) -> Schema | None:
        """The one option that the value means; None, and a fault, if it means none."""
        options = facts.choices
        fitting = [option for option in options if type(value) in allowed_types(option)]
        if len(fitting) > 1 and type(value) is dict:
            return self.branch_by_const(value, fitting, path)
        if not fitting:
            words = _either([t for option in options for t in allowed_types(option)])
            self.report(path, "E1101", f"must be {words}", wanted=facts.schema)
        return fitting[0] if fitting else None

    def branch_by_const(self, value: dict[str, Any], options: list[Schema], path: Path) -> Schema | None:
        key = next(name for name, member in options[0]["properties"].items() if "const" in member)
        table = {option["properties"][key]["const"]: option for option in options}
        told = value.get(key)
        if key not in value:
            self.report(path, MISSING_KEY, f"'{key}' is missing", key=(key,), value="", expected=_one_of(table))
        elif not isinstance(told, str) or told not in table:
            self.report((*path, key), "E1109", "is not known", expected=_one_of(table) + did_you_mean(str(told), table))
        return table.get(told) if isinstance(told, str) else None

    def check_object(self, value: dict[str, Any], schema: Schema, path: Path) -> None:
        known = schema.get("properties", {})
        others = schema.get("additionalProperties", True)
        for key in schema.get("required", ()):
            if key not in value:
                self.report(path, MISSING_KEY, f"'{key}' is missing", key=(key,), wanted=known.get(key), value="")
        if len(value) < schema.get("minProperties", 0):
            self.report_few(value, schema, path)
        if "propertyNames" in schema and not self.any_name and not all_plain(list(value)):
            self.check_keys(value, path)
        for key, member in value.items():
            if key in known:
                self.check(member, known[key], (*path, key))
            elif others is False:
                wanted = f"{_one_of(known)}{did_you_mean(key, known)}"
                self.report(path, "E1108", f"unknown key '{key}'", key=(key,), value=shown(member), expected=wanted)
            elif others is not True:
                self.check(member, others, (*path, key))

    def report_few(self, value: dict[str, Any], schema: Schema, path: Path) -> None:
        """An object that is empty, or that has none of the keys of which it needs one."""
        optional = [key for key in schema.get("properties", {}) if key not in schema.get("required", ())]
        if optional and len(value) + 1 == schema["minProperties"]:
            self.report(path, MISSING_KEY, f"one of {_quoted(optional)} is missing", value="")
        else:
            self.report(path, "E1111", "is empty", expected="at least one entry")

    def check_keys(self, value: dict[str, Any], path: Path) -> None:
        for number, key in enumerate(value, start=1):
            if not key:
                self.report(path, "E1111", f"key {number} is empty", key=(key,), value='""', expected="a name")
            elif not all_plain([key]):
                self.report(path, "E1205", ODD_NAME, key=(key,), value=shown(key), expected=PLAIN)

    def check_list(self, value: list[Any], schema: Schema, path: Path) -> None:
        least, most = schema.get("minItems", 0), schema.get("maxItems", math.inf)
        if not least <= len(value) <= most:
            wanted = f"exactly {least}" if least == most else f"at least {least}" if len(value) < least else f"at most {most}"
            self.report(path, "E1111", f"has {counted(len(value))}" if value else "is empty", expected=wanted)
            return
        first: list[Schema] = schema.get("prefixItems", [])
        for index, (member, item) in enumerate(zip(value, first, strict=False)):
            self.check(member, item, (*path, index))
        if isinstance(schema.get("items"), Mapping):
            item = self.resolved(schema["items"])
            if not _all_plain(value, item):
                for index in range(len(first), len(value)):
                    self.check(value[index], item, (*path, index))

    def check_scalar(self, value: Any, schema: Schema, path: Path) -> None:
        if "const" in schema and value != schema["const"]:
            self.report(path, "E1109", "is not known", expected=shown(schema["const"]))
        if "enum" in schema and value not in schema["enum"]:
            wanted = _one_of(schema["enum"]) + did_you_mean(str(value), map(str, schema["enum"]))
            self.report(path, "E1109", "is not known", expected=wanted)
        if type(value) is str:
            self.check_text(value, schema, path)
        elif isinstance(value, float) and not math.isfinite(value):
            self.report(path, "E1103", "is not finite", wanted=schema, expected="a finite number")
        elif type(value) is int and abs(value) > LONGEST:
            self.report(path, "E1112", "has too many digits", wanted=schema, expected=f"at most {len(str(LONGEST))} digits")
        elif type(value) in (int, float) and (expected := _outside(value, schema)):
            negative = value < 0 <= max(schema.get("minimum", -1), schema.get("exclusiveMinimum", -1))
            words = ("E1102", "is negative") if negative else ("E1110", "is out of range")
            self.report(path, *words, wanted=schema, expected=expected)

    def check_text(self, value: str, schema: Schema, path: Path) -> None:
        pattern, is_name = schema.get("pattern"), schema.get("pattern") == PLAIN_NAME
        if len(value) < schema.get("minLength", 0) and not self.any_name:
            self.report(path, "E1111", "is empty", expected="a text")
        if is_name and not self.any_name and not all_plain([value or "-"]):
            self.report(path, "E1205", ODD_NAME, expected=PLAIN)
        if pattern is not None and not is_name and not re.search(pattern, value):
            problem, expected = _unmatched(pattern, value)
            self.report(path, "E1104", problem, wanted=schema, expected=expected)


def _unmatched(pattern: str, value: str) -> tuple[str, str]:
    """What is wrong with a text that does not match the pattern of quantities, of shares, or of both; and what is expected."""
    quantity = "a number such as 2, 500m, 1.5Gi, 1e3" + (", without a leading zero" if OCTAL.match(value) else "")
    hint = quantity_hint(value)
    if "%" not in pattern:
        return "is not a quantity", quantity + hint
    share = "a share of the capacity, such as 80% or 0.8"
    return ("is not a quantity", f"{quantity}, or a share such as 80%{hint}") if "numk" in pattern else ("is not a share", share)


def _all_plain(value: list[Any], item: Schema) -> bool:
    """Is this a list of nothing but the one type asked for? A quick answer for long lists of names."""
    if not item.keys() <= {"type", "description", "minLength", "pattern"} or item.get("pattern", PLAIN_NAME) != PLAIN_NAME:
        return False
    kinds = set(map(type, value))
    if not kinds <= set(allowed_types(item)) - {float, NotFinite}:
        return False
    return item.keys() <= {"type", "description"} or (kinds <= {str} and all_plain(value))


def _outside(value: float, schema: Schema) -> str:
    """What was expected of a number, or nothing if it is so."""
    low, above = schema.get("minimum"), schema.get("exclusiveMinimum")
    high, below = schema.get("maximum"), schema.get("exclusiveMaximum")
    holds = (low is None or value >= low) and (above is None or value > above)
    if holds and (high is None or value <= high) and (below is None or value < below):
        return ""
    words = {"at least": low, "more than": above, "at most": high, "less than": below}
    return " and ".join(
        f"{word} {limit}" for word, limit in words.items() if limit is not None and (limit < FAR or value > limit)
    )


def _either(types: Iterable[type]) -> str:
    given = dict.fromkeys(types)
    names = [name for name, members in TYPES.items() if set(members) <= set(given)]
    if "number" in names and "integer" in names:
        names.remove("integer")
    return " or ".join(WORDS[name] for name in names)


def _quoted(words: Iterable[str]) -> str:
    return ", ".join(f"'{word}'" for word in words)


def _one_of(choices: Iterable[object]) -> str:
    given: Iterator[str] = map(str, choices)
    return "one of " + ", ".join(given)
