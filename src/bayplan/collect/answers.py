"""Files with the answers of `schedule` and `admit`: who is served where, who is accepted where."""

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any, cast

from bayplan.collect.schemas import schema
from bayplan.collect.shape import shape_faults
from bayplan.collect.text import write_text_atomically
from bayplan.errors import Fault, InputError
from bayplan.model import Admission, TimedRequests


def read_served(document: object, requests: TimedRequests, source: str) -> dict[str, str]:
    """Request -> machine; who is not named is not served. Machines are alike, so any name will do."""
    faults = shape_faults(document, schema("served"))
    if not faults:
        known = set(requests.name)
        faults = [_no_request(name, len(known)) for name in cast(dict[str, Any], document)["served"] if name not in known]
    if faults:
        raise InputError(source, faults)
    return dict(cast(dict[str, Any], document)["served"])


def write_served(path: str | os.PathLike[str], served: Mapping[str, str]) -> None:
    """Write a file that `read_served` reads back."""
    write_text_atomically(path, json.dumps({"served": dict(served)}, indent=1) + "\n")


def read_accepted(document: object, admission: Admission, source: str) -> dict[str, dict[str, str]]:
    """Request -> member -> zone; who is not named is refused."""
    faults = shape_faults(document, schema("accepted"))
    if not faults:
        faults = list(_accepted_faults(cast(dict[str, Any], document)["accepted"], admission))
    if faults:
        raise InputError(source, faults)
    return {name: dict(zones) for name, zones in cast(dict[str, Any], document)["accepted"].items()}


def write_accepted(path: str | os.PathLike[str], accepted: Mapping[str, Mapping[str, str]]) -> None:
    """Write a file that `read_accepted` reads back, one line per request."""
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(dict(zones))}" for name, zones in accepted.items())
    write_text_atomically(path, '{\n "accepted": {\n' + lines + "\n }\n}\n")


def _accepted_faults(accepted: Mapping[str, Mapping[str, str]], admission: Admission) -> Iterator[Fault]:
    members = {request.name: request.members for request in admission.requests}
    zones = set(admission.zones.name)
    for name, placed in accepted.items():
        if name not in members:
            yield _no_request(name, len(members))
            continue
        for member, zone in placed.items():
            if member not in members[name]:
                yield _wrong(name, "places a member that it does not have", member, f"one of {', '.join(members[name])}")
            if zone not in zones:
                yield _wrong(name, "names a zone that does not exist", zone, f"one of the {len(zones)} zones")
        for member in members[name]:
            if member not in placed:
                yield _wrong(name, "leaves a member without a zone", member, "a zone for every member")


def _no_request(name: str, count: int) -> Fault:
    problem, expected = "is answered for but does not exist", f"one of the {count} requests"
    return Fault(code="E1513", kind="request", name=name, problem=problem, expected=expected)


def _wrong(name: str, problem: str, value: str, expected: str) -> Fault:
    return Fault(code="E1514", kind="request", name=name, problem=problem, value=value, expected=expected)
