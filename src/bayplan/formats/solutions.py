"""Files of solutions: a placement in the form of its input, a migration plan, a schedule, an acceptance.

The machines of a schedule are all alike and have no names of their own: they are m0, m1, ...
"""

import json
import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from bayplan.errors import Fault, InputError, UsageError, did_you_mean
from bayplan.formats.document.lines import document_of
from bayplan.formats.document.location import Path
from bayplan.formats.document.partial_document import PartialDocument, well_shaped
from bayplan.formats.document.schemas import Hints, one_of_known, schema
from bayplan.formats.document.text import PathLike, write_text_atomically
from bayplan.formats.files import write_placement
from bayplan.model import (
    UNPLACED,
    Acceptance,
    Action,
    Cluster,
    ClusterRequest,
    ClusterRequests,
    IntArray,
    Placement,
    Plan,
    Schedule,
    Snapshot,
    Step,
    TimedRequests,
    ints,
)
from bayplan.model.plan import Fingerprint, fingerprint

MADE_FOR = "made_for"  # the key of the state that a plan starts from
SHOWN = 10  # changes of that state that are named
NEW = "new"  # the key of containers that the cluster does not have yet, and their workloads
MACHINE = re.compile(r"m(0|[1-9][0-9]{0,8})")


def write_solution_of(value: object, of: object, path: PathLike) -> None:
    """Write a solution with what it is a solution of; UsageError if the two do not go together."""
    match value, of:
        case Placement(), Snapshot():
            write_solution(path, of, value)
        case Placement(), Cluster():
            write_placement(path, of, value)
        case Plan(), Snapshot():
            write_plan(path, value, of.cluster)
        case Plan(), Cluster():
            write_plan(path, value, of)
        case Schedule(), TimedRequests():
            write_served(path, value, of)
        case Acceptance(), ClusterRequests():
            write_accepted(path, value, of)
        case _:
            kind = type(value).__name__
            wanted = {"Schedule": "timed requests", "Acceptance": "cluster requests"}.get(kind, "snapshot or cluster")
            raise UsageError(f"a {kind} cannot be written alone: expected the {wanted} that it belongs to, as of=...")


def write_solution(path: PathLike, snapshot: Snapshot, placement: Placement) -> None:
    """Write a placement in the form that goes with the snapshot's file; `read_placement` reads it back.

    RASA: machine -> containers; GMRP: one line of machine numbers, UsageError if a process has none; else native.
    """
    if snapshot.format == "rasa":
        from bayplan.formats.rasa import rasa_solution_text

        write_text_atomically(path, rasa_solution_text(snapshot.cluster, placement))
    elif snapshot.format == "gmrp":
        from bayplan.formats.gmrp import gmrp_solution_text

        write_text_atomically(path, gmrp_solution_text(placement))
    else:
        write_placement(path, snapshot.cluster, placement)


# ---- migration plans ---------------------------------------------------------------------------------------------------------


def read_plan(path: PathLike, cluster: Cluster) -> Plan:
    """The migration plan in a file, for this cluster."""
    with document_of(path) as document:
        return plan_in(document, cluster, os.fspath(path))


def write_plan(
    path: PathLike,
    plan: Plan,
    cluster: Cluster,
    new: Mapping[str, str] | None = None,
    *,
    extra: Mapping[str, Any] | None = None,
) -> None:
    """Write a plan that `read_plan` reads back, with the state that it was made for.

    `new` says of which workload containers are that the input does not have; `extra` are further keys, which no reader needs.
    """
    state = {} if plan.made_for is None else {MADE_FOR: asdict(plan.made_for)}
    write_text_atomically(path, plan_text(plan, cluster, {**({NEW: new} if new else {}), **state, **(extra or {})}))


