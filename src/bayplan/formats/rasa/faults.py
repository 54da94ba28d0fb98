"""What can be wrong with a RASA document, all of it at once."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from bayplan.errors import Fault
from bayplan.formats.document.partial_document import PartialDocument, repaired
from bayplan.formats.document.schemas import Hints, schema

REQUEST = {"cpu": "RequestCPU", "memory": "RequestMem"}
TOTAL = {"cpu": "TotalCPU", "memory": "TotalMem"}
MOST_TRAFFIC = 1e15  # as in native files
FINEST = 15  # the scale is at most 10^15, and so that a cluster's total stays exact as a float too (2^53)


def rasa_faults(document: object) -> list[Fault]:
    """The faults of a cluster; none means that it can be built."""
    wrong_parts, part = repaired(document, schema("rasa"))
    return [misfit.fault for misfit in wrong_parts] + (list(_faults(part)) if part else [])


def solution_faults(document: object, machines: set[str], containers: set[str]) -> list[Fault]:
    """The faults of a solution for a cluster with these machines and containers."""
    wrong_parts, part = repaired(document, schema("rasa-solution"))
    faults = [misfit.fault for misfit in wrong_parts]
    listed: dict[str, list[str]] = part.document if part else {}
    hints = Hints()
    unknown = [_unknown("machine", "solution", "", name, hints(name, machines)) for name in listed if name not in machines]
    return faults + unknown + list(_placement_faults(listed.items(), containers))


def scales(rasa: Mapping[str, Any]) -> dict[str, int]:
    """Per resource the largest power of ten, 10^15 at most, that keeps all totals within 2^53; 0 if they are beyond."""
    totals = {name: _total(rasa, name) for name in REQUEST}
    return {name: 0 if total > 2**53 else 10 ** _digits(total) for name, total in totals.items()}


def _total(rasa: Mapping[str, Any], resource: str) -> float:
    requested = sum(float(service[REQUEST[resource]]) * len(service["ContainerList"]) for service in rasa["ServiceList"])
    return max(requested, sum(float(machine[TOTAL[resource]]) for machine in rasa["MachineList"]))


def _digits(total: float) -> int:
    return FINEST if total == 0 else min(FINEST, math.floor(math.log10(2**53 / total)))


def _faults(part: PartialDocument) -> Iterator[Fault]:
    """The faults in what has the right shape; no unknown names where those that are known may be left out."""
    rasa = part.document
    services = [service["Service"] for service in rasa["ServiceList"]]
    machines = [machine["MachineIP"] for machine in rasa["MachineList"]]
    containers = [name for service in rasa["ServiceList"] for name in service["ContainerList"]]
    for kind, names in (("service", services), ("machine", machines), ("container", containers)):
        yield from _twice(kind, names)
    hints = Hints()
    some_services, some_machines = part.lacks("ServiceList"), part.lacks("MachineList")
    if not some_machines:
        yield from _compatible_faults(rasa["ServiceList"], set(machines), hints)
    yield from _traffic_faults(part, None if some_services else set(services), hints)
    if not some_services:
        yield from _limit_faults(part, set(services), hints)
    yield from _amount_faults(part)
    listed = [(machine["MachineIP"], machine["InitialDeployingContainers"]) for machine in rasa["MachineList"]]
    some_containers = some_services or part.lacks_inside("ServiceList", "ContainerList")
    yield from _placement_faults(listed, None if some_containers else set(containers))


def _amount_faults(part: PartialDocument) -> Iterator[Fault]:
    rasa = part.document
    scale = scales(rasa)
    for name in REQUEST:
        if not scale[name]:
            problem, value = "all amounts together are too large", f"{_total(rasa, name):g}"
            yield Fault(code="E1606", kind="resource", name=name, problem=problem, value=value, expected="less than 2^53")
    yield from _heavy_pairs(rasa["TrafficList"])
    for m, machine in enumerate(rasa["MachineList"]):
        has = [machine[field] for field in TOTAL.values()]
        if part.changed(("MachineList", m)):
            continue
        if all(scale.values()) and not any(round(amount * scale[name]) for name, amount in zip(TOTAL, has, strict=True)):
            problem, expected = "has no capacity at all, or less than can be counted", "some cpu or memory"
            value = ", ".join(f"{amount:g}" for amount in has)
            yield Fault(code="E1607", kind="machine", name=machine["MachineIP"], problem=problem, value=value, expected=expected)


def _heavy_pairs(traffic: list[dict[str, Any]]) -> Iterator[Fault]:
    total: dict[tuple[str, str], float] = {}
    for entry in traffic:
        low, high = sorted((entry["Service1"], entry["Service2"]))
        total[low, high] = total.get((low, high), 0.0) + entry["Traffic"]
    for (low, high), weight in total.items():
        if weight > MOST_TRAFFIC:
            problem, name = "the entries of the pair add up to too much", f"{low} - {high}"
            expected = f"at most {MOST_TRAFFIC:g}"
            yield Fault(code="E1606", kind="pair", name=name, problem=problem, value=f"{weight:g}", expected=expected)


def _twice(kind: str, names: Iterable[str]) -> Iterator[Fault]:
    for name, count in Counter(names).items():
        if count > 1:
            problem, expected = "the name occurs more than once", "one of that name"
            yield Fault(code="E1601", kind=kind, name=name, problem=problem, value=f"{count} times", expected=expected)


def _compatible_faults(services: list[dict[str, Any]], machines: set[str], hints: Hints) -> Iterator[Fault]:
    for service in services:
        listed = service["CompatibleMachines"]
        if listed == "*" or machines.issuperset(listed):
            continue
        for name in dict.fromkeys(listed):
            if name not in machines:
                yield _unknown("machine", "service", service["Service"], name, hints(name, machines))


def _traffic_faults(part: PartialDocument, services: set[str] | None, hints: Hints) -> Iterator[Fault]:
    for place, entry in enumerate(part.document["TrafficList"]):
        for key in ("Service1", "Service2"):
            if services is not None and entry[key] not in services:
                yield _unknown(
                    "service", "TrafficList", _number(part, "TrafficList", place), entry[key], hints(entry[key], services)
                )
        if entry["Service1"] == entry["Service2"]:
            problem, expected = "has traffic to itself", "two services"
            value = str(entry["Traffic"])
            yield Fault(code="E1605", kind="service", name=entry["Service1"], problem=problem, value=value, expected=expected)


def _limit_faults(part: PartialDocument, services: set[str], hints: Hints) -> Iterator[Fault]:
    for place, entry in enumerate(part.document.get("AntiAffinityList", [])):
        for name in entry["Services"]:
            if name not in services:
                yield _unknown(
                    "service", "AntiAffinityList", _number(part, "AntiAffinityList", place), name, hints(name, services)
                )


def _number(part: PartialDocument, key: str, place: int) -> str:
    """An entry's place in the whole list, from 1."""
    return str(int(part.original((key, place))[1]) + 1)


def _placement_faults(listed: Iterable[tuple[str, list[str]]], containers: set[str] | None) -> Iterator[Fault]:
    """Containers that stand on two machines, or that no service has (`containers` None: not known)."""
    seen: dict[str, str] = {}
    for machine, names in listed:
        for name in names:
            if containers is not None and name not in containers:
                problem, expected = "no service has it", "a container of a ContainerList"
                yield Fault(code="E1604", kind="container", name=name, problem=problem, value=f"on {machine}", expected=expected)
            elif name in seen:
                problem, value, expected = "is placed twice", f"{seen[name]} and {machine}", "one machine at most"
                yield Fault(code="E1603", kind="container", name=name, problem=problem, value=value, expected=expected)
            seen[name] = machine


def _unknown(noun: str, kind: str, name: str, value: str, hint: str) -> Fault:
    expected = f"the name of a {noun} of this cluster{hint}"
    return Fault(
        code="E1602", kind=kind, name=name, problem=f"names a {noun} that does not exist", value=value, expected=expected
    )
