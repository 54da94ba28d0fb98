"""Kubernetes objects as plain JSON: where each kind lives, and short ways to write the usual ones."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

Json = dict[str, Any]

PLURALS = {  # of kinds whose name in a path is not its lower case with an "s"
    "NetworkPolicy": "networkpolicies",
    "PriorityClass": "priorityclasses",
    "StorageClass": "storageclasses",
    "MutatingAdmissionPolicy": "mutatingadmissionpolicies",
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
}
CLUSTER_WIDE = {
    "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding",
    "MutatingWebhookConfiguration", "Namespace", "Node", "PersistentVolume", "PriorityClass", "StorageClass",
    "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration",
}  # fmt: skip
USUAL_LABELS = {  # that a kubelet gives its node, with their new and their old names
    "kubernetes.io/os": "linux",
    "kubernetes.io/arch": "amd64",
    "beta.kubernetes.io/os": "linux",
    "beta.kubernetes.io/arch": "amd64",
}
PRESSURES = ("Memory", "Disk", "PID")


def collection_path(version: str, kind: str, namespace: str = "") -> str:
    """The path of all objects of a kind: `collection_path("apps/v1", "Deployment", "shop")`."""
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    inside = f"/namespaces/{namespace}" if namespace and kind not in CLUSTER_WIDE else ""
    return f"{root}{inside}/{PLURALS.get(kind, kind.lower() + 's')}"


def path_of(thing: Json, namespace: str = "") -> str:
    """The path of one object; `namespace` is used if the object does not name one."""
    metadata = thing["metadata"]
    return f"{collection_path(thing['apiVersion'], thing['kind'], metadata.get('namespace', namespace))}/{metadata['name']}"


def is_ready(thing: Json) -> bool:
    """A pod or a node whose condition `Ready` is true."""
    return any(state["type"] == "Ready" and state["status"] == "True" for state in thing["status"].get("conditions", ()))


def container(cpu: str = "100m", memory: str = "64Mi", **more: Any) -> Json:
    """A container that requests this much; its image is never pulled."""
    return {"name": "main", "image": "example/none", "resources": {"requests": {"cpu": cpu, "memory": memory}}, **more}


def deployment(
    name: str,
    replicas: int,
    *,
    cpu: str = "100m",
    memory: str = "64Mi",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    **pod: Any,
) -> Json:
    """A Deployment whose pods carry the label `app: NAME`; `pod` are further fields of the pod's spec."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": {"app": name, **(labels or {})}},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name, **(labels or {})}, "annotations": dict(annotations or {})},
                "spec": {"terminationGracePeriodSeconds": 1, "containers": [container(cpu, memory)], **pod},
            },
        },
    }


def constraints(name: str, kind: int) -> Json:
    """The constraints of a Deployment's pods among themselves: 1 no two on a node, 2 even over the zones, else none."""
    selector = {"matchLabels": {"app": name}}
    if kind == 1:
        term = {"labelSelector": selector, "topologyKey": "kubernetes.io/hostname"}
        return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
    if kind == 2:
        zones = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}
        return {"topologySpreadConstraints": [{**zones, "labelSelector": selector}]}
    return {}


def disruption_budget(name: str, *, app: str, **limit: Any) -> Json:
    """A PodDisruptionBudget of the pods with the label `app`: `disruption_budget("web", app="web", minAvailable=2)`."""
    spec = {"selector": {"matchLabels": {"app": app}}, **limit}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name}, "spec": spec}


def node(name: str, *, cpu: str, memory: str, pods: int, labels: Mapping[str, str], taints: Sequence[Json] = ()) -> Json:
    """A node that has this much, and is ready."""
    amounts = {"cpu": cpu, "memory": memory, "pods": str(pods), "ephemeral-storage": "100Gi"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **USUAL_LABELS, **labels}},
        "spec": {"taints": list(taints)},
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [_condition("Ready", "True"), *(_condition(f"{kind}Pressure", "False") for kind in PRESSURES)],
            "addresses": [{"type": "Hostname", "address": name}],
        },
    }


def _condition(kind: str, status: str) -> Json:
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"type": kind, "status": status, "reason": "Test", "lastHeartbeatTime": now, "lastTransitionTime": now}
