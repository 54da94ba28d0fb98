"""Files with the answers of `schedule` and `admit`: who is served where, who is accepted where.

The machines of a schedule are all alike and have no names of their own: they are m0, m1, ...
"""

import json
import os
import re
from collections.abc import Iterator, Mapping

import numpy as np

from bayplan.errors import Fault, InputError
from bayplan.formats.document.naming import one_of_known
from bayplan.formats.document.salvage import well_shaped
from bayplan.formats.document.schemas import schema
from bayplan.formats.document.text import write_text_atomically
from bayplan.model import UNPLACED, Acceptance, ClusterRequest, ClusterRequests, IntArray, Schedule, TimedRequests, ints

MACHINE = re.compile(r"m(0|[1-9][0-9]{0,8})")


def read_served(document: object, requests: TimedRequests, source: str) -> Schedule:
    """The machine of each request; who is not named is not served."""
    faults, part = well_shaped(document, schema("served"))
    index = {name: j for j, name in enumerate(requests.name)}
    served: dict[str, str] = part.document["served"] if part else {}
    faults += _served_faults(served, index)
    if faults:
        raise InputError(source, faults)
    machine_of = np.full(len(index), UNPLACED, dtype=np.int64)
    for name, machine in served.items():
        machine_of[index[name]] = int(machine[1:])
    return Schedule(machine_of=ints(machine_of))


def write_served(path: str | os.PathLike[str], schedule: Schedule, requests: TimedRequests) -> None:
    """Write a file that `read_served` reads back as the same schedule."""
    served = {requests.name[j]: f"m{schedule.machine_of[j]}" for j in schedule.served.tolist()}
    write_text_atomically(path, json.dumps({"served": served}, indent=1) + "\n")


def read_accepted(document: object, admission: ClusterRequests, source: str) -> Acceptance:
    """The zones of each request's members; who is not named is refused."""
    faults, part = well_shaped(document, schema("accepted"))
    accepted: dict[str, dict[str, str]] = part.document["accepted"] if part else {}
    faults += _accepted_faults(accepted, admission)
    if faults:
        raise InputError(source, faults)
    zone = {name: z for z, name in enumerate(admission.zones.name)}
    return Acceptance(zone_of=tuple(_zones(request, accepted.get(request.name), zone) for request in admission.requests))


def write_accepted(path: str | os.PathLike[str], acceptance: Acceptance, admission: ClusterRequests) -> None:
    """Write a file that `read_accepted` reads back as the same acceptance, one line per request."""
    zone, lines = admission.zones.name, []
    for request, zones in zip(admission.requests, acceptance.zone_of, strict=True):
        if zones is not None:
            placed = {member: zone[z] for member, z in zip(request.members, zones.tolist(), strict=True)}
            lines.append(f"  {json.dumps(request.name)}: {json.dumps(placed)}")
    write_text_atomically(path, '{\n "accepted": {\n' + ",\n".join(lines) + "\n }\n}\n")


def _zones(request: ClusterRequest, placed: Mapping[str, str] | None, zone: Mapping[str, int]) -> IntArray | None:
    return None if placed is None else ints([zone[placed[member]] for member in request.members])


def _served_faults(served: Mapping[str, str], known: Mapping[str, int]) -> Iterator[Fault]:
    for name, machine in served.items():
        if name not in known:
            yield _no_request(name, len(known))
        if not MACHINE.fullmatch(machine):
            yield _wrong(name, "names a machine that cannot be", machine, "m0, m1, ...")


def _accepted_faults(accepted: Mapping[str, Mapping[str, str]], admission: ClusterRequests) -> Iterator[Fault]:
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
                yield _wrong(name, "names a zone that does not exist", zone, one_of_known("zone", admission.zones.name))
        for member in members[name]:
            if member not in placed:
                yield _wrong(name, "leaves a member without a zone", member, "a zone for every member")


def _no_request(name: str, count: int) -> Fault:
    problem, expected = "is answered for but does not exist", f"one of the {count} requests"
    return Fault(code="E1513", kind="request", name=name, problem=problem, expected=expected)


def _wrong(name: str, problem: str, value: str, expected: str) -> Fault:
    return Fault(code="E1514", kind="request", name=name, problem=problem, value=value, expected=expected)
