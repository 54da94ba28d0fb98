"""The published JSON Schemas as they stand in the package, placeholders that they accept, and what names may hold."""

import json
from collections.abc import Callable, Collection, Mapping
from functools import cache
from importlib import resources
from typing import Any, Final

from bayplan.errors import CONTROL, did_you_mean
from bayplan.words import plural

# For JSON Schema. A lookahead, because `$` would let a line end pass at the end of a name.
PLAIN_NAME = r"^(?![\s\S]*[\u0000-\u001f\u007f-\u009f\u2028\u2029])"
MOST_HINTS, MOST_NAMES = 20, 20_000
FEW = 6  # known names that are all said
LONG = 40  # letters of a name that are said


def one_of_known(kind: str, known: Collection[str]) -> str:
    """'one of 'rack', 'zone'', or how many there are if they are many."""
    if not known:
        return f"no {kind}, for there is none"
    if len(known) > FEW:
        return f"one of the {len(known)} {plural(kind)}"
    words = [f"'{name if len(name) <= LONG else name[: LONG - 3] + '...'}'" for name in known]
    return f"one of {', '.join(words)}" if len(words) > 1 else f"{words[0]}, the only {kind}"


class Hints:
    """The nearest known name for the first unknown ones: looking for it is slow, so not for thousands of faults."""

    def __init__(self) -> None:
        self.left = MOST_HINTS

    def __call__(self, name: str, known: Collection[str]) -> str:
        """As `did_you_mean`; nothing after MOST_HINTS names, or among more than MOST_NAMES."""
        self.left -= 1
        return did_you_mean(name, known) if self.left >= 0 and len(known) <= MOST_NAMES else ""


def all_plain(names: list[str]) -> bool:
    """Is none of these names empty, and none with a control character? A quick answer for long lists."""
    return "" not in names and not CONTROL.search("".join(names))


@cache
def schema(name: str) -> dict[str, Any]:
    """The schema called `name`: 'rasa', 'requests', ..."""
    text = resources.files("bayplan.formats.document").joinpath("schema", f"{name}.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


NOTHING: Final = object()  # no value can stand there: what holds it is left out


def placeholder(schema: Mapping[str, Any], resolved: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> Any:
    """null, the least number, or an empty object or list; NOTHING where only the user knows: names, choices."""
    schema = resolved(schema)
    for option in schema.get("anyOf", ()):
        if (value := placeholder(option, resolved)) is not NOTHING:
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
