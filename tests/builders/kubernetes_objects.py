"""Small objects of Kubernetes as plain JSON, for tests of the collector."""

from typing import Any

from bayplan.kubernetes.collect.objects import Objects
from bayplan.kubernetes.collect.settings import CollectSettings
from bayplan.kubernetes.collect.snapshot import Collected, collected

Json = dict[str, Any]
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
NOW = 2_000_000_000.0  # long after everything was created
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def node(
    name: str, *, cpu: str = "4", memory: str = "8Gi", pods: str = "110", zone: str = "", labels: Json | None = None, **more: Any
) -> Json:
    """A node that is ready; `more` are fields of its spec."""
    known = {HOST: name, **({ZONE: zone} if zone else {}), **(labels or {})}
    allocatable = {"cpu": cpu, "memory": memory, "pods": pods}
    status = {"allocatable": allocatable, "conditions": [{"type": "Ready", "status": "True"}]}
    return {"kind": "Node", "metadata": {"name": name, "uid": f"node {name}", "labels": known}, "spec": more, "status": status}


def pod(
    name: str,
    on: str = "",
    *,
    owner: str = "",
    kind: str = "ReplicaSet",
    namespace: str = "shop",
    labels: Json | None = None,
    annotations: Json | None = None,
    requests: Json | None = None,
    **spec: Any,
) -> Json:
    """A pod that is ready on its node, or waits for one; `spec` are further fields of its spec."""
    metadata: Json = {
        "namespace": namespace,
        "name": name,
        "uid": f"uid {name}",
        "labels": labels or {},
        "annotations": annotations or {},
    }
    metadata["creationTimestamp"] = "2026-01-01T00:00:00Z"
    if owner:
        metadata["ownerReferences"] = [{"kind": kind, "name": owner, "uid": f"{kind} {owner}", "controller": True}]
    container = {"name": "main", "resources": {"requests": {"cpu": "1", "memory": "1Gi"} if requests is None else requests}}
    body = {"containers": [container], **({"nodeName": on} if on else {}), **spec}
    ready = [{"type": "Ready", "status": "True"}] if on else []
    status = {"phase": "Running" if on else "Pending", "conditions": ready}
    return {"kind": "Pod", "metadata": metadata, "spec": body, "status": status}


def deployment(name: str, count: int, *, namespace: str = "shop", annotations: Json | None = None, **status: Any) -> list[Json]:
    """A Deployment that is settled, and its ReplicaSet of the same name."""
    settled = {"observedGeneration": 1, "replicas": count, "updatedReplicas": count, **status}
    metadata = {
        "namespace": namespace,
        "name": name,
        "uid": f"Deployment {name}",
        "generation": 1,
        "annotations": annotations or {},
    }
    owner = [{"kind": "Deployment", "name": name, "uid": f"Deployment {name}", "controller": True}]
    own = {"namespace": namespace, "name": name, "uid": f"ReplicaSet {name}", "ownerReferences": owner}
    return [
        {"kind": "Deployment", "metadata": metadata, "spec": {"replicas": count}, "status": settled},
        {"kind": "ReplicaSet", "metadata": own, "spec": {"replicas": count}, "status": {"replicas": count}},
    ]


def budget(name: str, app: str, *, namespace: str = "shop", **spec: Any) -> Json:
    """A disruption budget of the pods with the label `app`."""
    selector = {"matchLabels": {"app": app}}
    return {
        "kind": "PodDisruptionBudget",
        "metadata": {"namespace": namespace, "name": name},
        "spec": {"selector": selector, **spec},
    }


def objects(*items: Json | list[Json]) -> Objects:
    """Objects as they are read; every kind that the collector asks about was read."""
    kinds = (
        "Node",
        "Pod",
        "ReplicaSet",
        "Deployment",
        "PodDisruptionBudget",
        "PersistentVolumeClaim",
        "PersistentVolume",
        "CSINode",
    )
    by_kind: dict[str, list[Json]] = {kind: [] for kind in (*kinds, "Namespace")}
    for item in items:
        for one in item if isinstance(item, list) else [item]:
            by_kind.setdefault(one["kind"], []).append(one)
    return Objects(items=by_kind, versions={"Pod": "41", "Node": "40"}, read_at=NOW, source="tests")


def collect(*items: Json | list[Json], scope: tuple[str, ...] = (), **settings: Any) -> Collected:
    """What is collected of these objects."""
    return collected(objects(*items), scope=scope, settings=CollectSettings(**settings))


def term(app: str, key: str = HOST, **more: Any) -> Json:
    """A term of pod affinity: pods with this label, in the domain of this key."""
    return {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}, **more}
