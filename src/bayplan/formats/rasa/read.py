"""RASA clusters (the files that ByteDance published with [RASA]) and solutions: read into the model.

A RASA service is a workload here, in a service of the same name. Amounts are floats there (the published
clusters are normalised to a total of 1.0) and whole numbers here: times a power of ten, rounded to nearest.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from bayplan.errors import InputError
from bayplan.formats.rasa.faults import REQUEST, TOTAL, rasa_faults, scales, solution_faults
from bayplan.model import (
    Allow,
    AntiAffinity,
    Capacity,
    Cluster,
    Containers,
    FloatArray,
    IntArray,
    Machines,
    Objective,
    Placement,
    Resource,
    Rule,
    Services,
    Snapshot,
    Traffic,
    Workloads,
    ints,
    machine_level,
)


def read_rasa(document: object, source: str) -> Snapshot:
    """The cluster and its current placement."""
    faults = rasa_faults(document)
    if faults:
        raise InputError(source, faults)
    rasa = cast(dict[str, Any], document)
    services, machines = rasa["ServiceList"], rasa["MachineList"]
    containers = _containers(services)
    placement = _placement({m["MachineIP"]: m["InitialDeployingContainers"] for m in machines}, machines, containers.name)
    scale = scales(rasa)
    capacity, notes = _capacity(services, machines, containers, placement, scale)
    sets, allow = _allow_rules(services, machines)
    index = {service["Service"]: w for w, service in enumerate(services)}
    request = _scaled(services, REQUEST, scale)
    names = tuple(machine["MachineIP"] for machine in machines)
    cluster = Cluster(
        name=Path(source).name.split(".")[0],
        resources=tuple(Resource(name=name, scale=scale[name]) for name in REQUEST),
        machines=Machines(name=names, capacity=capacity, safety=capacity),
        levels=(machine_level(names),),
        services=Services(name=tuple(index), clique=np.zeros(len(index))),
        workloads=Workloads.by_request(tuple(index), ints(np.arange(len(index))), request),
        containers=containers,
        traffic=_traffic(rasa["TrafficList"], index),
        rules=(Capacity(resources=(0, 1)), *allow, *_anti_affinity(rasa.get("AntiAffinityList", []), index)),
        machine_sets=sets,
    )
    notes = (*_scale_notes(scale), *notes, *_edge_notes(rasa["TrafficList"], cluster.traffic))
    return Snapshot(cluster=cluster, placement=placement, objective=Objective.default(cluster), notes=notes, format="rasa")


def read_rasa_solution(document: object, cluster: Cluster, source: str) -> Placement:
    """The placement that a map from machine to containers says; a container that is not listed has no machine."""
    faults = solution_faults(document, set(cluster.machines.name), set(cluster.containers.name))
    if faults:
        raise InputError(source, faults)
    machines = [{"MachineIP": name} for name in cluster.machines.name]
    return _placement(cast(dict[str, list[str]], document), machines, cluster.containers.name)


# Amounts ------------------------------------------------------------------------------------------


def _scaled(rows: Sequence[Mapping[str, Any]], field: Mapping[str, str], scale: Mapping[str, int]) -> IntArray:
    """(row, resource) amounts in base units."""
    columns = [np.rint(np.array([row[field[name]] for row in rows], dtype=np.float64) * scale[name]) for name in field]
    return ints(np.stack(columns, axis=1))


def _capacity(
    services: list[dict[str, Any]],
    machines: list[dict[str, Any]],
    containers: Containers,
    placement: Placement,
    scale: Mapping[str, int],
) -> tuple[IntArray, tuple[str, ...]]:
    """(machine, resource) capacity, raised where only the rounding makes a full machine too full."""
    capacity, request = _scaled(machines, TOTAL, scale).copy(), _scaled(services, REQUEST, scale)
    load = np.zeros_like(capacity)
    on = placement.placed
    np.add.at(load, placement.machine_of[on], request[containers.workload[on]])
    raised = 0
    for m, r in np.argwhere(load > capacity):
        name = list(TOTAL)[r]
        here = containers.workload[placement.machine_of == m]
        if math.fsum(services[w][REQUEST[name]] for w in here) <= machines[m][TOTAL[name]]:
            capacity[m, r], raised = load[m, r], raised + 1
    return capacity, (f"{raised} capacities raised so that rounding does not overfill a full machine",) if raised else ()


def _scale_notes(scale: Mapping[str, int]) -> list[str]:
    return [f"{name}: amounts times {factor:.0e}, rounded to nearest" for name, factor in scale.items()]


# Parts of the cluster -----------------------------------------------------------------------------


def _containers(services: list[dict[str, Any]]) -> Containers:
    names = tuple(name for service in services for name in service["ContainerList"])
    workload = np.repeat(np.arange(len(services)), [len(service["ContainerList"]) for service in services])
    return Containers(name=names, workload=workload)


def _placement(listed: Mapping[str, list[str]], machines: Sequence[Mapping[str, Any]], containers: Sequence[str]) -> Placement:
    index = {name: c for c, name in enumerate(containers)}
    machine_of = Placement.empty(len(containers)).machine_of.copy()
    for m, machine in enumerate(machines):
        machine_of[[index[name] for name in listed.get(machine["MachineIP"], [])]] = m
    return Placement(machine_of=machine_of)


def _allow_rules(services: list[dict[str, Any]], machines: list[dict[str, Any]]) -> tuple[dict[str, IntArray], list[Rule]]:
    """One named set and one rule for each distinct list of machines; none for a list of all."""
    index = {machine["MachineIP"]: m for m, machine in enumerate(machines)}
    workloads: dict[tuple[int, ...], list[int]] = {}
    for w, service in enumerate(services):
        listed = service["CompatibleMachines"]
        allowed = tuple(range(len(machines))) if listed == "*" else tuple(sorted({index[name] for name in listed}))
        if len(allowed) < len(machines):
            workloads.setdefault(allowed, []).append(w)
    sets = {f"machines-{number}": ints(allowed) for number, allowed in enumerate(workloads)}
    return sets, [Allow(workloads=tuple(ws), machines=name) for name, ws in zip(sets, workloads.values(), strict=True)]


def _anti_affinity(listed: list[dict[str, Any]], index: Mapping[str, int]) -> list[AntiAffinity]:
    return [
        AntiAffinity(workloads=tuple(sorted({index[name] for name in entry["Services"]})), limit=entry["Limit"])
        for entry in listed
    ]


def _traffic(listed: list[dict[str, Any]], index: Mapping[str, int]) -> Traffic:
    if not listed:
        return Traffic.none()
    a, b = (ints([index[entry[key]] for entry in listed]) for key in ("Service1", "Service2"))
    weight: FloatArray = np.array([entry["Traffic"] for entry in listed], dtype=np.float64)
    return Traffic.between(a, b, weight)


def _edge_notes(listed: list[dict[str, Any]], traffic: Traffic) -> list[str]:
    pairs = Counter(tuple(sorted((entry["Service1"], entry["Service2"]))) for entry in listed)
    notes = []
    if len(pairs) < len(listed):
        notes.append(f"{len(listed) - len(pairs)} traffic entries added to another one of the same pair")
    if len(traffic.a) < len(pairs):
        notes.append(f"{len(pairs) - len(traffic.a)} pairs without traffic left out")
    return notes