def plan_in(document: object, cluster: Cluster, source: str) -> Plan:
    """The plan of a document; InputError if a step names what the cluster does not have. Other keys are left alone."""
    container = {name: c for c, name in enumerate(cluster.containers.name)}
    machine = {name: m for m, name in enumerate(cluster.machines.name)}
    faults, part = well_shaped(document, schema("plan"), _step)
    if part is not None:
        faults += _plan_faults(part, container, machine)
    if faults or part is None:
        raise InputError(source, faults)
    return Plan(
        batches=tuple(
            tuple(Step(Action(step["action"]), container[step["container"]], machine[step["machine"]]) for step in batch)
            for batch in part.document["batches"]
        ),
        made_for=Fingerprint(**part.document[MADE_FOR]) if MADE_FOR in part.document else None,
    )


def named_steps(document: object, source: str) -> tuple[tuple[tuple[str, str, str], ...], ...]:
    """The batches of a plan as (action, container, machine) by name, whether or not a cluster has them."""
    faults, part = well_shaped(document, schema("plan"), _step)
    if faults or part is None:
        raise InputError(source, faults)
    batches = part.document["batches"]
    return tuple(tuple((step["action"], step["container"], step["machine"]) for step in batch) for batch in batches)


def expect_made_for(plan: Plan, snapshot: Snapshot, source: str) -> None:
    """InputError that names what changed, if a plan says that it was made for another state."""
    if plan.made_for is None:
        return
    changes = sorted(plan.made_for.changes(fingerprint(snapshot.cluster, snapshot.placement)))
    expected = "the state that the plan was made for"
    faults = [Fault(code="E1521", kind="plan", name="", problem=f"{change} now", expected=expected) for change in changes[:SHOWN]]
    if faults and len(changes) > SHOWN:
        problem = f"{len(changes) - SHOWN:,} more changes since it was made"
        faults.append(Fault(code="E1521", kind="plan", name="", problem=problem, expected=expected))
    if faults:
        raise InputError(source, faults)


def _step(path: Path) -> Path:
    """What is left out for a fault: batches, batch, step."""
    return path[:3]


def plan_text(plan: Plan, cluster: Cluster, extra: Mapping[str, Any] | None = None) -> str:
    """The plan as JSON, one line per step; the keys of `extra` stand behind the batches."""
    names, machines = cluster.containers.name, cluster.machines.name
    batches = [
        ",\n".join(
            f"   {json.dumps({'action': step.action, 'container': names[step.container], 'machine': machines[step.machine]})}"
            for step in batch
        )
        for batch in plan.batches
    ]
    text = '{\n "batches": [\n' + ",\n".join(f"  [\n{batch}\n  ]" for batch in batches) + "\n ]"
    return text + "".join(f",\n {json.dumps(key)}: {json.dumps(value)}" for key, value in (extra or {}).items()) + "\n}\n"


def _plan_faults(part: PartialDocument, container: Mapping[str, int], machine: Mapping[str, int]) -> Iterator[Fault]:
    hints = Hints()
    for b, batch in enumerate(part.document["batches"]):
        for i, step in enumerate(batch):
            for word, known in (("container", container), ("machine", machine)):
                if step[word] not in known:
                    problem, expected = (
                        f"names a {word} that does not exist",
                        one_of_known(word, known) + hints(step[word], known),
                    )
                    where = f"{_number(part, b, i)} of batch {_number(part, b)}"
                    yield Fault(code="E1515", kind="step", name=where, problem=problem, value=step[word], expected=expected)
        for (action, name, place), count in Counter((s["action"], s["container"], s["machine"]) for s in batch).items():
            if count > 1:
                problem, value = "has the same step more than once", f"{action} {name} on {place}, {count} times"
                where = _number(part, b)
                yield Fault(code="E1516", kind="batch", name=where, problem=problem, value=value, expected="each step once")


def _number(part: PartialDocument, *place: int) -> str:
    """Of a batch, or of a step in a batch: its place in the whole list, from 1."""
    return str(int(part.original(("batches", *place))[-1]) + 1)


# ---- answers of schedule and admit -------------------------------------------------------------------------------------------


