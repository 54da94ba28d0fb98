"""What the extender reads off nodes and pods: amounts of cpu and memory, and what a pod belongs to.

Only what one object says by itself, so that a change of one object is all that has to be looked at.
"""

import math
from collections.abc import Iterable
from functools import lru_cache

from bayplan.api.machine_scores import RunningContainer
from bayplan.kubernetes.client import Json
from bayplan.model.quantities import parse_quantity

RESOURCES = {"cpu": 1000, "memory": 1}  # with the parts of a unit that are counted, so that sums are whole numbers and exact
SERVICE_LABEL = "app.kubernetes.io/part-of"
HASH_LABEL = "pod-template-hash"  # a ReplicaSet of a Deployment is called after it, with this behind
ENDED = ("Succeeded", "Failed")


def capacity_of(node: Json) -> tuple[float, ...]:
    """(resource,) what pods may request of a node."""
    return _amounts((node.get("status") or {}).get("allocatable"))


def running_container(pod: Json) -> RunningContainer | None:
    """A pod on its node; None if it has none, or has ended and uses nothing."""
    node = pod["spec"].get("nodeName")
    if not node or (pod.get("status") or {}).get("phase") in ENDED:
        return None
    return container_on(pod, node)


def container_on(pod: Json, node: str) -> RunningContainer:
    """The pod as if it ran on a node."""
    return RunningContainer(machine=node, workload=workload_of(pod), service=service_of(pod), request=request_of(pod))


def workload_of(pod: Json) -> str:
    """`namespace/name` of what the pod is a replica of: its Deployment, StatefulSet, ...; its own name if of nothing."""
    about = pod["metadata"]
    owner = next((each for each in about.get("ownerReferences") or () if each.get("controller")), None)
    name = str((owner or about).get("name") or about.get("generateName", ""))
    if owner is not None and owner.get("kind") == "ReplicaSet":
        name = name.removesuffix(f"-{(about.get('labels') or {}).get(HASH_LABEL, '')}")
    return f"{about.get('namespace', '')}/{name}"


def service_of(pod: Json) -> str:
    """`namespace/name` of the application that the pod is part of, by its label; its workload if it has none."""
    about = pod["metadata"]
    name = (about.get("labels") or {}).get(SERVICE_LABEL)
    return f"{about.get('namespace', '')}/{name}" if name else workload_of(pod)


def request_of(pod: Json) -> tuple[float, ...]:
    """(resource,) what a pod reserves, by Kubernetes' own rule: what runs at a time is added up, of the rest the most counts.

    An init container that restarts (a sidecar) runs beside all that come after it. What the pod itself requests comes first.
    """
    spec = pod["spec"]
    beside, most = [0.0] * len(RESOURCES), [0.0] * len(RESOURCES)
    for container in spec.get("initContainers") or ():
        request = _requested(container)
        most = [max(m, b + r) for m, b, r in zip(most, beside, request, strict=True)]
        if container.get("restartPolicy") == "Always":
            beside = [b + r for b, r in zip(beside, request, strict=True)]
    running = [b + sum(each) for b, each in zip(beside, _columns(spec.get("containers") or ()), strict=True)]
    own, overhead = (spec.get("resources") or {}).get("requests") or {}, _amounts(spec.get("overhead"))
    stated = _amounts(own)
    return tuple((stated[r] if name in own else max(most[r], running[r])) + overhead[r] for r, name in enumerate(RESOURCES))


def _columns(containers: Iterable[Json]) -> list[tuple[float, ...]]:
    """(resource, container)"""
    rows = [_requested(container) for container in containers]
    return [tuple(row[r] for row in rows) for r in range(len(RESOURCES))]


def _requested(container: Json) -> tuple[float, ...]:
    return _amounts((container.get("resources") or {}).get("requests"))


def _amounts(texts: Json | None) -> tuple[float, ...]:
    return tuple(_quantity(str((texts or {}).get(name, "0")), parts) for name, parts in RESOURCES.items())


@lru_cache(maxsize=4096)  # a cluster has few different amounts
def _quantity(text: str, parts: int) -> float:
    try:
        return float(math.ceil(parse_quantity(text) * parts))
    except ValueError:  # the API server lets none pass
        return 0.0
