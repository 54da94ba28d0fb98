"""Which object of the cluster a name or an identity of the model means: where it is, and what is written on it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from bayplan.kubernetes.client import Json

OWNERS = {  # kinds of owners that we write on: API version and plural
    "Deployment": ("apps/v1", "deployments"),
    "ReplicaSet": ("apps/v1", "replicasets"),
    "StatefulSet": ("apps/v1", "statefulsets"),
    "DaemonSet": ("apps/v1", "daemonsets"),
    "ReplicationController": ("v1", "replicationcontrollers"),
    "Job": ("batch/v1", "jobs"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectReference:
    """One object of the cluster."""

    version: str  # "apps/v1"
    kind: str
    namespace: str
    name: str
    uid: str

    def to_json(self) -> Json:
        """As an event names it."""
        return {
            "apiVersion": self.version,
            "kind": self.kind,
            "namespace": self.namespace,
            "name": self.name,
            "uid": self.uid,
        }

    @property
    def path(self) -> str:
        """Its address on the API server; only for the kinds of owners above."""
        version, plural = OWNERS[self.kind]
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        return f"{root}/namespaces/{self.namespace}/{plural}/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenHold:
    """A hold as it is written on an owner."""

    until: str  # RFC 3339
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """Pods by uid, and owners by the name of their workload, as they were read together."""

    pods: Mapping[str, ObjectReference] = field(default_factory=dict)
    owners: Mapping[str, ObjectReference] = field(default_factory=dict)
    holds: Mapping[str, WrittenHold] = field(default_factory=dict)  # workload -> what is written on its owner

    def owners_of(self, workloads: Iterable[str]) -> list[ObjectReference]:
        """The owners that are known of these workloads, each once, in a fixed order."""
        return [self.owners[name] for name in sorted(set(workloads)) if name in self.owners]


def pod_reference(namespace: str, name: str, uid: str) -> ObjectReference:
    """A pod."""
    return ObjectReference(version="v1", kind="Pod", namespace=namespace, name=name, uid=uid)


def owner_reference(kind: str, namespace: str, name: str, uid: str) -> ObjectReference | None:
    """An owner; None if it is of a kind that we do not write on."""
    if kind not in OWNERS:
        return None
    return ObjectReference(version=OWNERS[kind][0], kind=kind, namespace=namespace, name=name, uid=uid)


class LastReferences:
    """The references that were read last; pods that are gone are known for one reading more."""

    def __init__(self) -> None:
        self.now = References()
        self._before: Mapping[str, ObjectReference] = {}

    def take(self, references: References) -> None:
        """Take over what was read."""
        self._before, self.now = self.now.pods, references

    def pod(self, uid: str) -> ObjectReference | None:
        """A pod, as it was seen last."""
        return self.now.pods.get(uid) or self._before.get(uid)
