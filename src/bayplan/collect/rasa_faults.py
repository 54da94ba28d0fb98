"""What can be wrong with a RASA document, all of it at once."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from bayplan.collect.schemas import schema
from bayplan.collect.shape import shape_faults
from bayplan.errors import Fault


def rasa_faults(document: object) -> list[Fault]:
    """The faults of a cluster; none means that it can be built."""
    return shape_faults(document, schema("rasa")) or list(_name_faults(cast(dict[str, Any], document)))


def solution_faults(document: object, machines: set[str], containers: set[str]) -> list[Fault]:
    """The faults of a solution for a cluster with these machines and containers."""
    faults = shape_faults(document, schema("rasa-solution"))
    if faults:
        return faults
    listed = cast(dict[str, list[str]], document)
    unknown = [_unknown("machine", "solution", "", name) for name in listed if name not in machines]
    return unknown + list(_placement_faults(listed, containers))


def _name_faults(rasa: Mapping[str, Any]) -> Iterator[Fault]:
    services = [service["Service"] for service in rasa["ServiceList"]]
    machines = [machine["MachineIP"] for machine in rasa["MachineList"]]
    containers = [name for service in rasa["ServiceList"] for name in service["ContainerList"]]
    for kind, names in (("service", services), ("machine", machines), ("container", containers)):
        yield from _twice(kind, names)
    yield from _compatible_faults(rasa["ServiceList"], set(machines))
    yield from _traffic_faults(rasa["TrafficList"], set(services))
    known = set(services)
    for number, entry in enumerate(rasa.get("AntiAffinityList", []), start=1):
        for name in entry["Services"]:
            if name not in known:
                yield _unknown("service", "AntiAffinityList", str(number), name)
    for machine in rasa["MachineList"]:
        if machine["TotalCPU"] == 0 and machine["TotalMem"] == 0:
            problem, expected = "has no capacity at all", "some cpu or memory"
            yield Fault(code="E1607", kind="machine", name=machine["MachineIP"], problem=problem, value="0, 0", expected=expected)
    yield from _placement_faults(
        {machine["MachineIP"]: machine["InitialDeployingContainers"] for machine in rasa["MachineList"]}, set(containers)
    )


def _twice(kind: str, names: Iterable[str]) -> Iterator[Fault]:
    for name, count in Counter(names).items():
        if count > 1:
            problem, expected = "the name occurs more than once", "one of that name"
            yield Fault(code="E1601", kind=kind, name=name, problem=problem, value=f"{count} times", expected=expected)


def _compatible_faults(services: list[dict[str, Any]], machines: set[str]) -> Iterator[Fault]:
    for service in services:
        listed = service["CompatibleMachines"]
        if listed == "*" or machines.issuperset(listed):
            continue
        for name in dict.fromkeys(listed):
            if name not in machines:
                yield _unknown("machine", "service", service["Service"], name)


def _traffic_faults(traffic: list[dict[str, Any]], services: set[str]) -> Iterator[Fault]:
    for number, entry in enumerate(traffic, start=1):
        for key in ("Service1", "Service2"):
            if entry[key] not in services:
                yield _unknown("service", "TrafficList", str(number), entry[key])
        if entry["Service1"] == entry["Service2"]:
            problem, expected = "has traffic to itself", "two services"
            yield Fault(
                code="E1605",
                kind="service",
                name=entry["Service1"],
                problem=problem,
                value=str(entry["Traffic"]),
                expected=expected,
            )


def _placement_faults(listed: Mapping[str, list[str]], containers: set[str]) -> Iterator[Fault]:
    seen: dict[str, str] = {}
    for machine, names in listed.items():
        for name in names:
            if name not in containers:
                problem, expected = "no service has it", "a container of a ContainerList"
                yield Fault(code="E1604", kind="container", name=name, problem=problem, value=f"on {machine}", expected=expected)
            elif name in seen:
                value = f"{seen[name]} and {machine}"
                yield Fault(
                    code="E1603",
                    kind="container",
                    name=name,
                    problem="is placed twice",
                    value=value,
                    expected="one machine at most",
                )
            seen[name] = machine


def _unknown(what: str, kind: str, name: str, value: str) -> Fault:
    expected = f"the name of a {what} of this cluster"
    return Fault(
        code="E1602", kind=kind, name=name, problem=f"names a {what} that does not exist", value=value, expected=expected
    )
