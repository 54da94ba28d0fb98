"""The state of a cluster in numbers: what `bayplan show` shows."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bayplan.model import Cluster, FloatArray, Placement, Snapshot
from bayplan.score.counts import containers_on, loads
from bayplan.score.gmrp import machine_overload
from bayplan.score.normalise import normalised
from bayplan.score.terms import score
from bayplan.score.utilisation import ResourceUse, machine_fullness, resource_use

__all__ = ["HotMachine", "ResourceUse", "Summary", "hot_machines", "summarise"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HotMachine:
    """One of the fullest machines."""

    machine: str
    resource: str  # its fullest resource
    load: int  # of that resource, base units
    capacity: int
    utilisation: float  # infinite if it has none of what it runs
    over_safety: bool  # in any resource
    over_capacity: bool  # in any resource
    containers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The state of one placement of one cluster."""

    name: str
    counts: Mapping[str, int]  # machines, machines_used, services, workloads, containers, unplaced, edges, rules
    use: tuple[ResourceUse, ...]  # per resource
    hot: tuple[HotMachine, ...]  # hottest first
    score: Mapping[str, float]  # keys of the command line: utilisation, balance, communication, total, affinity, ...
    normalised: Mapping[str, float]  # U, B, C min-max normalised ([FreeContainer] §VI), 0 best .. 1 worst, nan beyond


def summarise(snapshot: Snapshot, before: Placement | None = None, hot: int = 10) -> Summary:
    """The state of the snapshot's placement, reached from `before`, with its `hot` fullest machines."""
    cluster, placement = snapshot.cluster, snapshot.placement
    return Summary(
        name=cluster.name,
        counts=_counts(cluster, placement),
        use=resource_use(cluster, placement),
        hot=hot_machines(cluster, placement, hot),
        score=score(cluster, placement, snapshot.objective, before),
        normalised=normalised(cluster, placement, snapshot.objective),
    )


def _counts(cluster: Cluster, placement: Placement) -> Mapping[str, int]:
    return {
        "machines": len(cluster.machines.name),
        "machines_used": int((containers_on(cluster, placement) > 0).sum()),
        "services": len(cluster.services.name),
        "workloads": len(cluster.workloads.name),
        "containers": len(cluster.containers.name),
        "unplaced": len(placement.unplaced),
        "edges": len(cluster.traffic.a),
        "rules": len(cluster.rules),
    }


def hot_machines(cluster: Cluster, placement: Placement, most: int) -> tuple[HotMachine, ...]:
    """Up to `most` machines by their fullest resource, fullest first, equal ones in the cluster's order.

    A machine that runs what it has none of is infinitely full. One that has no resource at all and runs none is never hot.
    """
    share: FloatArray = np.nan_to_num(machine_fullness(cluster, placement), nan=-1.0, posinf=np.inf)
    if not share.size:
        return ()
    running, load, over = containers_on(cluster, placement), loads(cluster, placement), machine_overload(cluster, placement)
    capacity = cluster.machines.capacity
    fullest: FloatArray = share.max(axis=1)
    resource = share.argmax(axis=1)
    order = np.argsort(-fullest, kind="stable")[: max(0, most)]
    return tuple(
        HotMachine(
            machine=cluster.machines.name[m],
            resource=cluster.resources[int(resource[m])].name,
            load=int(load[m, resource[m]]),
            capacity=int(capacity[m, resource[m]]),
            utilisation=float(fullest[m]),
            over_safety=bool(over[m].any()),
            over_capacity=bool((load[m] > capacity[m]).any()),
            containers=int(running[m]),
        )
        for m in order[fullest[order] >= 0].tolist()
    )
