"""The changes of an admission: what is given, what it does to the live object, and the answer, all as plain JSON.

A change is applied to a live admission in two cases: when it is decided, and when the log is replayed. Both go through `apply`,
so a replay cannot differ.
"""

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import lru_cache
from typing import Any, NamedTuple

from bayplan.decide.admit import Admission, AdmissionDecision, PriceParameters
from bayplan.errors import Fault, InputError
from bayplan.formats.streams.entry import request_of
from bayplan.model import ClusterRequest

Given = Mapping[str, Any]
MOST_MEMBERS = 100  # of one request: the time of a decision grows with their square
LEAST_AHEAD, CELLS_AHEAD = (
    1000,
    2**22,
)  # slots that a request may reach ahead: every slot has a cell for each zone, resource and link


class GivenChange(NamedTuple):
    """A change as it was sent."""

    kind: str  # offer, release, advance
    given: Given
    text: str  # the same as JSON
    digest: str  # what is compared when a key comes again


def change_of(kind: str, given: Given) -> GivenChange:
    """A change; InputError if a number is not finite: no log could hold it."""
    try:
        text = encoded(given)
    except ValueError as error:
        problem, expected = "a number is NaN or infinite", "finite numbers"
        raise InputError(kind, [Fault(code="E1103", kind=kind, name="", problem=problem, expected=expected)]) from error
    return GivenChange(kind, given, text, hashlib.sha256(f"{kind} {text}".encode()).hexdigest()[:32])


def encoded(value: Any) -> str:
    """JSON in ASCII: every database keeps it as it is."""
    return json.dumps(value, separators=(",", ":"), sort_keys=True, allow_nan=False)


def complete(admission: Admission, change: GivenChange) -> GivenChange:
    """The change as it is logged: an offer without arrival arrives now."""
    if change.kind != "offer" or "arrival" in change.given or not math.isfinite(admission.now):
        return change
    given = {**change.given, "arrival": admission.now}
    return change._replace(given=given, text=encoded(given))


def apply(admission: Admission, kind: str, given: Given, base_units: bool) -> dict[str, Any]:
    """Change the admission; the outcome as plain data. InputError with numbered faults: then nothing has changed."""
    return _KINDS[kind](admission, given, base_units)


def expect_bearable(admission: Admission, change: GivenChange) -> None:
    """InputError if one offer would cost seconds or gigabytes. What was logged before is applied again in any case."""
    if change.kind == "offer":
        _expect_few_members(change.given)
        _expect_near_end(admission, change.given)


def _offer(admission: Admission, given: Given, base_units: bool) -> dict[str, Any]:
    request = request_of(given, admission.zones, base_units=base_units)
    return decision_data(admission, request, admission.offer(request))


def _release(admission: Admission, given: Given, base_units: bool) -> dict[str, Any]:
    admission.release(given["name"], given.get("at"))
    return {"released": given["name"], "now": _finite(admission.now)}


def _advance(admission: Admission, given: Given, base_units: bool) -> dict[str, Any]:
    admission.advance(given["time"])
    return {"now": _finite(admission.now)}


_KINDS: Mapping[str, Callable[[Admission, Given, bool], dict[str, Any]]] = {
    "offer": _offer,
    "release": _release,
    "advance": _advance,
}
SHAPES: Mapping[str, Mapping[str, tuple[type, ...]]] = {  # keys of the changes that are no requests; the first is needed
    "release": {"name": (str,), "at": (int, float)},
    "advance": {"time": (int, float)},
}


def expect_shape(kind: str, given: object) -> Given:
    """A release or an advance has the keys that it needs, of the right types, and no other."""
    shape = SHAPES[kind]
    faults = []
    if not isinstance(given, dict):
        raise InputError(kind, [_shape_fault("E1101", kind, "", "is no object", type(given).__name__, "an object")])
    needed = next(iter(shape))
    if needed not in given:
        faults.append(_shape_fault("E1107", kind, needed, "is missing", "", "it"))
    for name, value in given.items():
        if name not in shape:
            faults.append(_shape_fault("E1108", kind, name, "is not known", "", ", ".join(shape)))
        elif not isinstance(value, shape[name]) or isinstance(value, bool):
            kinds = "a text" if shape[name] == (str,) else "a number"
            faults.append(_shape_fault("E1101", kind, name, "has the wrong type", json.dumps(value)[:80], kinds))
    if faults:
        raise InputError(kind, faults)
    return given


def _shape_fault(code: str, kind: str, name: str, problem: str, value: str, expected: str) -> Fault:
    return Fault(
        code=code, kind=f"key of the {kind}" if name else kind, name=name[:80], problem=problem, value=value, expected=expected
    )


def decision_data(admission: Admission, request: ClusterRequest, decision: AdmissionDecision) -> dict[str, Any]:
    """A decision as plain data; numbers that are not finite are null."""
    zones = None
    if decision.zone is not None:
        places = [admission.zones.name[z] for z in decision.zone.tolist()]
        zones = dict(zip(request.members, places, strict=True))
    cause = decision.cause
    return {
        "name": decision.name,
        "accepted": decision.accepted,
        "zones": zones,
        "value": decision.value,
        "cost": _finite(decision.cost),
        "utility": _finite(decision.utility),
        "why": decision.why,
        "cause": cause and {"kind": str(cause.kind), "resource": cause.resource, "zone": cause.zone, "to": cause.to},
        "parameters": _parameters(decision.parameters),
        "now": _finite(admission.now),
    }


@lru_cache(maxsize=64)  # most decisions have those of the one before
def _parameters(parameters: PriceParameters) -> dict[str, Any]:
    return {name: _finite(value) for name, value in asdict(parameters).items()}


def same_outcome(logged: Mapping[str, Any], again: Mapping[str, Any]) -> bool:
    """Do two outcomes of one change agree? Words may differ between releases, what was decided may not."""
    return all(logged.get(key) == again.get(key) for key in ("accepted", "zones", "now", "released"))


def _expect_few_members(given: Given) -> None:
    members = given.get("members")
    if isinstance(members, list) and len(members) > MOST_MEMBERS:
        raise _too_much("E1110", given, "has too many members", str(len(members)), f"at most {MOST_MEMBERS}")


def _expect_near_end(admission: Admission, given: Given) -> None:
    """What is no number is said when the request is read."""
    cells = admission.zones.capacity.size + admission.zones.bandwidth.size
    ahead = max(LEAST_AHEAD, CELLS_AHEAD // max(1, cells))
    start, end = given.get("arrival", given.get("start")), given.get("end")
    if type(start) in (int, float) and type(end) in (int, float) and _is_beyond(end, start, ahead * admission.options.slot):
        raise _too_much("E2012", given, "the end is too far ahead", str(end)[:40], f"at most {ahead} slots after the arrival")


def _is_beyond(end: Any, start: Any, most: float) -> bool:
    try:
        return bool(end - start > most)
    except OverflowError:  # a whole number that is no float
        return True


def _too_much(code: str, given: Given, problem: str, value: str, expected: str) -> InputError:
    fault = Fault(code=code, kind="request", name=str(given.get("name")), problem=problem, value=value, expected=expected)
    return InputError("offer", [fault])


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
