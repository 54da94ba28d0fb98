"""Everything that a test made in a cluster, whoever made it, is found and removed."""

from collections.abc import Iterator
from contextlib import contextmanager

from tests.kubernetes.objects import collection_path
from tests.kubernetes.waiting import wait_until

from bayplan.kubernetes.client import Client, RefusedError

POLICIES = "admissionregistration.k8s.io/v1"
KINDS = (  # cluster-wide; in the order in which they are removed
    (POLICIES, "MutatingAdmissionPolicyBinding"),
    (POLICIES, "MutatingAdmissionPolicy"),
    (POLICIES, "ValidatingAdmissionPolicyBinding"),
    (POLICIES, "ValidatingAdmissionPolicy"),
    (POLICIES, "MutatingWebhookConfiguration"),
    (POLICIES, "ValidatingWebhookConfiguration"),
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    ("scheduling.k8s.io/v1", "PriorityClass"),
    ("storage.k8s.io/v1", "StorageClass"),
    ("v1", "Namespace"),
    ("v1", "Node"),
    ("v1", "PersistentVolume"),
)
NAMESPACES, NODES, PODS = "/api/v1/namespaces", "/api/v1/nodes", "/api/v1/pods"


def cluster_wide_objects(client: Client) -> set[str]:
    """The paths of all cluster-wide objects, except namespaces that are about to go."""
    return {
        f"{path}/{one['metadata']['name']}"
        for path in (collection_path(version, kind) for version, kind in KINDS)
        for one in client.list(path).items
        if not (path == NAMESPACES and one["metadata"].get("deletionTimestamp"))
    }


@contextmanager
def cleaned(client: Client) -> Iterator[None]:
    """Whatever is made inside of the block, and is cluster-wide or in a namespace made there, is gone after it."""
    before = cluster_wide_objects(client)
    try:
        yield
    finally:
        remove(client, cluster_wide_objects(client) - before)


def remove(client: Client, paths: set[str]) -> None:
    """Delete these objects: namespaces with their pods first, so that KWOK still answers for the nodes of the pods."""
    order = [collection_path(version, kind) for version, kind in KINDS]
    for path in sorted(paths, key=lambda path: order.index(path.rpartition("/")[0])):
        if path.startswith(f"{NODES}/"):
            wait_until(lambda: not _pods_of(client, paths), "the pods of the test are gone", seconds=120)
        _delete(client, path)
        if path.startswith(f"{NAMESPACES}/"):
            client.delete(f"{path}/pods", {"gracePeriodSeconds": 0})


def _pods_of(client: Client, paths: set[str]) -> list[str]:
    """Pods that are left in the namespaces that go."""
    pods = (one["metadata"] for one in client.list(PODS).items)
    return [f"{pod['namespace']}/{pod['name']}" for pod in pods if f"{NAMESPACES}/{pod['namespace']}" in paths]


def _delete(client: Client, path: str) -> None:
    try:
        client.delete(path)
    except RefusedError as error:
        if error.status != 404:
            raise
