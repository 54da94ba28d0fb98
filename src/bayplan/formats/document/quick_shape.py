"""Does a document have the shape of a schema? Yes or no, a column at a time: a million values in a second or two.

All values that stand at one place of the schema are tested together: the names of all machines, the amounts of all requests.
`shape` walks through the document value by value and says what is wrong where; it is asked only if the answer here is no.
"""

import math
import re
from collections.abc import Collection, Iterable, Mapping
from itertools import chain
from typing import Any, TypeAlias

from bayplan.formats.document.location import NotFinite
from bayplan.formats.document.schemas import PLAIN_NAME, all_plain

Schema: TypeAlias = Mapping[str, Any]

TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float, NotFinite),
    "boolean": (bool,),
    "null": (type(None),),
}
LONGEST = 10**300  # no float holds much more


def allowed_types(schema: Schema) -> tuple[type, ...]:
    """The types of Python that a schema with a `type` asks for."""
    names = schema["type"]
    if isinstance(names, str):
        return TYPES[names]
    return tuple(t for name in names for t in TYPES[name])


def fits(document: object, schema: Schema) -> bool:
    """Would the walk through the document find nothing? Never True where it would find something."""
    return _Columns(schema).fit([document], schema)


class _Columns:
    """Tests columns of values, with the schema's definitions at hand."""

    def __init__(self, root: Schema) -> None:
        self.root = root

    def resolved(self, schema: Schema) -> Schema:
        while "$ref" in schema:
            schema = self.root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
        return schema

    def fit(self, values: Collection[Any], schema: Schema) -> bool:
        """Do all of these values fit?"""
        if not values:
            return True
        schema = self.resolved(schema)
        options = schema.get("anyOf", schema.get("oneOf"))
        if options:
            return self.fit_one_of(values, [self.resolved(option) for option in options])
        kinds = set(map(type, values))
        if "type" not in schema:
            return schema.keys() <= {"description"}
        if not kinds <= set(allowed_types(schema)):
            return False
        if kinds & {dict, list} and len(kinds) > 1:  # an object or null, say
            return all(self.fit([value for value in values if type(value) is kind], schema) for kind in kinds)
        if dict in kinds:
            return self.fit_objects(values, schema)
        return self.fit_lists(values, schema) if list in kinds else fit_scalars(values, schema, kinds)

    def fit_one_of(self, values: Collection[Any], options: list[Schema]) -> bool:
        """Options are told apart by type, and objects by a `const` member."""
        for kind in set(map(type, values)):
            same: list[Any] = [value for value in values if type(value) is kind]
            fitting = [option for option in options if kind in allowed_types(option)]
            if not fitting:
                return False
            if len(fitting) > 1 and kind is dict:
                if not self.fit_by_const(same, fitting):
                    return False
            elif not self.fit(same, fitting[0]):
                return False
        return True

    def fit_by_const(self, objects: list[dict[str, Any]], options: list[Schema]) -> bool:
        key = next(name for name, member in options[0]["properties"].items() if "const" in member)
        table = {option["properties"][key]["const"]: option for option in options}
        told = [value.get(key) for value in objects]
        if set(map(type, told)) != {str} or not set(told) <= table.keys():
            return False
        return all(
            self.fit([o for o, word in zip(objects, told, strict=True) if word == kind], table[kind]) for kind in set(told)
        )

    def fit_objects(self, objects: Collection[dict[str, Any]], schema: Schema) -> bool:
        known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
        if min(map(len, objects)) < schema.get("minProperties", 0):
            return False
        keys = set(chain.from_iterable(objects))
        if "propertyNames" in schema and not all_plain(list(keys)):
            return False
        for key in schema.get("required", ()):
            if not all(key in value for value in objects):
                return False
        unknown = keys - known.keys()
        if unknown and others is False:
            return False
        for key in keys & known.keys():
            if not self.fit([value[key] for value in objects if key in value], known[key]):
                return False
        if not unknown or others is True:
            return True
        rest = ([member for key, member in value.items() if key in unknown] for value in objects)
        return self.fit(list(chain.from_iterable(rest)), others)

    def fit_lists(self, lists: Collection[list[Any]], schema: Schema) -> bool:
        lengths = set(map(len, lists))
        if min(lengths) < schema.get("minItems", 0) or max(lengths) > schema.get("maxItems", math.inf):
            return False
        first: list[Schema] = schema.get("prefixItems", [])
        for place, item in enumerate(first):
            if not self.fit([value[place] for value in lists if place < len(value)], item):
                return False
        if not isinstance(schema.get("items"), Mapping):
            return True
        return self.fit(list(chain.from_iterable(value[len(first) :] if first else value for value in lists)), schema["items"])


def fit_scalars(values: Collection[Any], schema: Schema, kinds: set[type]) -> bool:
    """Are these texts, numbers, booleans and nulls what a schema asks for? Equal ones are tested once."""
    if NotFinite in kinds:
        return False
    if not schema.keys() - {"type", "description"} and not kinds & {int, float}:
        return True
    distinct = set(values) if kinds <= {str, int} else values
    if "const" in schema and not all(value == schema["const"] for value in distinct):
        return False
    if "enum" in schema and not all(value in schema["enum"] for value in distinct):
        return False
    if kinds & {int, float} and not _fit_numbers([value for value in distinct if type(value) in (int, float)], schema):
        return False
    return str not in kinds or _fit_texts([value for value in distinct if type(value) is str], schema)


def _fit_numbers(numbers: Iterable[float], schema: Schema) -> bool:
    if not all(type(number) is int or math.isfinite(number) for number in numbers):
        return False
    low, high = min(numbers), max(numbers)
    if low < schema.get("minimum", -LONGEST) or high > schema.get("maximum", LONGEST) or not -LONGEST <= low <= high <= LONGEST:
        return False
    return bool(low > schema.get("exclusiveMinimum", -math.inf) and high < schema.get("exclusiveMaximum", math.inf))


def _fit_texts(texts: list[str], schema: Schema) -> bool:
    pattern = schema.get("pattern")
    if min(map(len, texts)) < schema.get("minLength", 0):
        return False
    if pattern == PLAIN_NAME:
        return all_plain([text or "-" for text in texts])
    return pattern is None or all(map(re.compile(pattern).search, texts))
