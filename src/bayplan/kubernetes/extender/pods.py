"""What the extender reads off nodes and pods: amounts of cpu and memory, and what a pod belongs to.

Only what one object says by itself, so that a change of one object is all that has to be looked at.
"""

from collections.abc import Mapping

from bayplan.api.machine_scores import RunningContainer
from bayplan.kubernetes.client import Json
from bayplan.kubernetes.collect.owners import controller
from bayplan.kubernetes.collect.requests import base_units, pod_request, quantities
from bayplan.kubernetes.marks import PART_OF

RESOURCES = ("cpu", "memory")
HASH_LABEL = "pod-template-hash"  # a ReplicaSet of a Deployment is called after it, with this behind
ENDED = ("Succeeded", "Failed")


def capacity_of(node: Json) -> tuple[float, ...]:
    """(resource,) what pods may request of a node."""
    return _amounts(base_units(quantities((node.get("status") or {}).get("allocatable"), "node")))


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
    owner = controller(about)
    name = str((owner or about).get("name") or about.get("generateName", ""))
    if owner is not None and owner.get("kind") == "ReplicaSet":
        name = name.removesuffix(f"-{(about.get('labels') or {}).get(HASH_LABEL, '')}")
    return f"{about.get('namespace', '')}/{name}"


def service_of(pod: Json) -> str:
    """`namespace/name` of the application that the pod is part of, by its label; its workload if it has none."""
    about = pod["metadata"]
    name = (about.get("labels") or {}).get(PART_OF)
    return f"{about.get('namespace', '')}/{name}" if name else workload_of(pod)


def request_of(pod: Json) -> tuple[float, ...]:
    """(resource,) what a pod reserves, by Kubernetes' own rule."""
    return _amounts(pod_request(pod, "pod"))


def _amounts(amounts: Mapping[str, int]) -> tuple[float, ...]:
    return tuple(float(amounts.get(name, 0)) for name in RESOURCES)
