"""A running cluster on the command line and in Python: what is read, what may move, what does not."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.kubernetes.objects import deployment, disruption_budget
from tests.kubernetes.waiting import wait_until

import bayplan as bp
from bayplan.kubernetes.client import Client
from bayplan.kubernetes.collect.objects import read_objects
from bayplan.kubernetes.collect.observation import observation
from bayplan.kubernetes.collect.settings import CollectSettings
from bayplan.kubernetes.collect.snapshot import collected

pytestmark = pytest.mark.kubernetes

OLD = CollectSettings(young=0.0)
Make = Callable[[dict[str, Any]], dict[str, Any]]


@pytest.fixture
def shop(fake_nodes: Callable[..., list[str]], make: Make, client: Client, namespace: str) -> str:
    """A namespace with two Deployments that run, one with a budget, on four nodes in two zones."""
    fake_nodes(4, zones=("zone-a", "zone-b"))
    spread = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}
    selector = {"labelSelector": {"matchLabels": {"app": "web"}}}
    make(deployment("web", 4, cpu="500m", topologySpreadConstraints=[{**spread, **selector}]))
    make(deployment("cart", 2))
    make(disruption_budget("web", app="web", maxUnavailable=1))
    wait_until(lambda: _settled(client, namespace), "both Deployments available")
    return namespace


def _settled(client: Client, namespace: str) -> bool:
    items = client.list(f"/apis/apps/v1/namespaces/{namespace}/deployments").items
    budgets = client.list(f"/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets").items
    return all(one["status"].get("availableReplicas") == one["spec"]["replicas"] for one in items) and all(
        one.get("status", {}).get("currentHealthy") == 4 for one in budgets
    )


def _bayplan(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "bayplan", *map(str, arguments)], capture_output=True, text=True, check=False)


def test_a_running_cluster_is_a_snapshot_and_an_observation(shop: str, client: Client) -> None:
    objects = read_objects(client, [shop])
    read = collected(objects, scope=(shop,), settings=OLD)
    assert read.snapshot.cluster.workloads.name == (f"{shop}/cart", f"{shop}/web")
    assert not read.unmovable
    assert not bp.check(read.snapshot).violations
    seen = observation(objects, scope=(shop,), settings=OLD)
    assert (seen.needed, seen.changing, seen.incomplete) == ({f"{shop}/web": 3}, {}, frozenset())
    assert seen.version == min(int(version) for version in objects.versions.values())


def test_versions_grow_with_what_happens(shop: str, client: Client, make: Make) -> None:
    before = read_objects(client, [shop])
    make(deployment("blog", 1))
    assert read_objects(client, [shop]).version > before.version


def test_show_and_explain_by_context(shop: str, kubeconfig: Path) -> None:
    shown = json.loads(_bayplan("show", "--kubeconfig", kubeconfig, "--json").stdout)  # the namespace of the context
    assert shown["counts"]["containers"] == 6
    assert shown["pods"] == {"movable": 0, "stay": {"young": 6}}
    assert json.loads(_bayplan("show", "--kubeconfig", kubeconfig, "--context", "tests", "-A", "--json").stdout)["valid"]
    old = _bayplan("show", "--kubeconfig", kubeconfig, "--young", "0s", "--json")
    assert json.loads(old.stdout)["pods"] == {"movable": 6, "stay": {}}
    told = _bayplan("explain", "--kubeconfig", kubeconfig, f"{shop}/web")
    assert "4 of 4 pods stay: 4 young" in told.stdout


def test_a_context_that_does_not_exist_is_a_clear_word(shop: str, kubeconfig: Path) -> None:
    done = _bayplan("show", "--kubeconfig", kubeconfig, "--context", "prod")
    assert done.returncode == 2
    assert "no context 'prod'; expected one of tests" in done.stderr


def test_a_cordoned_node_keeps_its_pods_unless_it_is_drained(shop: str, client: Client) -> None:
    client.patch("/api/v1/nodes/node-0", {"spec": {"unschedulable": True}}, kind="merge")
    objects = read_objects(client, [shop])
    there = {name for name, pod in collected(objects, scope=(shop,), settings=OLD).pods.items() if pod.node == "node-0"}
    resting = collected(objects, scope=(shop,), settings=OLD).resting
    assert {name: why for name, why in resting.items() if name in there} == dict.fromkeys(there, "its node is cordoned")
    drained = CollectSettings(young=0.0, draining=frozenset({"node-0"}))
    assert not there & set(collected(objects, scope=(shop,), settings=drained).resting)
