"""What is free in the clusters of a fleet: as zones for `admit`, as machines for `pack`. One cluster is in memory at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from bayplan.api.answer import PathLike
from bayplan.api.files import read
from bayplan.errors import UsageError, WorldError
from bayplan.formats.clusters import ClusterFleet, read_clusters
from bayplan.model import (
    UNPLACED,
    Cluster,
    ClusterRequests,
    IntArray,
    Level,
    Machines,
    Objective,
    Placement,
    Resource,
    Snapshot,
    Zones,
    ints,
    machine_level,
)
from bayplan.model.rules import Pinned
from bayplan.score.counts import loads

CLUSTER = "cluster"  # the level of machines of a fleet


def fleet_zones(fleet: ClusterFleet | PathLike) -> ClusterRequests:
    """Each cluster as a zone with what is free in it, by request, and the links of the fleet; no requests yet.

    Resources are those of the first cluster; where another lacks one, its zone has none of it. What is free is the sum over
    machines: a member that is larger than what is free on each machine still needs moves there.
    """
    fleet = fleet if isinstance(fleet, ClusterFleet) else read_clusters(fleet)
    names, rows = list[str](), list[IntArray]()
    resources: tuple[Resource, ...] = ()
    for name, free, own, _ in _free_machines(fleet):
        resources = resources or own
        names.append(name)
        rows.append(_in_order(free.sum(axis=0, keepdims=True), own, resources, name)[0])
    index = {name: z for z, name in enumerate(names)}
    bandwidth = np.zeros((len(names), len(names)), dtype=np.int64)
    for a, b, amount in fleet.links:
        bandwidth[index[a], index[b]] = amount
    capacity = ints(np.array(rows))
    zones = Zones(name=tuple(names), resources=resources, capacity=capacity, request_cap=capacity, bandwidth=ints(bandwidth))
    return ClusterRequests(zones=zones, requests=())


def on_fleet(snapshot: Snapshot, fleet: ClusterFleet | PathLike) -> Snapshot:
    """The workloads of a snapshot, none of them placed, and as machines what is free on those of all clusters.

    A machine is called CLUSTER/MACHINE, and `cluster` is a level. UsageError if a rule of the snapshot is about its own machines.
    """
    fleet = fleet if isinstance(fleet, ClusterFleet) else read_clusters(fleet)
    cluster = snapshot.cluster
    _expect_no_machines_in_rules(cluster)
    names, rows, group_of = list[str](), list[IntArray](), list[int]()
    for number, (name, amounts, own, machines) in enumerate(_free_machines(fleet)):
        free = _in_order(amounts, own, cluster.resources, name)
        usable = np.flatnonzero(free.any(axis=1))
        names += [f"{name}/{machines[m]}" for m in usable.tolist()]
        rows.append(ints(free[usable]))
        group_of += [number] * len(usable)
    capacity = ints(np.concatenate(rows))
    level = Level(name=CLUSTER, group=tuple(each.name for each in fleet.clusters), group_of=ints(group_of))
    machines_of_all = Machines(name=tuple(names), capacity=capacity, safety=capacity)
    changed = replace(cluster, machines=machines_of_all, levels=(machine_level(names), level), machine_sets={})
    nowhere = Placement(machine_of=ints(np.full(len(cluster.containers.name), UNPLACED)))
    notes = (*snapshot.notes, f"machines: what is free on {len(names):,} machines of {len(fleet.clusters):,} clusters")
    return Snapshot(cluster=changed, placement=nowhere, objective=Objective.default(changed), notes=notes)


def _free_machines(fleet: ClusterFleet) -> Iterator[tuple[str, IntArray, tuple[Resource, ...], Sequence[str]]]:
    """Of each cluster its name, what is free by machine and resource, its resources and its machines."""
    for entry in fleet.clusters:
        if entry.context and (entry.collected is None or entry.collected.fault):
            why = "it was not collected" if entry.collected is None else entry.collected.fault
            raise WorldError(f"cluster '{entry.name}' ({entry.source}): {why}")
        snapshot = read(entry.file)
        cluster = snapshot.cluster
        free = np.maximum(0, cluster.machines.capacity - loads(cluster, snapshot.placement))
        yield entry.name, ints(free), cluster.resources, cluster.machines.name


def _in_order(free: IntArray, own: Sequence[Resource], wanted: Sequence[Resource], name: str) -> IntArray:
    """The columns of the wanted resources, 0 where a cluster lacks one; UsageError if one is counted in other units there."""
    index = {resource.name: r for r, resource in enumerate(own)}
    columns = np.zeros((len(free), len(wanted)), dtype=np.int64)
    for r, resource in enumerate(wanted):
        if resource.name not in index:
            continue
        scale = own[index[resource.name]].scale
        if scale != resource.scale:
            raise UsageError(
                f"cluster '{name}': resource '{resource.name}' has scale {scale}, elsewhere {resource.scale}; expected the same"
            )
        columns[:, r] = free[:, index[resource.name]]
    return ints(columns)


def _expect_no_machines_in_rules(cluster: Cluster) -> None:
    for number, rule in enumerate(cluster.rules):
        if isinstance(rule, Pinned) or getattr(rule, "level", None) or getattr(rule, "machines", None):
            raise UsageError(f"rule {number} ({type(rule).__name__}) is about machines of the file; expected none with a fleet")
