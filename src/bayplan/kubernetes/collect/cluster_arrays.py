"""Groups of pods and nodes as the arrays of a cluster."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bayplan.kubernetes.collect.groups import PodGroup
from bayplan.kubernetes.collect.nodes import NodeTable
from bayplan.kubernetes.collect.pods import PodRow
from bayplan.kubernetes.collect.requests import CPU, MEMORY, SCALE, STORAGE, resource_order
from bayplan.kubernetes.marks import PART_OF
from bayplan.kubernetes.measurements import Measurements
from bayplan.model import (
    NO_LIMIT,
    UNPLACED,
    Cluster,
    Containers,
    FloatArray,
    IntArray,
    Machines,
    Placement,
    Resource,
    Rule,
    Services,
    Traffic,
    Workloads,
    floats,
    ints,
)

UNITS = {CPU: "cores", MEMORY: "bytes", STORAGE: "bytes"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClusterParts:
    """What a cluster is made of, before it has rules."""

    name: str
    nodes: NodeTable
    groups: Sequence[PodGroup]  # those that are shown, in the order of their workloads
    others: Sequence[PodRow]  # pods that only use their nodes
    measurements: Measurements

    @property
    def resources(self) -> tuple[str, ...]:
        """What containers request."""
        return resource_order(name for group in self.groups for name, _ in group.facts.request)

    @property
    def service_names(self) -> list[str]:
        """(workload,) the service of each: what it says that it is part of, else the workload itself."""
        return [_service(group) for group in self.groups]

    @property
    def service_of(self) -> list[int]:
        """(workload,) the index of its service."""
        number = {name: s for s, name in enumerate(dict.fromkeys(self.service_names))}
        return [number[name] for name in self.service_names]


def _service(group: PodGroup) -> str:
    labels = group.rows[0].raw["metadata"].get("labels") or {}
    return f"{group.facts.namespace}/{labels[PART_OF]}" if labels.get(PART_OF) else group.name


def cluster_of(parts: ClusterParts, rules: Sequence[Rule], machine_sets: Mapping[str, IntArray]) -> tuple[Cluster, Placement]:
    """The cluster and where its containers run."""
    names = parts.resources
    request = ints([_amounts(dict(group.facts.request), names) for group in parts.groups] or np.zeros((0, len(names))))
    rows = [row for group in parts.groups for row in group.rows]
    services = list(dict.fromkeys(parts.service_names))
    workload = ints(np.repeat(np.arange(len(parts.groups)), [len(group.rows) for group in parts.groups]))
    machine_of = ints([row.machine for row in rows])
    capacity = _capacity(parts, names, request, workload, machine_of)
    cluster = Cluster(
        name=parts.name,
        resources=tuple(Resource(name=name, scale=SCALE.get(name, 1), unit=UNITS.get(name, "")) for name in names),
        machines=Machines(name=parts.nodes.names, capacity=capacity, safety=capacity),
        levels=parts.nodes.levels,
        services=Services(name=tuple(services), clique=floats(np.zeros(len(services)))),
        workloads=_workloads(parts, names, request),
        containers=Containers(name=tuple(row.pod.container for row in rows), workload=workload),
        traffic=_traffic(parts),
        rules=tuple(rules),
        machine_sets=machine_sets,
    )
    return cluster, Placement(machine_of=machine_of)


def _amounts(stated: Mapping[str, int], names: Sequence[str]) -> list[int]:
    return [stated.get(name, 0) for name in names]


def _capacity(parts: ClusterParts, names: Sequence[str], request: IntArray, workload: IntArray, machine_of: IntArray) -> IntArray:
    """(node, resource) what is allocatable beside all pods that are not shown; of a closed node, just what is used."""
    nodes = parts.nodes
    free = np.array([_amounts(node.allocatable, names) for node in nodes.nodes], dtype=np.int64).reshape(len(nodes), len(names))
    for row in parts.others:
        if row.machine != UNPLACED:
            free[row.machine] -= _amounts(dict(row.facts.request), names)
    closed = ~nodes.open
    if closed.any():
        used = np.zeros_like(free)
        placed = machine_of != UNPLACED
        np.add.at(used, machine_of[placed], request[workload[placed]])
        free[closed] = used[closed]
    return ints(np.maximum(free, 0))


def _workloads(parts: ClusterParts, names: Sequence[str], request: IntArray) -> Workloads:
    mean, deviation = _usage(parts, names, request)
    return Workloads(
        name=tuple(group.name for group in parts.groups),
        service=ints(parts.service_of),
        request=request,
        usage_mean=mean,
        usage_std=deviation,
        limit=ints(np.full(request.shape, NO_LIMIT)),
    )


def _usage(parts: ClusterParts, names: Sequence[str], request: IntArray) -> tuple[FloatArray, FloatArray]:
    """(workload, resource) what was measured; the request, exactly, where nothing was."""
    mean, deviation = np.array(request, dtype=np.float64), np.zeros(request.shape)
    for w, group in enumerate(parts.groups):
        for name, usage in parts.measurements.usage.get(group.name, {}).items():
            if name in names:
                r = names.index(name)
                mean[w, r], deviation[w, r] = usage.mean, usage.deviation
    return floats(mean), floats(deviation)


def _traffic(parts: ClusterParts) -> Traffic:
    """The measured edges between workloads that are shown."""
    number = {group.name: w for w, group in enumerate(parts.groups)}
    edges = [
        (number[a], number[b], weight)
        for (a, b), weight in parts.measurements.traffic.items()
        if a in number and b in number and weight > 0
    ]
    if not edges:
        return Traffic.none()
    a, b, weight = zip(*edges, strict=True)
    return Traffic.between(ints(a), ints(b), floats(weight))
