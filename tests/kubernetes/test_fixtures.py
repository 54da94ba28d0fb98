"""What tests can ask of the control plane: slow pods, another scheduler, forgotten versions, and a clean cluster afterwards."""

from typing import Any

import pytest
from tests.kubernetes.cleaning import cleaned, cluster_wide_objects
from tests.kubernetes.nodes import make_nodes
from tests.kubernetes.objects import container, deployment, is_ready
from tests.kubernetes.stages import COMPLETE_AFTER, GONE_AFTER, READY_AFTER
from tests.kubernetes.waiting import wait_until

from bayplan.kubernetes.client import Client, RefusedError

pytestmark = pytest.mark.kubernetes


def _pods(client: Client, namespace: str) -> list[dict[str, Any]]:
    return client.list(f"/api/v1/namespaces/{namespace}/pods").items


def _pod(name: str, annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "annotations": annotations or {}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container()], **spec}}


def test_a_node_of_a_manifest_becomes_ready(client, clean_cluster):
    client.create("/api/v1/nodes", {"metadata": {"name": "bare"}})
    assert wait_until(lambda: is_ready(client.get("/api/v1/nodes/bare")), "the node is ready")


def test_a_pod_becomes_ready_after_the_time_of_its_annotation(client, namespace, fake_nodes, make):
    fake_nodes(1)
    make(_pod("slow", {READY_AFTER: "1s"}))
    make(_pod("never", {READY_AFTER: "1h"}))
    wait_until(lambda: [pod for pod in _pods(client, namespace) if is_ready(pod)], "a ready pod")
    states = {pod["metadata"]["name"]: (pod["status"]["phase"], is_ready(pod)) for pod in _pods(client, namespace)}
    assert states == {"slow": ("Running", True), "never": ("Running", False)}


def test_a_terminating_pod_stays_for_the_time_of_its_annotation_beside_its_replacement(client, namespace, fake_nodes, make):
    fake_nodes(1)
    make(deployment("web", 1, annotations={GONE_AFTER: "1h"}))
    first = wait_until(lambda: [pod for pod in _pods(client, namespace) if is_ready(pod)], "a ready pod")[0]["metadata"]
    client.delete(f"/api/v1/namespaces/{namespace}/pods/{first['name']}")
    pods = wait_until(lambda: [pods for pods in [_pods(client, namespace)] if len(pods) == 2], "a replacement")[0]
    assert [bool(pod["metadata"].get("deletionTimestamp")) for pod in pods if pod["metadata"]["uid"] == first["uid"]] == [True]


def test_the_pod_of_a_job_runs_until_the_time_of_its_annotation(client, namespace, fake_nodes, make):
    fake_nodes(1)
    for name, annotations in (("short", {COMPLETE_AFTER: "1s"}), ("long", {})):
        template = {"metadata": {"annotations": annotations}, "spec": {"restartPolicy": "Never", "containers": [container()]}}
        make({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {"template": template}})
    job = f"/apis/batch/v1/namespaces/{namespace}/jobs"
    wait_until(lambda: client.get(f"{job}/short")["status"].get("succeeded") == 1, "the short job is done")
    assert client.get(f"{job}/long")["status"].get("succeeded") is None


def test_the_scheduler_takes_another_configuration_for_a_while(client, control_plane, namespace, fake_nodes, make):
    fake_nodes(1)
    with control_plane.scheduler_with(profiles=[{"schedulerName": "other"}]):
        make(_pod("ours", schedulerName="other"))
        make(_pod("default"))
        wait_until(lambda: [pod for pod in _pods(client, namespace) if is_ready(pod)], "a ready pod")
        assert [pod["metadata"]["name"] for pod in _pods(client, namespace) if pod["spec"].get("nodeName")] == ["ours"]
    wait_until(lambda: len([pod for pod in _pods(client, namespace) if is_ready(pod)]) == 2, "both pods are ready")


def test_who_goes_on_from_a_forgotten_version_gets_410(client, control_plane, namespace, make):
    for k in range(3):
        make({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"map-{k}"}})
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    page = client.get(path, limit=1)["metadata"]
    make({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "later"}})
    control_plane.forget_versions()
    with pytest.raises(RefusedError) as next_page:
        client.get(path, **{"limit": 1, "continue": page["continue"]})
    with pytest.raises(RefusedError) as watched:
        list(client.watch(path, page["resourceVersion"], 5))
    assert (next_page.value.status, watched.value.status) == (410, 410)


def test_nothing_is_left_of_what_was_made_inside_of_a_block(client, namespace):
    before = cluster_wide_objects(client)
    with cleaned(client):
        make_nodes(client, 2, prefix="other")
        client.create("/api/v1/namespaces", {"metadata": {"name": "other"}})
        wait_until(lambda: client.list("/api/v1/namespaces/other/serviceaccounts").items, "the service account")
        client.create("/api/v1/namespaces/other/pods", _pod("held", {GONE_AFTER: "1h"}))
        wait_until(lambda: is_ready(client.get("/api/v1/namespaces/other/pods/held")), "a ready pod")
        role = {"metadata": {"name": "other"}, "rules": []}
        client.create("/apis/rbac.authorization.k8s.io/v1/clusterroles", role)
    assert cluster_wide_objects(client) == before
    assert _pods(client, "other") == []
