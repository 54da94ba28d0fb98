"""RASA clusters and solutions as text, and what the format cannot hold."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from bayplan.errors import UsageError
from bayplan.model import Allow, AntiAffinity, Capacity, Cluster, Placement, Snapshot, allowed

FIELDS = {"cpu": ("RequestCPU", "TotalCPU"), "memory": ("RequestMem", "TotalMem")}


def rasa_solution_text(cluster: Cluster, placement: Placement) -> str:
    """Machine -> containers; a container without a machine is in no list."""
    return json.dumps(dict(zip(cluster.machines.name, _on(cluster, placement), strict=True)), indent=1) + "\n"


def rasa_text(snapshot: Snapshot) -> str:
    """The snapshot as a RASA cluster; UsageError says all that does not fit into one. Amounts in written units."""
    cluster = snapshot.cluster
    misfits = [*_misfits(cluster)]
    if misfits:
        raise UsageError(f"cluster '{cluster.name}' does not fit into a RASA file: " + "; ".join(misfits))
    document: dict[str, Any] = {
        "ServiceList": _services(cluster),
        "MachineList": _machines(snapshot),
        "TrafficList": [
            {"Service1": cluster.workloads.name[a], "Service2": cluster.workloads.name[b], "Traffic": weight}
            for a, b, weight in zip(
                *(part.tolist() for part in (cluster.traffic.a, cluster.traffic.b, cluster.traffic.weight)), strict=True
            )
        ],
    }
    limits = [rule for rule in cluster.rules if isinstance(rule, AntiAffinity)]
    if limits:
        document["AntiAffinityList"] = [
            {"Services": [cluster.workloads.name[w] for w in rule.workloads], "Limit": rule.limit} for rule in limits
        ]
    return json.dumps(document, indent=1) + "\n"


def _misfits(cluster: Cluster) -> Iterator[str]:
    """One phrase for each thing that would be lost."""
    names = [resource.name for resource in cluster.resources]
    if sorted(names) != sorted(FIELDS):
        yield f"its resources are {', '.join(names) or 'none'}, not cpu and memory"
    for kind in sorted({rule.kind for rule in cluster.rules if not isinstance(rule, Capacity | Allow | AntiAffinity)}):
        yield f"it has a rule of kind {kind}"
    if any(isinstance(rule, AntiAffinity) and rule.level != 0 for rule in cluster.rules):
        yield "it has an anti-affinity rule above the machine"
    if any(isinstance(rule, AntiAffinity) and rule.limit < 1 for rule in cluster.rules):
        yield "it has an anti-affinity rule with limit 0"
    bounded = {r for rule in cluster.rules if isinstance(rule, Capacity) for r in rule.resources}
    yield from (f"the capacity of {name} is no rule" for r, name in enumerate(names) if r not in bounded)
    yield from _lost(cluster)


def _lost(cluster: Cluster) -> Iterator[str]:
    if len(cluster.levels) > 1:
        yield f"it has the levels {', '.join(level.name for level in cluster.levels[1:])}"
    if cluster.services.clique.any():
        yield "a service has clique traffic"
    if len(set(cluster.workloads.service.tolist())) < len(cluster.workloads.name):
        yield "a service has more than one workload"
    if (cluster.replicas == 0).any():
        yield "a workload has no containers"
    if [] in _compatible(cluster):
        yield "a workload is allowed on no machine"
    if cluster.workloads.has_usage:
        yield "a workload states its usage"
    if (cluster.machines.safety != cluster.machines.capacity).any():
        yield "a machine has a safety capacity"


def _services(cluster: Cluster) -> list[dict[str, Any]]:
    bounds = np.searchsorted(cluster.containers.workload, np.arange(len(cluster.workloads.name) + 1))
    return [
        {
            "Service": name,
            **{FIELDS[r.name][0]: _written(cluster.workloads.request[w, i], r.scale) for i, r in enumerate(cluster.resources)},
            "ContainerList": list(cluster.containers.name[bounds[w] : bounds[w + 1]]),
            "CompatibleMachines": machines,
        }
        for w, (name, machines) in enumerate(zip(cluster.workloads.name, _compatible(cluster), strict=True))
    ]


def _machines(snapshot: Snapshot) -> list[dict[str, Any]]:
    cluster = snapshot.cluster
    return [
        {
            "MachineIP": name,
            **{FIELDS[r.name][1]: _written(cluster.machines.capacity[m, i], r.scale) for i, r in enumerate(cluster.resources)},
            "InitialDeployingContainers": containers,
        }
        for m, (name, containers) in enumerate(zip(cluster.machines.name, _on(cluster, snapshot.placement), strict=True))
    ]


def _written(amount: np.int64, scale: int) -> int | float:
    return int(amount) // scale if amount % scale == 0 else int(amount) / scale


def _compatible(cluster: Cluster) -> list[str | list[str]]:
    """Per workload '*' or the names of the machines that all its Allow rules have in common."""
    where = allowed(cluster)
    names = [[cluster.machines.name[m] for m in np.flatnonzero(row)] for row in where.row]
    return [names[row] if row else "*" for row in where.row_of.tolist()]


def _on(cluster: Cluster, placement: Placement) -> list[list[str]]:
    """(machine,) names of the containers on each."""
    on: list[list[str]] = [[] for _ in cluster.machines.name]
    for c in placement.placed.tolist():
        on[placement.machine_of[c]].append(cluster.containers.name[c])
    return on