def read_served(path: PathLike, requests: TimedRequests) -> Schedule:
    """The schedule in a file, of these requests."""
    with document_of(path) as document:
        return served_in(document, requests, os.fspath(path))


def served_in(document: object, requests: TimedRequests, source: str) -> Schedule:
    """The machine of each request; a request that is not named is not served."""
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


def write_served(path: PathLike, schedule: Schedule, requests: TimedRequests) -> None:
    """Write a schedule that `read_served` reads back."""
    served = {requests.name[j]: f"m{schedule.machine_of[j]}" for j in schedule.served.tolist()}
    write_text_atomically(path, json.dumps({"served": served}, indent=1) + "\n")


def read_accepted(path: PathLike, admission: ClusterRequests) -> Acceptance:
    """The acceptance in a file, of these requests."""
    with document_of(path) as document:
        return accepted_in(document, admission, os.fspath(path))


def accepted_in(document: object, admission: ClusterRequests, source: str) -> Acceptance:
    """The zones of each request's members; a request that is not named is refused."""
    faults, part = well_shaped(document, schema("accepted"))
    accepted: dict[str, dict[str, str]] = part.document["accepted"] if part else {}
    faults += _accepted_faults(accepted, admission)
    if faults:
        raise InputError(source, faults)
    zone = {name: z for z, name in enumerate(admission.zones.name)}
    return Acceptance(zone_of=tuple(_zones(request, accepted.get(request.name), zone) for request in admission.requests))


def write_accepted(path: PathLike, acceptance: Acceptance, admission: ClusterRequests) -> None:
    """Write an acceptance that `read_accepted` reads back, one line per request."""
    zone, lines = admission.zones.name, []
    for request, zones in zip(admission.requests, acceptance.zone_of, strict=True):
        if zones is not None:
            placed = {member: zone[z] for member, z in zip(request.members, zones.tolist(), strict=True)}
            lines.append(f"  {json.dumps(request.name)}: {json.dumps(placed)}")
    write_text_atomically(path, '{\n "accepted": {\n' + ",\n".join(lines) + "\n }\n}\n")


def _zones(request: ClusterRequest, placed: Mapping[str, str] | None, zone: Mapping[str, int]) -> IntArray | None:
    return None if placed is None else ints([zone[placed[member]] for member in request.members])


def _served_faults(served: Mapping[str, str], known: Mapping[str, int]) -> Iterator[Fault]:
    hints = Hints()
    for name, machine in served.items():
        if name not in known:
            yield _no_request(name, known, hints)
        if not MACHINE.fullmatch(machine):
            yield _answer_fault(name, "names a machine that cannot exist", machine, "m0, m1, ...")


def _accepted_faults(accepted: Mapping[str, Mapping[str, str]], admission: ClusterRequests) -> Iterator[Fault]:
    members = {request.name: request.members for request in admission.requests}
    zones, hints = dict.fromkeys(admission.zones.name), Hints()
    for name, placed in accepted.items():
        if name not in members:
            yield _no_request(name, members, hints)
            continue
        for member, zone in placed.items():
            if member not in members[name]:
                yield _answer_fault(name, "places a member that it does not have", member, f"one of {', '.join(members[name])}")
            if zone not in zones:
                yield _answer_fault(
                    name, "names a zone that does not exist", zone, one_of_known("zone", zones) + did_you_mean(zone, zones)
                )
        for member in members[name]:
            if member not in placed:
                yield _answer_fault(name, "leaves a member without a zone", member, "a zone for every member")


def _no_request(name: str, known: Collection[str], hints: Hints) -> Fault:
    problem, expected = "is answered for but does not exist", f"one of the {len(known)} requests{hints(name, known)}"
    return Fault(code="E1513", kind="request", name=name, problem=problem, expected=expected)


def _answer_fault(name: str, problem: str, value: str, expected: str) -> Fault:
    return Fault(code="E1514", kind="request", name=name, problem=problem, value=value, expected=expected)
