"""YAML text -> document, with the values of JSON only: `no` is a string, 12:30 is a string, a date is a string."""

import re
import sys
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import yaml

from bayplan.errors import Fault, InputError
from bayplan.formats.document.json_text import decimal, double_key_faults, too_deep, too_long
from bayplan.formats.document.location import NotFinite, non_finite_faults

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
