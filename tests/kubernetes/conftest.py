"""A real control plane for tests: one for the whole run, and a clean one for each test.

Tests skip where it cannot be had; with BAYPLAN_KUBERNETES=required, as in `make test-kubernetes`, they fail.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.kubernetes import binary
from tests.kubernetes import prometheus_server as prometheus
from tests.kubernetes.cleaning import cleaned
from tests.kubernetes.nodes import make_nodes
from tests.kubernetes.objects import Json, collection_path
from tests.kubernetes.real_cluster import ControlPlane, running_control_plane
from tests.kubernetes.waiting import wait_until

from bayplan.kubernetes.client import Client

_numbers = count(1)


@pytest.fixture(scope="session")
def control_plane() -> Iterator[ControlPlane]:
    """The control plane, started once, or a skip that says what is missing. Mark tests that use it with `kubernetes`."""
    if words := binary.missing():
        binary.skip_or_fail(words)
    with running_control_plane() as plane:
        yield plane


@pytest.fixture(scope="session")
def client(control_plane: ControlPlane) -> Client:
    """A connection that may do everything."""
    return control_plane.client()


@pytest.fixture(autouse=True)
def clean_cluster(request: pytest.FixtureRequest) -> Iterator[None]:
    """After each test all parts run and nothing is left that the test made."""
    if "control_plane" not in request.fixturenames:
        yield
        return
    plane: ControlPlane = request.getfixturevalue("control_plane")
    with cleaned(plane.client()):
        yield
        for component in plane.components:
            if component.running:
                component.resume()
        plane.start()


@pytest.fixture
def namespace(clean_cluster: None, client: Client) -> str:
    """The name of a new namespace, in which pods can be created."""
    name = f"test-{next(_numbers)}"
    client.create("/api/v1/namespaces", {"metadata": {"name": name}})
    path = f"/api/v1/namespaces/{name}/serviceaccounts"
    wait_until(lambda: client.list(path).items, f"the service account of {name}")
    return name


@pytest.fixture
def kubeconfig(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> Path:
    """A kubeconfig that may do everything; its namespace is the test's."""
    return control_plane.write_kubeconfig(tmp_path / "kubeconfig", namespace=namespace)


@pytest.fixture
def fake_nodes(clean_cluster: None, client: Client) -> Callable[..., list[str]]:
    """Makes nodes that are ready: the arguments of `tests.kubernetes.nodes.make_nodes` after the client."""

    def make(number: int, **options: Any) -> list[str]:
        return make_nodes(client, number, **options)

    return make


@pytest.fixture
def make(clean_cluster: None, client: Client, namespace: str) -> Callable[[Json], Json]:
    """Creates any object, in the test's namespace unless it names one or its kind has none."""

    def create(thing: Json) -> Json:
        inside = thing["metadata"].get("namespace", namespace)
        return client.create(collection_path(thing["apiVersion"], thing["kind"], inside), thing)

    return create


@pytest.fixture
def prometheus_server() -> Iterator[Callable[..., str]]:
    """Starts a Prometheus that scrapes ports of the loopback interface every second, and gives its address."""
    if words := prometheus.missing():
        binary.skip_or_fail(words)
    with ExitStack() as servers:
        yield lambda targets: servers.enter_context(prometheus.running_prometheus(targets))
