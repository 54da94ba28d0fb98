"""The workloads of a native snapshot: services, requests, usage, containers, where they run, traffic."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from bayplan.formats.document.location import Path, shown
from bayplan.formats.document.shape import counted
from bayplan.formats.native.columns import placement_by_column, workloads_by_column
from bayplan.formats.native.reader import MISSING, Amounts, Reader
from bayplan.formats.native.schema import MOST_REAL
from bayplan.model import (
    NO_LIMIT,
    UNPLACED,
    Containers,
    Placement,
    Services,
    Traffic,
    Workloads,
    floats,
    ints,
)
from bayplan.model.arrays import NameArray
from bayplan.model.quantities import LARGEST

MOST_CONTAINERS = 20_000_000


def read_services(reader: Reader) -> Services:
    """Services that are listed, then those that only workloads name, in their order."""
    listed = reader.document.get("services", [])
    names = [service["name"] for service in listed]
    reader.table("service", names, [("services", s) for s in range(len(names))])
    used = [service_of(workload) for workload in reader.document["workloads"]]
    for name in sorted(set(names) - set(used)):
        reader.notes.append(f"service '{name}' has no workload")
    clique = {service["name"]: float(service.get("clique", 0.0)) for service in listed}
    for name in used:
        clique.setdefault(name, 0.0)
    return Services(name=tuple(clique), clique=floats(list(clique.values())))


def service_of(workload: Mapping[str, Any]) -> str:
    """The service that a workload names, or the one of its own name."""
    return str(workload.get("service", workload["name"]))


def read_workloads(reader: Reader, amounts: Amounts, service: Mapping[str, int]) -> Workloads:
    """Requests, usage and limits, per workload."""
    workloads = reader.document["workloads"]
    names = tuple(workload["name"] for workload in workloads)
    owner = ints([service[service_of(workload)] for workload in workloads])
    agreed = reader.unchanged and all(map(replicas_agree, workloads))
    if agreed and (quick := workloads_by_column(amounts, names, owner, workloads)):
        return quick
    rows = [_Row.read(reader, amounts, workload, ("workloads", w)) for w, workload in enumerate(workloads)]
    shape = (len(names), len(amounts.resources))
    return Workloads(
        name=names,
        service=owner,
        request=ints([row.request for row in rows]).reshape(shape),
        usage_mean=floats([row.mean for row in rows]).reshape(shape),
        usage_std=floats([row.std for row in rows]).reshape(shape),
        limit=ints([row.limit for row in rows]).reshape(shape),
    )


@dataclass(frozen=True, slots=True)
class _Row:
    """One workload's amounts, by resource."""

    request: list[int]
    mean: list[float]
    std: list[float]
    limit: list[int]

    @classmethod
    def read(cls, reader: Reader, amounts: Amounts, workload: Mapping[str, Any], path: Path) -> "_Row":
        n_r = len(amounts.resources)
        request = amounts.row(workload["request"], (*path, "request"), [0] * n_r)
        limit = amounts.row(workload.get("limit", {}), (*path, "limit"), [NO_LIMIT] * n_r)
        mean, std = [float(amount) for amount in request], [0.0] * n_r
        for name, usage in workload.get("usage", {}).items():
            where = (*path, "usage", name)
            r = reader.find("resource", amounts.index, name, where)
            if r != MISSING:
                stated = usage if isinstance(usage, dict) else {"mean": usage}
                mean[r] = amounts.real(r, stated["mean"], (*where, "mean") if stated is usage else where)
                std[r] = amounts.real(r, stated.get("std", 0), (*where, "std"))
        check_replicas(reader, workload, path)
        row = cls(request, mean, std, limit)
        row.check(reader, amounts, workload, path)
        return row

    def check(self, reader: Reader, amounts: Amounts, workload: Mapping[str, Any], path: Path) -> None:
        for r, resource in enumerate(amounts.resources):
            if self.limit[r] < self.request[r]:
                request = workload["request"].get(resource.name)
                where = (*path, "limit", resource.name)
                reader.contradiction(where, "E1116", "is below the request", expected=f"at least {request}")
            elif self.limit[r] < self.mean[r]:
                reader.notes.append(f"workload '{workload['name']}': its mean usage of {resource.name} is above its limit")


def read_containers(reader: Reader, amounts: Amounts, request: list[list[int]]) -> Containers:
    """The containers of every workload side by side."""
    workloads = reader.document["workloads"]
    counts = [count_of(workload) for workload in workloads]
    if sum(counts) > MOST_CONTAINERS:
        reader.fault(
            ("workloads",), "E1110", "have too many containers", value=str(sum(counts)), expected=f"at most {MOST_CONTAINERS}"
        )
        return Containers(name=(), workload=ints([]))
    names = _names(workloads)
    if not names.are_distinct:
        paths: list[Path] = [("workloads", w) for w, count in enumerate(counts) for _ in range(count)]
        reader.table("container", names, paths)
    for r, resource in enumerate(amounts.resources):
        if (total := sum(row[r] * count for row, count in zip(request, counts, strict=True))) > LARGEST:
            problem = "the requests of all containers add up beyond 2^63 - 1 base units"
            reader.fault(("resources", resource.name), "E1113", problem, value=str(total), expected=f"at most {LARGEST}")
    return Containers(name=names, workload=ints(np.repeat(np.arange(len(counts)), counts)))


