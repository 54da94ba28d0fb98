"""The real kube-scheduler asks our extender: talking pods come together, planned pods reach their node; it is never needed."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.kubernetes.objects import Json, container, deployment
from tests.kubernetes.waiting import wait_until

from bayplan.kubernetes.client import Client
from bayplan.kubernetes.marks import STEP, TARGET

pytestmark = pytest.mark.kubernetes
WEIGHT = 1000  # above all of the scheduler's own scores together: what we prefer is what happens
PART_OF = "app.kubernetes.io/part-of"


@contextmanager
def serving(kubeconfig: Path, *options: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """`bayplan serve --extender` in a process of its own: its address, when it knows the cluster, and the process."""
    command = [sys.executable, "-m", "bayplan", "serve", "--extender", "--kubeconfig", str(kubeconfig), "--listen", "127.0.0.1:0"]
    process = subprocess.Popen([*command, "--json", *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert process.stdout is not None
        address = json.loads(process.stdout.readline())["address"]
        wait_until(lambda: _ready(address), "the extender to know the cluster")
        yield address, process
    finally:
        process.kill()
        process.communicate()


def _ready(address: str) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{address}/readyz", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def extenders(address: str, *, cached: bool = True) -> list[Json]:
    """The part of the scheduler's configuration that docs/kubernetes/extender.md shows."""
    return [
        {
            "urlPrefix": address,
            "filterVerb": "filter",
            "prioritizeVerb": "prioritize",
            "weight": WEIGHT,
            "nodeCacheCapable": cached,
            "ignorable": True,
            "httpTimeout": "2s",
        }
    ]


def nodes_of(client: Client, namespace: str, app: str, number: int) -> list[str]:
    """The nodes of an application's pods, once all have one."""

    def placed() -> list[str]:
        pods = client.list(f"/api/v1/namespaces/{namespace}/pods", labelSelector=f"app={app}").items
        names = [pod["spec"].get("nodeName", "") for pod in pods]
        return names if len(names) == number and all(names) else []

    return list(wait_until(placed, f"nodes for {number} pods of {app}"))


def single_pod(name: str, *, step: str = "", target: str = "") -> Json:
    notes = {STEP: step, TARGET: target} if step else {}
    about = {"name": name, "labels": {"app": name}, "annotations": notes}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": about, "spec": {"containers": [container()]}}


@pytest.mark.parametrize("cached", [True, False], ids=["node names", "whole nodes"])
def test_pods_of_two_talking_deployments_come_together(
    control_plane: Any,
    client: Client,
    namespace: str,
    fake_nodes: Callable[..., list[str]],
    make: Callable[[Json], Json],
    cached: bool,
) -> None:
    fake_nodes(6)
    with (
        serving(control_plane.kubeconfig, "--candidates", "100%") as (address, _),
        control_plane.scheduler_with(extenders=extenders(address, cached=cached)),
    ):
        make(deployment("web", 3, labels={PART_OF: "shop"}))
        web = nodes_of(client, namespace, "web", 3)
        make(deployment("api", 3, labels={PART_OF: "shop"}))
        api = nodes_of(client, namespace, "api", 3)
        make(deployment("other", 1, labels={PART_OF: "elsewhere"}))
        other = nodes_of(client, namespace, "other", 1)
    assert len({*web, *api}) == 1
    assert not {*web, *api} & {*other}


def test_without_the_extender_the_same_pods_are_spread(
    client: Client, namespace: str, fake_nodes: Callable[..., list[str]], make: Callable[[Json], Json]
) -> None:
    """What makes the test above able to fail."""
    fake_nodes(6)
    for name in ("web", "api"):
        make(deployment(name, 3, labels={PART_OF: "shop"}))
    assert len({*nodes_of(client, namespace, "web", 3), *nodes_of(client, namespace, "api", 3)}) > 1


def test_a_planned_pod_reaches_its_node_and_no_other(
    control_plane: Any, client: Client, namespace: str, fake_nodes: Callable[..., list[str]], make: Callable[[Json], Json]
) -> None:
    names = fake_nodes(6)
    with serving(control_plane.kubeconfig) as (address, _), control_plane.scheduler_with(extenders=extenders(address)):
        for number, target in enumerate(names):
            make(single_pod(f"moved-{number}", step=f"step-{number}", target=target))
        assert [nodes_of(client, namespace, f"moved-{number}", 1) for number in range(6)] == [[name] for name in names]


def test_a_planned_pod_whose_node_is_closed_waits_and_then_goes_elsewhere(
    control_plane: Any, client: Client, namespace: str, fake_nodes: Callable[..., list[str]], make: Callable[[Json], Json]
) -> None:
    names = fake_nodes(3)
    client.patch(f"/api/v1/nodes/{names[1]}", {"spec": {"unschedulable": True}})
    with (
        serving(control_plane.kubeconfig, "--patience", "4s") as (address, _),
        control_plane.scheduler_with(extenders=extenders(address), podMaxBackoffSeconds=2),
    ):
        make(single_pod("moved", step="step-1", target=names[1]))
        refused = wait_until(lambda: _refusal(client, namespace, "moved"), "the pod to be refused")
        assert f"bayplan moves this pod to node {names[1]}, which is not possible now" in refused
        node = wait_until(lambda: _node_after_change(client, namespace, "moved", names[0]), "a node for the pod")
    assert node in (names[0], names[2])


def _node_after_change(client: Client, namespace: str, name: str, changed: str) -> str:
    """The node of a pod. Something changes in the cluster each time: else the scheduler tries again after 5 minutes only."""
    client.patch(f"/api/v1/nodes/{changed}", {"metadata": {"labels": {"tests.bayplan/changed": str(time.monotonic_ns())}}})
    return str(client.get(f"/api/v1/namespaces/{namespace}/pods/{name}")["spec"].get("nodeName", ""))


def _refusal(client: Client, namespace: str, name: str) -> str:
    """Why the scheduler does not place a pod."""
    pod = client.get(f"/api/v1/namespaces/{namespace}/pods/{name}")
    return next(
        (state.get("message", "") for state in pod["status"].get("conditions", ()) if state["type"] == "PodScheduled"), ""
    )


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "hanging"])
def test_scheduling_goes_on_without_the_extender(
    control_plane: Any,
    client: Client,
    namespace: str,
    fake_nodes: Callable[..., list[str]],
    make: Callable[[Json], Json],
    end: signal.Signals,
) -> None:
    fake_nodes(4)
    with serving(control_plane.kubeconfig) as (address, process), control_plane.scheduler_with(extenders=extenders(address)):
        make(deployment("before", 2))
        nodes_of(client, namespace, "before", 2)
        os.kill(process.pid, end)
        make(deployment("after", 2))
        assert len(nodes_of(client, namespace, "after", 2)) == 2


def test_sigterm_ends_it_cleanly(control_plane: Any, clean_cluster: None) -> None:
    with serving(control_plane.kubeconfig) as (_, process):
        process.terminate()
        assert process.wait(timeout=20) == 0
