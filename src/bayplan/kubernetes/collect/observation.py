"""Objects -> an observation of the port: what runs where, what is changing, what must stay ready."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from bayplan.kubernetes.collect.movable import held_until
from bayplan.kubernetes.collect.objects import Objects
from bayplan.kubernetes.collect.owners import Owner
from bayplan.kubernetes.collect.pods import CollectedPod, seconds
from bayplan.kubernetes.collect.settings import CollectSettings
from bayplan.kubernetes.collect.snapshot import Collected, collected
from bayplan.kubernetes.measurements import NOT_MEASURED, Measurements
from bayplan.model import UNPLACED
from bayplan.operate.orchestrator import ContainerState, MachineState, Observation


def observation(
    objects: Objects,
    measurements: Measurements = NOT_MEASURED,
    *,
    scope: Sequence[str] = (),
    settings: CollectSettings | None = None,
    name: str = "",
) -> Observation:
    """What a cluster shows, as the loop wants it."""
    return observation_of(
        collected(objects, scope=scope, settings=settings, measurements=measurements, name=name), objects, measurements
    )


def observation_of(read: Collected, objects: Objects, measurements: Measurements = NOT_MEASURED) -> Observation:
    """The same, of what was collected already. Where nothing was to be measured, nothing can be out of date."""
    cluster, unasked = read.snapshot.cluster, measurements is NOT_MEASURED
    workload_of = {
        name: cluster.workloads.name[w] for name, w in zip(cluster.containers.name, cluster.containers.workload, strict=True)
    }
    return Observation(
        at=objects.read_at,
        version=objects.version,
        snapshot=read.snapshot,
        containers=tuple(_state(read.pods[name], workload_of[name]) for name in cluster.containers.name),
        machines=_machines(read, measurements),
        second={name: _state(pod, workload_of[name]) for name, pod in read.second.items()},
        stopping=tuple(_state(pod, _workload(read, pod)) for pod in read.stopping),
        usage_at=objects.read_at if unasked else measurements.usage_at,
        traffic_at=objects.read_at if unasked else measurements.traffic_at,
        needed=read.needed,
        replicas=_replicas(read),
        changing=_changing(read, objects.read_at),
    )


def _state(pod: CollectedPod, workload: str) -> ContainerState:
    return ContainerState(
        uid=pod.uid,
        name=pod.container,
        workload=workload,
        phase=pod.phase,
        created=pod.created,
        machine=pod.node,
        version=pod.version,
        token=pod.token,
        replaces=pod.replaces,
    )


def _workload(read: Collected, pod: CollectedPod) -> str:
    """The workload of a pod that is stopping: its owner's first, since it may differ from all pods that run."""
    names = [name for name, owner in read.owners.items() if owner == pod.owner]
    return min(names, key=len) if names else f"{pod.namespace}/{pod.owner.name}"


def _machines(read: Collected, measurements: Measurements) -> tuple[MachineState, ...]:
    """Every node; with usage by what its containers were measured to use on average, where that was measured."""
    cluster, placement = read.snapshot.cluster, read.snapshot.placement.machine_of
    used = np.zeros(cluster.machines.capacity.shape)
    placed = placement != UNPLACED
    np.add.at(used, placement[placed], cluster.workloads.usage_mean[cluster.containers.workload[placed]])
    return tuple(
        MachineState(
            uid=node.uid,
            name=node.name,
            open=not node.closed,
            joined=seconds(node.joined),
            version=int(node.version) if node.version.isdigit() else 0,
            usage=tuple(used[m].tolist()) if measurements.usage else (),
        )
        for m, node in enumerate(read.nodes.nodes)
    )


def _replicas(read: Collected) -> dict[str, int]:
    """How many containers each workload keeps: what its owner states, less those of the owner's other workloads."""
    cluster = read.snapshot.cluster
    shown = dict(zip(cluster.workloads.name, cluster.replicas.tolist(), strict=True))
    by_owner: dict[Owner, list[str]] = defaultdict(list)
    for name, owner in read.owners.items():
        by_owner[owner].append(name)
    replicas = dict(shown)
    for owner, names in by_owner.items():
        if owner.replicas is not None:
            main = min(names, key=len)
            replicas[main] = max(0, owner.replicas - sum(shown[name] for name in names if name != main))
    return replicas


def _changing(read: Collected, now: float) -> dict[str, str]:
    """Workloads that are left alone: in rollout, scaling, or held by an annotation of their owner."""
    why = {name: owner.changing or held_until(owner, now) for name, owner in read.owners.items()}
    return {name: reason for name, reason in why.items() if reason}
