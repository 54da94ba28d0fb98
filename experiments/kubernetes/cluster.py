"""The cluster of a seed on a real control plane: made once by kube-scheduler and churn, then started from a copy for each arm."""

import random
from collections.abc import Iterator
from contextlib import contextmanager

from tests.kubernetes import binary
from tests.kubernetes.nodes import make_nodes
from tests.kubernetes.objects import path_of
from tests.kubernetes.real_cluster import ControlPlane, running_control_plane
from tests.kubernetes.waiting import wait_until

from bayplan.kubernetes.client import Client
from experiments.kubernetes.apps import App, apps_of
from experiments.kubernetes.measures import DEPLOYMENTS, PODS
from experiments.kubernetes.settings import CPU, MEMORY, NAMESPACE, ZONES, Scope

CORDONED = 0.3  # share of the nodes that no pod is placed on at first; half of them open before the last scaling, half after it
SECONDS = 300.0  # to wait for pods at most


@contextmanager
def started_cluster(scope: Scope, seed: int) -> Iterator[ControlPlane]:
    """A control plane with the cluster of a seed, every pod where it was when the cluster was made.

    Its store is kept in the user's cache: kube-scheduler draws among equal nodes, so a cluster made anew would be another one.
    """
    store = binary.cache() / "compared" / f"{scope.nodes}-{scope.deployments}-{scope.pods}-seed-{seed}"
    if not store.exists():
        store.parent.mkdir(parents=True, exist_ok=True)
        with running_control_plane() as plane:
            make_cluster(plane.client(), scope, seed)
            plane.save_store(store)
    with running_control_plane(store) as plane:
        wait_settled(plane.client(), scope.pods)
        yield plane


def make_cluster(client: Client, scope: Scope, seed: int) -> None:
    """Nodes and Deployments in a seeded order, placed by kube-scheduler; then churn, after which some nodes are empty."""
    draw = random.Random(f"churn {seed}")
    nodes = make_nodes(client, scope.nodes, cpu=CPU, memory=MEMORY, zones=ZONES)
    closed = draw.sample(nodes, round(CORDONED * scope.nodes))
    _cordon(client, closed, True)
    client.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    apps = apps_of(scope, seed)
    for app in apps:
        for thing in app.objects():
            client.create(path_of(thing, NAMESPACE).rpartition("/")[0], thing)
    _wait_ready(client, {app.name: app.first for app in apps})
    shrinking = [app for app in apps if app.first > app.replicas]
    growing = [app for app in apps if app.first < app.replicas]
    _scale(client, draw.sample(shrinking, len(shrinking)))
    half = len(closed) // 2
    _cordon(client, closed[:half], False)
    _scale(client, draw.sample(growing, len(growing)))
    _cordon(client, closed[half:], False)
    wait_settled(client, scope.pods)


def wait_settled(client: Client, pods: int) -> None:
    """Until there are exactly as many pods as there should be, and all are ready; or a last word after a long time."""
    wait_until(lambda: _settled(client, pods), f"{pods} ready pods", seconds=SECONDS)


def _settled(client: Client, pods: int) -> bool:
    states = [item.get("status", {}) for item in client.list(DEPLOYMENTS).items]
    ready = sum(state.get("readyReplicas", 0) for state in states)
    return ready == pods and len(client.list(PODS).items) == pods


def _wait_ready(client: Client, wanted: dict[str, int]) -> None:
    def ready() -> bool:
        states = {item["metadata"]["name"]: item.get("status", {}) for item in client.list(DEPLOYMENTS).items}
        return all(
            states[name].get("readyReplicas", 0) == states[name].get("replicas", 0) == size for name, size in wanted.items()
        )

    wait_until(ready, f"{len(wanted)} Deployments ready", seconds=SECONDS)


def _scale(client: Client, apps: list[App]) -> None:
    for app in apps:
        client.patch(f"{DEPLOYMENTS}/{app.name}", {"spec": {"replicas": app.replicas}})
    _wait_ready(client, {app.name: app.replicas for app in apps})


def _cordon(client: Client, nodes: list[str], closed: bool) -> None:
    for name in nodes:
        client.patch(f"/api/v1/nodes/{name}", {"spec": {"unschedulable": closed}})
