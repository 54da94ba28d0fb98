"""Goals of one's own, as TOML files.

name = "quiet-nights"
about = "few moves, and level machines"
balance = 1.0
local-traffic = 0.2
price = 2.0
max-moves = "5%"

[weights]
communication = 0.001
"""

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from bayplan.errors import Fault, InputError, ModelError, did_you_mean
from bayplan.formats.document.text import PathLike, read_text
from bayplan.model.goal import FREE_WEIGHTS, Goal

KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {  # of a goal's keys: types, and how they are called
    "name": ((str,), "a text"),
    "about": ((str,), "a text"),
    "safety": ((bool,), "true or false"),
    "local-traffic": ((int, float), "a number of 0 or more"),
    "balance": ((int, float), "a number of 0 or more"),
    "price": ((int, float), "a number of 0 or more"),
    "max-moves": ((str, int), 'a number of containers, or a share such as "5%"'),
    "empty-machines": ((bool,), "true or false"),
    "confidence": ((float,), "a probability between 0.5 and 1"),
    "spread": ((bool,), "true or false"),
    "weights": ((dict,), "a table of terms and numbers"),
}
assert {key.replace("-", "_") for key in KINDS} == {field.name for field in fields(Goal)}


def read_goal(path: PathLike) -> Goal:
    """The goal in a TOML file, called after the file if it has no name; InputError with all that is wrong with it."""
    source = os.fspath(path)
    document = _parsed(read_text(path), source)
    faults = list(_faults(document))
    if faults:
        raise InputError(source, faults)
    values: dict[str, Any] = {key.replace("-", "_"): value for key, value in document.items()}
    values.setdefault("name", Path(source).stem)
    if "max_moves" in values:
        values["max_moves"] = str(values["max_moves"])
    try:
        return Goal(**values)
    except ModelError as error:
        raise InputError(source, [Fault(code="E1522", kind="goal", name="", problem=str(error))]) from error


def _parsed(text: str, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        fault = Fault(code="E1013", kind="file", name="", problem="the TOML is malformed", value=str(error))
        raise InputError(source, [fault]) from error


def _faults(document: Mapping[str, Any]) -> Iterator[Fault]:
    for key, value in document.items():
        if key not in KINDS:
            expected = f"one of {', '.join(KINDS)}{did_you_mean(key, KINDS)}"
            yield Fault(code="E1108", kind="goal", name=key, problem="is not a key of a goal", expected=expected)
            continue
        types, expected = KINDS[key]
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            yield Fault(code="E1101", kind="goal", name=key, problem="has the wrong type", value=repr(value), expected=expected)
    weights = document.get("weights", {})
    for term, value in weights.items() if isinstance(weights, dict) else ():
        known = sorted(FREE_WEIGHTS)
        if term not in known:
            expected = f"one of {', '.join(known)}{did_you_mean(term, known)}"
            yield Fault(code="E1109", kind="weight", name=term, problem="is not a term that can be weighed", expected=expected)
        elif isinstance(value, bool) or not isinstance(value, int | float):
            expected = "a number of 0 or more"
            yield Fault(
                code="E1101", kind="weight", name=term, problem="has the wrong type", value=repr(value), expected=expected
            )
