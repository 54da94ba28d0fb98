"""A pod as the executor reads it, and what it writes on one."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from bayplan.kubernetes.client import Json
from bayplan.kubernetes.marks import CANCELLED, CONTAINER, GATE, PINNED

_REMEMBERED = 20  # cancelled tokens on one pod


@dataclass(frozen=True, slots=True)
class LivePod:
    """One pod as the API server shows it."""

    raw: Json

    @property
    def uid(self) -> str:
        """The identity of this instance."""
        return str(self.raw["metadata"]["uid"])

    @property
    def name(self) -> str:
        """Its name; a pod that replaces it has another one, except in a StatefulSet."""
        return str(self.raw["metadata"]["name"])

    @property
    def namespace(self) -> str:
        """Where it is."""
        return str(self.raw["metadata"]["namespace"])

    @property
    def path(self) -> str:
        """Its address on the API server."""
        return pod_path(self.namespace, self.name)

    @property
    def version(self) -> str:
        """Changes with every change of it."""
        return str(self.raw["metadata"]["resourceVersion"])

    @property
    def created(self) -> float:
        """When, in seconds since 1970."""
        return datetime.fromisoformat(self.raw["metadata"]["creationTimestamp"]).timestamp()

    @property
    def annotations(self) -> Mapping[str, str]:
        """What is written on it."""
        return self.raw["metadata"].get("annotations") or {}

    @property
    def controller(self) -> Json:
        """The reference to what keeps its number of replicas: a ReplicaSet, a StatefulSet; empty if nothing does."""
        references = self.raw["metadata"].get("ownerReferences") or ()
        return next((reference for reference in references if reference.get("controller")), {})

    @property
    def owner(self) -> str:
        """The uid of its controller; empty if it has none."""
        return str(self.controller.get("uid", ""))

    @property
    def container(self) -> str:
        """The name of the container whose place it has: its own name, if it was there first."""
        return self.annotations.get(CONTAINER, f"{self.namespace}/{self.name}")

    @property
    def node(self) -> str:
        """The machine it is bound to; empty while it is pending."""
        return str(self.raw["spec"].get("nodeName") or "")

    @property
    def gated(self) -> bool:
        """Does it wait for a create of ours?"""
        return any(gate["name"] == GATE for gate in self.raw["spec"].get("schedulingGates") or ())

    @property
    def tied(self) -> bool:
        """Can it run on one node only, because we said so, and is it not there yet?"""
        return PINNED in self.annotations and not (self.node or self.gated or self.stopping)

    @property
    def stopping(self) -> bool:
        """Is it on its way out?"""
        return bool(self.raw["metadata"].get("deletionTimestamp"))

    @property
    def ended(self) -> bool:
        """Has it run to its end? Then its controller does not count it."""
        return self.raw.get("status", {}).get("phase") in ("Succeeded", "Failed")

    @property
    def ready(self) -> bool:
        """Does it serve?"""
        conditions = self.raw.get("status", {}).get("conditions") or ()
        return not self.stopping and any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)

    @property
    def cancelled(self) -> tuple[str, ...]:
        """Tokens of steps that must never be made on it."""
        return tuple(self.annotations.get(CANCELLED, "").split())

    def with_cancelled(self, token: str) -> str:
        """The annotation with one more token; the oldest are forgotten, since no request is on its way for that long."""
        return " ".join((*(each for each in self.cancelled if each != token), token)[-_REMEMBERED:])

    def change(self, annotations: Mapping[str, str | None], **spec: object) -> Json:
        """A patch that is refused (409) if the pod is another one by now, or has changed."""
        metadata = {"uid": self.uid, "resourceVersion": self.version, "annotations": dict(annotations)}
        return {"metadata": metadata, **({"spec": spec} if spec else {})}

    def without_gate(self, annotations: Mapping[str, str | None], **spec: object) -> Json:
        """A strategic patch that opens the gate, and changes nothing if the pod has changed."""
        return self.change(annotations, schedulingGates=[{"name": GATE, "$patch": "delete"}], **spec)

    def eviction(self) -> Json:
        """The request to evict it, if it is still this one in this state."""
        return {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": self.name, "namespace": self.namespace},
            "deleteOptions": {"preconditions": {"uid": self.uid, "resourceVersion": self.version}},
        }


def pod_path(namespace: str, name: str) -> str:
    """The address of a pod on the API server."""
    return f"/api/v1/namespaces/{namespace}/pods/{name}"
