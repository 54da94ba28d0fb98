"""Does a document have the shape that a JSON Schema asks for? All faults at once, in words.

The schemas are the published ones: what is checked is what is printed. Of JSON Schema this knows: type,
properties, required, additionalProperties, items, prefixItems, minItems, maxItems, minLength, minProperties,
enum, const, minimum, exclusiveMinimum, maximum, exclusiveMaximum, pattern (of quantities), anyOf and oneOf (told
apart by type, or by a `const` member), and $ref into $defs. Stricter in one point: 3.0 is not an integer.
"""

import difflib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from bayplan.collect.subject import Path, fault_at, shown
from bayplan.errors import Fault

Schema: TypeAlias = Mapping[str, Any]
Report: TypeAlias = Callable[..., None]  # (path, code, problem, value=, expected=)

TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
FAR = 2**53  # a bound beyond this is not worth saying to somebody who is below it
LONGEST = 10**300  # no float holds much more
WORDS = {"object": "an object", "array": "a list", "string": "a string", "integer": "a whole number", "number": "a number"}
WORDS |= {"boolean": "true or false", "null": "null"}


def shape_faults(document: object, schema: Schema) -> list[Fault]:
    """Every way in which the document is not what the schema asks for."""
    return [fault for _, fault in misshapen(document, schema)]


def misshapen(document: object, schema: Schema) -> list[tuple[Path, Fault]]:
    """Every place where the document is not what the schema asks for, with its fault.

    An unknown key is a place of its own, though the fault is about the object that has it.
    """
    faults: list[tuple[Path, Fault]] = []

    def report(path: Path, code: str, problem: str, *, key: Path = (), **more: Any) -> None:
        faults.append(((*path, *key), fault_at(document, path, code, problem, **more)))

    _Walk(schema, report).check(document, schema, ())
    return faults


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """'; did you mean 'cpu'?', or nothing if no known word is close."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean '{close[0]}'?" if close else ""


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

    def __init__(self, root: Schema, report: Report) -> None:
        self.root, self.report = root, report
        self.known: dict[int, _Facts] = {}  # by the identity of the schema, which outlives the walk

    def check(self, value: Any, schema: Schema, path: Path) -> None:
        facts = self.known.get(id(schema)) or self.learn(schema)
        schema = facts.schema
        if facts.choices:
            branch = self.branch(value, facts.choices, path)
            if branch is not None:
                self.check(value, branch, path)
        elif facts.allowed and type(value) not in facts.allowed:
            self.report(path, "E1101", f"must be {_either(facts.allowed)}")
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
        allowed = _allowed(whole) if "type" in whole else ()
        plain = whole.keys() <= {"type", "description"} and set(allowed) <= {str, bool, type(None)}
        facts = self.known[id(schema)] = _Facts(whole, choices, allowed, plain)
        return facts

    def resolved(self, schema: Schema) -> Schema:
        while "$ref" in schema:
            schema = self.root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
        return schema

    def branch(self, value: Any, options: list[Schema], path: Path) -> Schema | None:
        """The one option that the value means; None, and a fault, if it means none."""
        fitting = [option for option in options if type(value) in _allowed(option)]
        if len(fitting) > 1 and type(value) is dict:
            return self.branch_by_const(value, fitting, path)
        if not fitting:
            self.report(path, "E1101", f"must be {_either([t for option in options for t in _allowed(option)])}")
        return fitting[0] if fitting else None

    def branch_by_const(self, value: dict[str, Any], options: list[Schema], path: Path) -> Schema | None:
        key = next(name for name, member in options[0]["properties"].items() if "const" in member)
        table = {option["properties"][key]["const"]: option for option in options}
        told = value.get(key)
        if key not in value:
            self.report(path, "E1107", f"'{key}' is missing", value="", expected=_one_of(table))
        elif not isinstance(told, str) or told not in table:
            self.report((*path, key), "E1109", "is not known", expected=_one_of(table) + did_you_mean(str(told), table))
        return table.get(told) if isinstance(told, str) else None

    def check_object(self, value: dict[str, Any], schema: Schema, path: Path) -> None:
        known = schema.get("properties", {})
        others = schema.get("additionalProperties", True)
        for key in schema.get("required", ()):
            if key not in value:
                self.report(path, "E1107", f"'{key}' is missing", value="")
        if len(value) < schema.get("minProperties", 0):
            self.report(path, "E1111", "is empty", expected="at least one entry")
        for key, member in value.items():
            if key in known:
                self.check(member, known[key], (*path, key))
            elif others is False:
                wanted = f"{_one_of(known)}{did_you_mean(key, known)}"
                self.report(path, "E1108", f"unknown key '{key}'", key=(key,), value=shown(member), expected=wanted)
            elif others is not True:
                self.check(member, others, (*path, key))

    def check_list(self, value: list[Any], schema: Schema, path: Path) -> None:
        few, many = schema.get("minItems", 0), schema.get("maxItems", math.inf)
        if not few <= len(value) <= many:
            wanted = f"exactly {few}" if few == many else f"at least {few}" if len(value) < few else f"at most {many}"
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
        if type(value) is str and len(value) < schema.get("minLength", 0):
            self.report(path, "E1111", "is empty", expected="a text")
        if type(value) is str and "pattern" in schema and not re.search(schema["pattern"], value):
            self.report(path, "E1104", "is not a quantity", expected="a number such as 2, 500m, 1.5Gi, 1e3")
        if type(value) is float and not math.isfinite(value):
            self.report(path, "E1103", "is not finite", expected="a finite number")
        elif type(value) is int and abs(value) > LONGEST:
            self.report(path, "E1112", "has too many digits", expected=f"at most {len(str(LONGEST))} digits")
        elif type(value) in (int, float) and (wanted := _outside(value, schema)):
            negative = value < 0 <= max(schema.get("minimum", -1), schema.get("exclusiveMinimum", -1))
            self.report(path, *(("E1102", "is negative") if negative else ("E1110", "is out of range")), expected=wanted)


def _allowed(schema: Schema) -> tuple[type, ...]:
    names = schema["type"]
    if isinstance(names, str):
        return TYPES[names]
    return tuple(t for name in names for t in TYPES[name])


def _all_plain(value: list[Any], item: Schema) -> bool:
    """Is this a list of nothing but the one type asked for? A quick answer for long lists of names."""
    return item.keys() <= {"type", "description"} and set(map(type, value)) <= set(_allowed(item)) - {float}


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


def _one_of(choices: Iterable[object]) -> str:
    given: Iterator[str] = map(str, choices)
    return "one of " + ", ".join(given)
