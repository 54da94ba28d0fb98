"""JSON and YAML text -> document, with nothing dropped: no double keys, no NaN, no endless numbers.

Of YAML only the values of JSON are understood: `no` is a string, 12:30 is a string, a date is a string.
"""

import json
import math
import re
import sys
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import yaml

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


DEEPEST = 100  # levels
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml where PyYAML was built with it: ten times faster


class PlainLoader(_Loader):  # type: ignore[misc,valid-type]  # the base is chosen at run time
    """Resolves null, true, false, whole and decimal numbers; all else is a string, and so is every key."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012  # PyYAML's own shape
    yaml_constructors: dict[str | None, Any] = {}  # noqa: RUF012
    doubles: list[Fault]

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """The mapping; a key that comes twice is noted in `doubles`."""
        pairs = [(self._key(key), self.construct_object(value, deep=deep)) for key, value in node.value]
        mapping: dict[Hashable, Any] = dict(pairs)
        if len(mapping) != len(pairs):
            self.doubles.extend(double_key_faults(pairs))
        return mapping

    def _key(self, node: yaml.Node) -> str:
        if not isinstance(node, yaml.ScalarNode):
            raise yaml.constructor.ConstructorError(None, None, "a key is not a plain word", node.start_mark)
        if node.value == "<<" and node.style not in ("'", '"'):
            problem = "merge keys (<<) are not supported: write the keys out"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
        return str(node.value)


def _number(kind: type[int] | type[float]) -> Callable[[PlainLoader, yaml.ScalarNode], int | float]:
    def construct(loader: PlainLoader, node: yaml.ScalarNode) -> int | float:
        text = str(node.value)
        try:
            return int(text) if kind is int else NotFinite(text) if "n" in text.lower() else decimal(text)
        except ValueError as error:
            if len(text) > sys.get_int_max_str_digits():
                raise  # said as a number of too many digits
            raise yaml.constructor.ConstructorError(None, None, f"not a number: {node.value}", node.start_mark) from error

    return construct


def _truth(loader: PlainLoader, node: yaml.ScalarNode) -> bool:
    if node.value.lower() not in ("true", "false"):
        raise yaml.constructor.ConstructorError(None, None, f"not true or false: {node.value}", node.start_mark)
    return bool(node.value.lower() == "true")


def _tagged(loader: PlainLoader, node: yaml.Node) -> Any:
    problem = f"the tag '{node.tag}' is not supported: write the value alone"
    raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)


TAG = "tag:yaml.org,2002:"
PLAIN = {  # tag: (constructor, implicit pattern, first letters)
    "null": (_Loader.construct_yaml_null, "~|null|Null|NULL|", ["~", "n", "N", ""]),
    "bool": (_truth, "true|True|TRUE|false|False|FALSE", list("tTfF")),
    "int": (_number(int), "[-+]?(?:0|[1-9][0-9]*)", list("-+0123456789")),
    "float": (
        _number(float),
        r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        list("-+.0123456789"),
    ),
    "str": (_Loader.construct_yaml_str, None, None),
    "seq": (_Loader.construct_yaml_seq, None, None),
    "map": (_Loader.construct_yaml_map, None, None),
}
PlainLoader.yaml_constructors[None] = _tagged
for tag, (constructor, pattern, first) in PLAIN.items():
    PlainLoader.yaml_constructors[TAG + tag] = constructor
    if pattern is not None:
        PlainLoader.add_implicit_resolver(TAG + tag, re.compile(f"(?:{pattern})$"), first)


def parse_yaml(text: str, source: str) -> object:
    """The document of a YAML text; InputError with a line and column if it is none."""
    try:
        if _may_be_deep(text) and _is_deep(text):
            raise InputError(source, [too_deep(source)])
        loader = PlainLoader(text)
        loader.doubles = []
        try:
            document: object = loader.get_single_data()
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise InputError(source, [_broken(error, text, source)]) from None
    except RecursionError:
        raise InputError(source, [too_deep(source)]) from None
    except ValueError:
        raise InputError(source, [too_long(text, source)]) from None
    if loader.doubles:
        raise InputError(source, loader.doubles + non_finite_faults(document))
    return document


def _broken(error: yaml.YAMLError, text: str, source: str) -> Fault:
    mark = getattr(error, "problem_mark", None)
    if mark is not None and _is_tab(text, mark):
        problem, expected = f"line {mark.line + 1}: a tab indents this line, which YAML does not allow", "spaces instead of tabs"
        return Fault(code="E1007", kind="file", name=source, problem=problem, expected=expected)
    where = f"line {mark.line + 1} column {mark.column + 1}: " if mark is not None else ""
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    if "exceeded max" in str(error).lower() or "nesting" in str(error).lower():
        return too_deep(source)
    return Fault(code="E1007", kind="file", name=source, problem=f"{where}{problem}", expected="complete YAML")


def _is_tab(text: str, mark: yaml.Mark) -> bool:
    """Is there a tab where reading ended?"""
    line = "".join(text.split("\n")[mark.line : mark.line + 1])
    return line[mark.column : mark.column + 1] == "\t"


def _may_be_deep(text: str) -> bool:
    """A quick look that never misses: open brackets, and the indentation of blocks (a list may stand under its key)."""
    change = np.zeros(256, dtype=np.int64)
    change[[ord("["), ord("{")]], change[[ord("]"), ord("}")]] = 1, -1
    brackets = np.cumsum(change[np.frombuffer(text.encode(), dtype=np.uint8)])
    indent = max((len(match) for match in re.findall(r"^[ ?:-]+", text, flags=re.MULTILINE)), default=0)
    return bool(brackets.max(initial=0) + 2 * indent > DEEPEST)


def _is_deep(text: str) -> bool:
    """Looked at by events, without recursion: libyaml's composer ends the process at some thousand levels."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            return True
    return False