def _names(workloads: list[Mapping[str, Any]]) -> NameArray:
    """The names of all containers, and whether one comes twice, with as few strings at a time as there can be."""
    if all(isinstance(_stated(workload), int) for workload in workloads):
        once = len({workload["name"] for workload in workloads}) == len(workloads) or None
        return NameArray.of(chain.from_iterable(map(container_names, workloads)), distinct=once)
    listed = list(chain.from_iterable(map(container_names, workloads)))
    return NameArray.of(listed, distinct=len(set(listed)) == len(listed))


def check_replicas(reader: Reader, workload: Mapping[str, Any], path: Path) -> None:
    """Note it if the two ways to say how many containers there are do not agree."""
    if not replicas_agree(workload):
        expected = f"{count_of(workload)}, as `containers` says, or one of the two keys"
        reader.contradiction((*path, "replicas"), "E1111", "differs from the number of containers", expected=expected)


def replicas_agree(workload: Mapping[str, Any]) -> bool:
    """Is the number of containers said once, or the same twice?"""
    return "replicas" not in workload or "containers" not in workload or bool(workload["replicas"] == count_of(workload))


def count_of(workload: Mapping[str, Any]) -> int:
    """The number of containers of a workload."""
    stated = _stated(workload)
    return stated if isinstance(stated, int) else len(stated)


def container_names(workload: Mapping[str, Any]) -> list[str]:
    """The names that are listed, or <workload>-0, -1, ..."""
    stated = _stated(workload)
    return [f"{workload['name']}-{i}" for i in range(stated)] if isinstance(stated, int) else stated


def _stated(workload: Mapping[str, Any]) -> int | list[str]:
    stated: int | list[str] = workload.get("containers", workload.get("replicas", 1))
    return stated


def read_on(reader: Reader, machine: Mapping[str, int]) -> Placement:
    """Where the containers run."""
    workloads = reader.document["workloads"]
    lists = [workload["on"] if "on" in workload else [None] * count_of(workload) for workload in workloads]
    if all(len(on) == count_of(workload) for on, workload in zip(lists, workloads, strict=True)):
        quick = placement_by_column(machine, lists)
        if quick is not None:
            return quick
    machine_of: list[int] = []
    known: dict[str | None, int] = {None: UNPLACED}
    known.update(machine)
    for w, workload in enumerate(workloads):
        count, on = count_of(workload), workload.get("on")
        if on is not None and len(on) != count:
            problem, expected = f"has {counted(len(on))}", f"{count}, one for each container"
            reader.contradiction(("workloads", w, "on"), "E1401", problem, expected=expected)
        for c, name in enumerate(on or []):
            if name not in known:
                reader.unknown("E1403", "machine", machine, name, ("workloads", w, "on", c))
        stated = on if on is not None and len(on) == count else [None] * count
        machine_of.extend(known.get(name, UNPLACED) for name in stated)
    return Placement(machine_of=ints(machine_of))


def read_traffic(reader: Reader, workload: Mapping[str, int]) -> Traffic:
    """Edges in the order of the file; parallel ones are added up, and a note says so."""
    edges: list[tuple[int, int, float]] = []
    for e, edge in enumerate(reader.document.get("traffic", [])):
        keys: Path = ("from", "to", "weight") if isinstance(edge, Mapping) else (0, 1, 2)
        a, b, weight = (edge[key] for key in keys)
        ends = [reader.find("workload", workload, name, ("traffic", e, key)) for key, name in zip(keys, (a, b), strict=False)]
        if a == b:
            expected = "two workloads (traffic inside a service is its clique)"
            reader.fault(("traffic", e), "E1117", "goes from a workload to itself", value=shown(a), expected=expected)
        edges.append((min(ends), max(ends), float(weight)))
    if not edges or reader.faults:
        return Traffic.none()
    low, high, weight = (np.array(column) for column in zip(*edges, strict=True))
    pairs = len(set(zip(low.tolist(), high.tolist(), strict=True)))
    if pairs == len(edges):
        return Traffic(a=ints(low), b=ints(high), weight=floats(weight))
    return _merged(reader, Traffic.between(ints(low), ints(high), floats(weight)), len(edges))


def _merged(reader: Reader, traffic: Traffic, given: int) -> Traffic:
    reader.notes.append(f"{given} traffic edges are {len(traffic.a)} pairs of workloads: parallel ones were added up")
    names = [workload["name"] for workload in reader.document["workloads"]]
    for e in np.flatnonzero(traffic.weight > MOST_REAL):
        pair = f"{names[traffic.a[e]]} - {names[traffic.b[e]]}"
        problem, value = f"the edges of {pair} add up to too much", f"{traffic.weight[e]:g}"
        reader.fault(("traffic",), "E1110", problem, value=value, expected=f"at most {MOST_REAL:g}")
    return traffic
