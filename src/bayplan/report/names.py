"""Names from files, fit to be shown: without control characters, and short enough but still told apart."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any

from bayplan.model import Cluster

# What moves the cursor, rings, colours or turns the writing round; halves of characters, which no file can hold.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_BREAKS = "-._/: "  # where a name may be cut
_KEPT = 4  # characters to keep of what all names share, where it has no break


def printable(text: object, keep: str = "") -> str:
    r"""`text` with control characters written out (`\x1b`, `\n`), except those of `keep`: safe for a terminal."""
    return _UNPRINTABLE.sub(lambda found: found[0] if found[0] in keep else _written(found[0]), str(text))


def _written(character: str) -> str:
    code = ord(character)
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")


def printable_fields(value: Any) -> Any:
    """A dataclass (or tuple or mapping) whose texts are printable, all the way down; its own words then are, too."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, tuple):
        return tuple(printable_fields(item) for item in value)
    if isinstance(value, Mapping):
        return {printable_fields(key): printable_fields(item) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{field.name: printable_fields(getattr(value, field.name)) for field in fields(value)})
    return value


def name_of(cluster: Cluster) -> str:
    """The cluster's name, or 'cluster'."""
    return cluster.name.strip() or "cluster"


def elided(name: str, most: int) -> str:
    """`name`, or its two ends and an ellipsis between them, in `most` characters; what cannot be printed is written out."""
    name = printable(name)
    if len(name) <= most:
        return name
    tail = max(0, (most - 1) // 2)
    return f"{name[: max(1, most - 1 - tail)]}…{name[len(name) - tail :]}"


def told_apart(names: Sequence[str], most: int) -> list[str]:
    """The names in `most` characters each: what all have in common at the ends goes first, then the middle.

    Names that all fit stay as they are. What cannot be printed is written out before it is measured.
    """
    names = [printable(name) for name in names]
    if all(len(name) <= most for name in names):
        return names
    head, tail = _common(names) if len(set(names)) > 1 else (0, 0)
    cut = (f"{'…' if head else ''}{name[head : len(name) - tail]}{'…' if tail else ''}" for name in names)
    return [elided(short, most) if len(name) > most else name for name, short in zip(names, cut, strict=True)]


def _common(names: Sequence[str]) -> tuple[int, int]:
    """How many characters all names share at the beginning and at the end, up to a break if there is one."""
    head = _shared(names)
    return head, _shared([name[head:][::-1] for name in names])


def _shared(names: Sequence[str]) -> int:
    first, last = min(names), max(names)  # what these two begin with, all do
    common = next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    at_breaks = [k + 1 for k in range(common) if first[k] in _BREAKS]
    return at_breaks[-1] if at_breaks else common - _KEPT if common > 2 * _KEPT else 0
