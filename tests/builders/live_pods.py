"""Pods as an API server shows them, and a client that answers from memory, for tests of the executor without a cluster."""

from typing import Any

from bayplan.kubernetes.client import Listing, RefusedError
from bayplan.kubernetes.execute.live_pods import LivePods
from bayplan.kubernetes.execute.reservation import ReservedPod
from bayplan.kubernetes.marks import GATE, REPLACES

Json = dict[str, Any]


def raw_pod(name: str, *, owner: str = "rs", node: str = "", gated: bool = False, replaces: str = "", **changes: Any) -> Json:
    """A pod whose uid is its name; later names are younger."""
    metadata = {
        "name": name,
        "namespace": "shop",
        "uid": name,
        "resourceVersion": "5",
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "ownerReferences": [{"kind": "ReplicaSet", "name": owner, "uid": owner, "controller": True}],
        "annotations": {REPLACES: replaces} if replaces else {},
        **changes,
    }
    spec: Json = {"nodeName": node} if node else {}
    if gated:
        spec["schedulingGates"] = [{"name": GATE}]
    return {"metadata": metadata, "spec": spec, "status": {"phase": "Running" if node else "Pending"}}


def reserved(uid: str, *, owner: str = "rs", **changes: Any) -> ReservedPod:
    """A pod that steps are about."""
    return ReservedPod(uid=uid, namespace="shop", name=uid, owner=owner, container=f"shop/{uid}", **changes)


class MemoryClient:
    """Answers from memory, and remembers what it was asked to change."""

    def __init__(self, **objects: Any) -> None:
        self.objects: dict[str, Any] = objects
        self.changes: list[tuple[str, str, Any]] = []

    def get(self, path: str, **parameters: Any) -> Json:
        """One object, or 404."""
        if path not in self.objects:
            raise RefusedError(f"GET {path}: 404", status=404)
        return dict(self.objects[path])

    def list(self, path: str, **parameters: Any) -> Listing:
        """A collection."""
        return Listing(items=list(self.objects.get(path, ())), resource_version="9")

    def patch(self, path: str, body: Json, **parameters: Any) -> Json:
        """Remember a patch; what it changes of the metadata is shown."""
        self.changes.append(("PATCH", path, body))
        shown = self.objects.get(path, raw_pod(path.rpartition("/")[2]))
        return {**shown, "metadata": {**shown["metadata"], "annotations": body["metadata"].get("annotations", {})}}

    def create(self, path: str, body: Json, **parameters: Any) -> Json:
        """Remember a new object."""
        self.changes.append(("POST", path, body))
        return {**body, "metadata": {**body["metadata"], "resourceVersion": "1"}}

    def replace(self, path: str, body: Json, **parameters: Any) -> Json:
        """Remember a changed object."""
        self.changes.append(("PUT", path, body))
        return {**body, "metadata": {**body["metadata"], "resourceVersion": "2"}}

    def delete(self, path: str, body: Json | None = None, **parameters: Any) -> Json:
        """Remember what was removed; 404 if it was not there."""
        self.changes.append(("DELETE", path, body))
        if path not in self.objects:
            raise RefusedError(f"DELETE {path}: 404", status=404)
        return {}


def live_pods(*items: Json) -> LivePods:
    """The pods of a cluster, read."""
    live = LivePods(MemoryClient())  # type: ignore[arg-type]
    live.take(items, "5")
    return live
