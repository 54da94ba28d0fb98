"""A value that a schema accepts, to stand for one that it does not while the rest of the document is read."""

from collections.abc import Callable, Mapping
from typing import Any, Final

NOTHING: Final = object()  # no value can stand there: what holds it is left out


def filler(schema: Mapping[str, Any], resolved: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Any:
    """null, the least number, or an empty object or list; NOTHING where only the user knows: names, choices."""
    schema = resolved(schema)
    for option in schema.get("anyOf", ()):
        if (value := filler(option, resolved)) is not NOTHING:
            return value
    kinds = {schema.get("type")} if isinstance(schema.get("type"), str) else set(schema.get("type", ()))
    if "null" in kinds:
        return None
    if kinds & {"number", "integer"} and not schema.keys() & {"const", "enum"}:
        return _least(schema)
    if "object" in kinds and not schema.keys() & {"required", "minProperties"}:
        return {}
    return [] if "array" in kinds and not schema.get("minItems") else NOTHING


def _least(schema: Mapping[str, Any]) -> float:
    if "minimum" in schema:
        least: float = schema["minimum"]
        return least
    if "exclusiveMaximum" in schema:
        middle: float = (schema.get("exclusiveMinimum", 0) + schema["exclusiveMaximum"]) / 2
        return middle
    return 1
