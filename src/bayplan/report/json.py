"""The one JSON object that each command writes to stdout with `--json`."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

from bayplan.model import Result
from bayplan.report.table import Table
from bayplan.score.summary import Summary

_UNSAFE = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")  # they only occur inside of strings
JsonObject = dict[str, Any]


def to_json(value: object) -> str:
    """One line of strict JSON: numpy and dataclasses become plain values, nan and infinity null, keys keep their order.

    Control characters are escaped, those beyond ASCII and halves of characters too: the line may go to a terminal.
    """
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(plain(value), ensure_ascii=False, allow_nan=False))


def plain(value: object) -> Any:
    """`value` in the types of JSON."""
    if isinstance(value, Enum):
        return plain(value.value)
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, np.integer, np.bool_)):
        return value.item() if isinstance(value, np.generic) else value
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(item) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, (set, frozenset)):
        return sorted(plain(item) for item in value)
    if isinstance(value, Iterable):
        return [plain(item) for item in value]
    return str(value)


def records(table: Table) -> list[JsonObject]:
    """One object per row: the raw numbers, the text where there is none; null for a number that is not known."""
    keys = [column.json_key for column in table.columns]
    return [
        {
            key: plain(cell.value) if column.numeric else cell.text
            for key, column, cell in zip(keys, table.columns, row, strict=True)
        }
        for row in table.rows
    ]


def show_object(summary: Summary) -> JsonObject:
    """What `show` says: the summary, key by key."""
    return dict(plain(summary))


def check_object(summary: Summary, violations: Iterable[object]) -> JsonObject:
    """What `check` says: `valid`, the scores, and every violation with its sentence."""
    listed = [_violation(violation) for violation in violations]
    return {
        "name": summary.name,
        "valid": not listed,
        "broken": len(listed),
        "score": plain(summary.score),
        "violations": listed,
    }


def explain_object(explanation: object) -> JsonObject:
    """What `explain` says, key by key, and its sentences under `text`."""
    body = plain(explanation) if is_dataclass(explanation) else {}
    return {**body, "text": str(explanation)} if type(explanation).__str__ is not object.__str__ else dict(body)


def decision_object(result: Result[Any], *, method: str, seed: int | None = None, placed: int = 0, moved: int = 0) -> JsonObject:
    """What every decision says; `placed` and `moved` (or served, accepted) are the caller's counts."""
    return {
        "method": method,
        "status": str(result.status),
        "score": plain(result.score),
        "bound": plain(result.bound),
        "gap": plain(result.gap),
        "seconds": plain(result.seconds),
        "seed": seed,
        "placed": placed,
        "moved": moved,
        "left_out": [{"name": reason.subject, "reason": reason.text} for reason in result.left_out],
    }


def _violation(violation: object) -> JsonObject:
    body = plain(violation)
    return {**body, "sentence": str(violation)} if isinstance(body, dict) else {"sentence": str(violation)}
