"""The objects of a cluster as plain JSON: read from an API server, or from what `kubectl get -o json` printed.

Of pods only the fields are kept that placement depends on, since everything else is most of the text: see `slim_pod`.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bayplan.formats.document.text import PathLike, read_text
from bayplan.kubernetes.client import Client, Json, RefusedError
from bayplan.kubernetes.collect.reading.kubectl_json import objects_in_text
from bayplan.kubernetes.collect.reading.slim import SharedSpecs


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of object: where an API server lists it, and whether nothing can be said without it."""

    group: str  # "api/v1", "apis/apps/v1"
    plural: str
    namespaced: bool = True
    needed: bool = False  # without it nothing can be collected; without another, what depends on it is unmovable
    everywhere: bool = False  # of all namespaces, whatever the scope: pods elsewhere use machines too

    def path(self, namespace: str = "") -> str:
        """The path of its collection, of one namespace or of all."""
        inside = f"namespaces/{namespace}/" if namespace and self.namespaced else ""
        return f"/{self.group}/{inside}{self.plural}"


KINDS: Mapping[str, Kind] = {  # in the order in which they are read: what refers to others comes first, so that these are newer
    "Pod": Kind(group="api/v1", plural="pods", needed=True, everywhere=True),
    "Node": Kind(group="api/v1", plural="nodes", namespaced=False, needed=True),
    "ReplicaSet": Kind(group="apis/apps/v1", plural="replicasets"),
    "Deployment": Kind(group="apis/apps/v1", plural="deployments"),
    "StatefulSet": Kind(group="apis/apps/v1", plural="statefulsets"),
    "DaemonSet": Kind(group="apis/apps/v1", plural="daemonsets"),
    "ReplicationController": Kind(group="api/v1", plural="replicationcontrollers"),
    "Job": Kind(group="apis/batch/v1", plural="jobs"),
    "PodDisruptionBudget": Kind(group="apis/policy/v1", plural="poddisruptionbudgets"),
    "HorizontalPodAutoscaler": Kind(group="apis/autoscaling/v2", plural="horizontalpodautoscalers"),
    "PersistentVolumeClaim": Kind(group="api/v1", plural="persistentvolumeclaims"),
    "PersistentVolume": Kind(group="api/v1", plural="persistentvolumes", namespaced=False),
    "CSINode": Kind(group="apis/storage.k8s.io/v1", plural="csinodes", namespaced=False),
    "Namespace": Kind(group="api/v1", plural="namespaces", namespaced=False),
}
NOT_FINISHED = "status.phase!=Succeeded,status.phase!=Failed"  # what has ended uses nothing


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Objects:
    """The objects of a cluster, by kind. A kind that was not read is not a key: that is not the same as having none."""

    items: Mapping[str, Sequence[Json]]  # kind -> objects
    versions: Mapping[str, str] = field(default_factory=dict)  # kind -> resource version of its list; none in files of kubectl
    missing: Mapping[str, str] = field(default_factory=dict)  # kind -> why it was not read
    read_at: float = 0.0  # seconds since 1970
    source: str = ""  # the context or the file, for people

    def of(self, kind: str) -> Sequence[Json]:
        """All objects of a kind; none if it was not read."""
        return self.items.get(kind, ())

    def has(self, kind: str) -> bool:
        """Was this kind read at all?"""
        return kind in self.items

    @property
    def version(self) -> int:
        """The oldest version that a part of it shows: it never goes back from one reading to the next; 0 if none is known."""
        known = [int(text) for text in self.versions.values() if text.isdigit()]
        return min(known, default=0)


def read_objects(client: Client, namespaces: Sequence[str] = ()) -> Objects:
    """Everything that is needed to collect these namespaces, or all of them if none is named.

    Kinds that may not be listed are left out, with the reason in `missing`; without pods or nodes the refusal is raised.
    """
    began, specs = time.time(), SharedSpecs()
    items: dict[str, list[Json]] = {}
    versions: dict[str, str] = {}
    missing: dict[str, str] = {}
    for name, kind in KINDS.items():
        inside = [""] if kind.everywhere or not kind.namespaced or not namespaces else list(namespaces)
        parameters = {"fieldSelector": NOT_FINISHED} if name == "Pod" else {}
        try:
            lists = [client.list(kind.path(one), each=specs.slim_as(name), **parameters) for one in inside]
        except RefusedError as error:
            if kind.needed or error.status not in (403, 404):
                raise
            missing[name] = f"{error.status} {error.reason}".strip()
            continue
        items[name] = [item for listing in lists for item in listing.items]
        versions[name] = lists[0].resource_version
    return Objects(items=items, versions=versions, missing=missing, read_at=began, source=client.context)


def objects_from_file(path: PathLike) -> Objects:
    """The objects that `kubectl get ... -o json` printed: one list, or several behind each other; '-' is standard input.

    InputError with a number if the text is no such list, or has no nodes or no pods.
    """
    return objects_from_text(read_text(path), str(path))


def objects_from_text(text: str, source: str) -> Objects:
    """As `objects_from_file`, of a text."""
    read = objects_in_text(text, source)
    return Objects(items=read.items, versions=read.versions, read_at=time.time(), source=source)
