"""The names of a cluster's workloads, from its objects: pods with what owns them, and the Services that select them."""

from collections.abc import Collection, Iterable

from bayplan.kubernetes.client import Client, Json, RefusedError
from bayplan.kubernetes.collect.objects import Objects
from bayplan.kubernetes.collect.owners import Owners, controller, workload_names
from bayplan.kubernetes.collect.pods import FINISHED
from bayplan.kubernetes.collect.settings import in_scope
from bayplan.kubernetes.prometheus.workload_names import KnownPod, KnownService, KnownWorkloads


def known_workloads(objects: Objects, client: Client | None = None, *, scope: Collection[str] = ()) -> KnownWorkloads:
    """Every name under which a workload of these namespaces may be measured.

    Services are read from the cluster where `objects` has none. Where they may not be read, traffic to them is unattributed.
    """
    pods = [pod for pod in objects.of("Pod") if _counts(pod, scope)]
    owners = Owners(objects)
    owner_of = [owners.of(pod) for pod in pods]
    names = workload_names(
        owner for pod, owner in zip(pods, owner_of, strict=True) if not pod["metadata"].get("deletionTimestamp")
    )
    known = [
        _known(pod, names[owner], (owner.kind, owner.name)) for pod, owner in zip(pods, owner_of, strict=True) if owner in names
    ]
    return KnownWorkloads.of(known, _services(objects, client), scope=scope)


def _counts(pod: Json, scope: Collection[str]) -> bool:
    inside = in_scope(str(pod["metadata"].get("namespace", "")), scope)
    return inside and (pod.get("status") or {}).get("phase") not in FINISHED


def _known(pod: Json, workload: str, top: tuple[str, str]) -> KnownPod:
    metadata = pod["metadata"]
    above = controller(metadata)
    owners = () if above is None else tuple(dict.fromkeys([(str(above["kind"]), str(above["name"])), top]))
    return KnownPod(str(metadata.get("namespace", "")), str(metadata["name"]), workload, owners, metadata.get("labels") or {})


def _services(objects: Objects, client: Client | None) -> Iterable[KnownService]:
    listed: Iterable[Json] = objects.of("Service")
    if not objects.has("Service") and client is not None:
        try:
            listed = client.list("/api/v1/services").items
        except RefusedError as error:
            if error.status != 403:
                raise
    for service in listed:
        metadata = service["metadata"]
        selector = (service.get("spec") or {}).get("selector") or {}
        yield KnownService(str(metadata.get("namespace", "")), str(metadata["name"]), selector)
