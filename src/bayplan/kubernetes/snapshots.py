"""Snapshots of Kubernetes clusters in one call: from an API server, or from what kubectl printed."""

from collections.abc import Sequence

from bayplan.formats.document.text import PathLike
from bayplan.kubernetes.client import Client
from bayplan.kubernetes.collect.objects import Objects, objects_from_file, read_objects
from bayplan.kubernetes.collect.settings import CollectSettings
from bayplan.kubernetes.collect.snapshot import Collected, collected
from bayplan.kubernetes.measure import MeasurementRequest
from bayplan.kubernetes.measurements import NOT_MEASURED, Measurements
from bayplan.model import Snapshot


def observe(
    *,
    context: str = "",
    kubeconfig: str = "",
    namespaces: Sequence[str] = (),
    settings: CollectSettings | None = None,
    measurements: Measurements | MeasurementRequest = NOT_MEASURED,
) -> Snapshot:
    """The snapshot of a running cluster; nothing in it is changed.

    Where the API server is and who we are is found as kubectl does: `kubeconfig`, the variable KUBECONFIG, ~/.kube/config, the
    service account of the pod that we run in. `namespaces` are those whose pods may move, all of them by default; other pods are
    taken off the capacity of their nodes. Whatever does not move is pinned. `measurements` are traffic and usage, or what is to
    be measured: `bp.kubernetes.MeasurementRequest(prometheus="discover")`.
    """
    return collect_cluster(
        context=context, kubeconfig=kubeconfig, namespaces=namespaces, settings=settings, measurements=measurements
    ).pinned


def read(
    path: PathLike,
    *,
    namespaces: Sequence[str] = (),
    settings: CollectSettings | None = None,
    measurements: Measurements | MeasurementRequest = NOT_MEASURED,
) -> Snapshot:
    """The snapshot in a file that kubectl printed: `kubectl get nodes,pods,deployments,replicasets,... -A -o json`.

    >>> import bayplan as bp
    >>> shop = bp.kubernetes.read("kubectl.json", namespaces=["shop"])
    >>> shop.cluster.workloads.name
    ('shop/cart', 'shop/web')
    """
    return collect_file(path, namespaces=namespaces, settings=settings, measurements=measurements).pinned


def collect_cluster(
    *,
    context: str = "",
    kubeconfig: str = "",
    namespaces: Sequence[str] | None = (),
    settings: CollectSettings | None = None,
    measurements: Measurements | MeasurementRequest = NOT_MEASURED,
) -> Collected:
    """As `observe`, with what is known about the pods. `namespaces=None` is the namespace of the context."""
    client = Client.connect(context=context, kubeconfig=kubeconfig)
    scope = (client.namespace,) if namespaces is None else namespaces
    objects = read_objects(client, scope)
    known = _measured(measurements, objects, client, scope)
    return collected(objects, scope=scope, settings=settings, measurements=known, name=client.context)


def collect_file(
    path: PathLike,
    *,
    namespaces: Sequence[str] = (),
    settings: CollectSettings | None = None,
    measurements: Measurements | MeasurementRequest = NOT_MEASURED,
) -> Collected:
    """As `read`, with what is known about the pods."""
    objects = objects_from_file(path)
    known = _measured(measurements, objects, None, namespaces)
    return collected(objects, scope=namespaces, settings=settings, measurements=known, name="cluster")


def _measured(
    measurements: Measurements | MeasurementRequest, objects: Objects, client: Client | None, scope: Sequence[str]
) -> Measurements:
    return measurements if isinstance(measurements, Measurements) else measurements.of(objects, client, scope)
