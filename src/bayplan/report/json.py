"""The one JSON object that each command writes to stdout with `--json`."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

from bayplan.model import Placement, Result
from bayplan.score.summary import Summary

JsonObject = dict[str, Any]


def to_json(value: object) -> str:
    """One line of strict JSON: numpy and dataclasses become plain values, nan and infinity null, keys keep their order."""
    return json.dumps(plain(value), ensure_ascii=False, allow_nan=False)


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


def show_object(summary: Summary) -> JsonObject:
    """What `show` says: the summary, key by key."""
    return dict(plain(summary))


def check_object(name: str, violations: Iterable[object]) -> JsonObject:
    """What `check` says: `valid`, and every broken rule with its sentence."""
    broken = [_violation(violation) for violation in violations]
    return {"name": name, "valid": not broken, "broken": len(broken), "violations": broken}


def explain_object(explanation: object) -> JsonObject:
    """What `explain` says, key by key, and its sentences under `text`."""
    body = plain(explanation) if is_dataclass(explanation) else {}
    return {**body, "text": str(explanation)} if type(explanation).__str__ is not object.__str__ else dict(body)


def decision_object(
    result: Result[Placement], *, method: str, seed: int | None = None, before: Placement | None = None, maximise: bool = False
) -> JsonObject:
    """What every decision says. `gap` is |bound - total| / |total|, null where either is not known or total is 0."""
    after = result.solution
    return {
        "method": method,
        "status": str(result.status),
        "score": plain(result.score),
        "bound": plain(result.bound),
        "gap": plain(gap(result, maximise=maximise)),
        "seconds": plain(result.seconds),
        "seed": seed,
        "placed": 0 if after is None else int(after.placed.size),
        "moved": 0 if after is None or before is None else int(after.moved_from(before).size),
        "left_out": [{"name": reason.subject, "reason": reason.text} for reason in result.reasons],
    }


def gap(result: Result[Any], *, maximise: bool = False) -> float | None:
    """How far the score may be from the best possible, relative to the score; None if nobody knows."""
    total = result.score.get("affinity" if maximise and "total" not in result.score else "total")
    if result.bound is None or total is None or not (math.isfinite(total) and math.isfinite(result.bound)):
        return None
    distance = result.bound - total if maximise else total - result.bound
    return abs(distance) / abs(total) if total else (0.0 if distance == 0 else None)


def _violation(violation: object) -> JsonObject:
    body = plain(violation)
    return {**body, "sentence": str(violation)} if isinstance(body, dict) else {"sentence": str(violation)}
