"""The well-shaped part of a document, so that its other faults are found in the same run."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from bayplan.collect.native.schema import SNAPSHOT
from bayplan.collect.shape import shape_faults
from bayplan.collect.subject import Path


class Salvage(NamedTuple):
    """A document without what has the wrong shape."""

    document: Mapping[str, Any]
    position: Mapping[str, Sequence[int]]  # list -> where each item that is left stood


def salvaged(document: Mapping[str, Any], places: Iterable[Path]) -> Salvage | None:
    """`document` without the items that hold a fault of shape at `places`; None if too little is left."""
    bad: dict[str, set[str | int]] = {}
    for path in places:
        if path:
            bad.setdefault(str(path[0]), set()).update(path[1:2])
    left = {key: value for key, value in document.items() if key in SNAPSHOT["properties"]}
    position: dict[str, list[int]] = {}
    for key, steps in bad.items():
        value = left.pop(key, None)
        if isinstance(value, list) and steps:
            position[key] = [index for index in range(len(value)) if index not in steps]
            left[key] = [value[index] for index in position[key]]
        elif isinstance(value, dict) and steps and key != "objective":
            left[key] = {name: member for name, member in value.items() if name not in steps}
    return None if shape_faults(left, SNAPSHOT) else Salvage(left, position)
