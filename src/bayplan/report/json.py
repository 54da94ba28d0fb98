"""The one JSON object that each command writes to stdout with `--json`."""

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

from bayplan.report.table import Table

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


def explain_object(explanation: object) -> JsonObject:
    """What `explain` says, key by key, and its sentences under `text`."""
    body = plain(explanation) if is_dataclass(explanation) else {}
    return {**body, "text": str(explanation)} if type(explanation).__str__ is not object.__str__ else dict(body)
