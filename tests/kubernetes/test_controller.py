"""Controllers on a real control plane: one acts, another takes over, and everything is told on the objects of the cluster."""

import base64
import signal
import sqlite3
import time
from datetime import datetime

import pytest
import yaml
from tests.kubernetes.cleaning import cluster_wide_objects
from tests.kubernetes.controllers import QUICK, controllers
from tests.kubernetes.objects import deployment
from tests.kubernetes.waiting import wait_until

from bayplan.kubernetes.client import Client, RefusedError
from bayplan.kubernetes.controller.holds import rfc3339
from bayplan.kubernetes.controller.metrics import METRICS
from bayplan.kubernetes.marks import HOLD_REASON, HOLD_UNTIL
from bayplan.model.record import Hold
from bayplan.operate.store import Store

pytestmark = pytest.mark.kubernetes
LENGTH, RETRY = 15.0, 2.0


@pytest.fixture
def start(tmp_path):
    with controllers(tmp_path) as started:
        yield started


@pytest.fixture
def uneven(client, namespace, fake_nodes, make):
    """Two Deployments on two of three nodes: the third is empty, and a plan that balances moves something there."""
    return _uneven(client, namespace, fake_nodes, make)


def _uneven(client, namespace, fake_nodes, make, **annotations):
    fake_nodes(3)
    client.patch("/api/v1/nodes/node-2", {"spec": {"unschedulable": True}})
    for name in ("web", "api"):
        make(deployment(name, 4, cpu="700m", annotations=annotations))
    wait_until(lambda: _ready(client, namespace) == 8, "eight ready pods")
    client.patch("/api/v1/nodes/node-2", {"spec": {"unschedulable": None}})
    return namespace


def _pods(client, namespace):
    return client.list(f"/api/v1/namespaces/{namespace}/pods").items


def _ready(client, namespace):
    conditions = [each["status"].get("conditions") or () for each in _pods(client, namespace)]
    return sum(any(one["type"] == "Ready" and one["status"] == "True" for one in each) for each in conditions)


def _lease(client, namespace):
    try:
        return client.get(f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/bayplan")["spec"]
    except RefusedError:
        return {}


def _owner(client, namespace, name="web"):
    return client.get(f"/apis/apps/v1/namespaces/{namespace}/deployments/{name}")["metadata"]


def _events(client, namespace):
    events = client.list(f"/apis/events.k8s.io/v1/namespaces/{namespace}/events").items
    return [each for each in events if each.get("reportingController") == "bayplan.io/controller"]


def test_a_controller_moves_pods_tells_it_everywhere_and_ends_in_order(client, kubeconfig, uneven, start):
    before = cluster_wide_objects(client)
    c = start("--kubeconfig", str(kubeconfig), "--goal", "balance", "--mode", "auto", "--every", "1h", *QUICK)
    c.await_line("turn", "executed", seconds=180)
    status, body = c.get("/readyz")
    assert status == 200 and '"role": "leader"' in body
    assert c.get("/healthz")[0] == 200
    metrics = c.get("/metrics")[1]
    assert all(f"# TYPE {name}" in metrics for name in METRICS)
    assert "bayplan_leader 1.0" in metrics and 'bayplan_turns_total{verdict="executed"} 1.0' in metrics
    moved = sum(pod["spec"]["nodeName"] == "node-2" for pod in _pods(client, uneven))
    assert moved >= 2
    assert f'bayplan_moves_total{{outcome="completed"}} {moved}.0' in metrics
    code, answer = c.end()
    assert code == 0 and "1 of 1" not in answer and "moved" in answer
    events = {(each["reason"], each["regarding"]["kind"]) for each in _events(client, uneven)}
    assert events == {
        ("PlanComputed", "Deployment"),
        ("MoveStarted", "Pod"),
        ("MoveStarted", "Deployment"),
        ("MoveCompleted", "Pod"),
        ("MoveCompleted", "Deployment"),
    }
    assert "holderIdentity" not in _lease(client, uneven)
    assert cluster_wide_objects(client) == before
    assert _ready(client, uneven) == 8


def test_when_the_one_that_acts_is_killed_the_other_takes_over_in_15_to_17_seconds(client, kubeconfig, uneven, start):
    arguments = ("--kubeconfig", str(kubeconfig), "--every", "1h", *QUICK)
    first = start(*arguments, "--store", "first.db")
    first.await_leader()
    second = start(*arguments, "--store", "second.db")
    wait_until(lambda: _answers(second), "the second one is ready")
    assert '"role": "standby"' in second.get("/readyz")[1]
    holder = _lease(client, uneven)["holderIdentity"]
    first.process.kill()
    first.process.wait()
    last = _lease(client, uneven)
    assert last["holderIdentity"] == holder
    second.await_leader()
    taken = _lease(client, uneven)
    waited = _seconds(taken["acquireTime"]) - _seconds(last["renewTime"])
    assert LENGTH - 0.1 <= waited <= LENGTH + RETRY + 1.0  # a second more for a machine that is busy
    assert taken["holderIdentity"] != holder and taken["leaseTransitions"] == last["leaseTransitions"] + 1
    assert second.end()[0] == 0


def _answers(controller):
    return bool(controller.lines("listen")) and controller.get("/readyz")[0] == 200


def _seconds(text):
    return datetime.fromisoformat(text).timestamp()


def test_one_that_is_told_to_end_gives_the_lease_to_the_other_at_once(client, kubeconfig, uneven, start):
    arguments = ("--kubeconfig", str(kubeconfig), "--every", "1h", *QUICK)
    first = start(*arguments, "--store", "first.db")
    first.await_leader()
    second = start(*arguments, "--store", "second.db")
    wait_until(lambda: _answers(second), "the second one is ready")
    began = time.monotonic()
    assert first.end()[0] == 0
    second.await_leader()
    assert time.monotonic() - began < LENGTH - 2
    assert second.end(signal.SIGINT)[0] == 0
    assert "holderIdentity" not in _lease(client, uneven)


def test_told_to_end_in_the_middle_of_a_move_it_cancels_it_and_leaves_nothing_behind(
    client, kubeconfig, namespace, fake_nodes, make, start
):
    _uneven(client, namespace, fake_nodes, make, **{"tests.bayplan/ready-after": "20s"})
    before = cluster_wide_objects(client)
    c = start("--kubeconfig", str(kubeconfig), "--goal", "balance", "--mode", "auto", "--every", "1h", "--grace", "3s", *QUICK)
    c.await_line("gate")
    wait_until(lambda: _waits_for_ready(client, namespace), "a replacement that is not ready", seconds=120)
    began = time.monotonic()
    assert c.end()[0] == 0
    assert time.monotonic() - began < 45, c.text  # on a busy machine
    assert cluster_wide_objects(client) == before
    assert not [pod for pod in _pods(client, namespace) if pod["spec"].get("schedulingGates")]
    assert "holderIdentity" not in _lease(client, namespace)
    assert "steps cancelled" in c.text


def _waits_for_ready(client, namespace):
    return [pod for pod in _pods(client, namespace) if pod["metadata"].get("annotations", {}).get("bayplan.io/step")]


def test_holds_of_the_record_are_written_on_owners_honoured_and_ended_by_a_person(client, kubeconfig, uneven, tmp_path, start):
    with Store.open(tmp_path / "held.db") as store:
        fence = store.acquire("test", time.time(), 60)
        until = time.time() + 86400
        store.hold([Hold(workload=f"{uneven}/web", until=until, why="made a machine skewed")], fence)
        store.release(fence)
    pods = {pod["metadata"]["uid"] for pod in _pods(client, uneven)}
    c = start("--kubeconfig", str(kubeconfig), "--store", "held.db", "--every", "2s", "--goal", "balance", *QUICK)
    wait_until(lambda: HOLD_UNTIL in _owner(client, uneven).get("annotations", {}), "the hold on the owner", seconds=120)
    annotations = _owner(client, uneven)["annotations"]
    assert (annotations[HOLD_UNTIL], annotations[HOLD_REASON]) == (rfc3339(until), "made a machine skewed")
    c.await_line("skip", "4 held", number=2)
    c.await_line("turn", number=3)  # by then it has seen on the owner what it wrote
    assert "bayplan_holds 1.0" in c.get("/metrics")[1]
    path = f"/apis/apps/v1/namespaces/{uneven}/deployments/web"
    client.patch(path, {"metadata": {"annotations": {HOLD_UNTIL: rfc3339(time.time() - 1)}}})
    wait_until(lambda: HOLD_UNTIL not in _owner(client, uneven).get("annotations", {}), "the hold is removed", seconds=120)
    assert HOLD_REASON not in _owner(client, uneven)["annotations"]
    wait_until(lambda: "bayplan_holds 0.0" in c.get("/metrics")[1], "the record knows")
    assert c.end()[0] == 0
    assert {pod["metadata"]["uid"] for pod in _pods(client, uneven)} == pods  # an annotation begins no rollout


def test_a_hold_on_an_owner_counts_although_the_record_is_lost(client, kubeconfig, uneven, start):
    path = f"/apis/apps/v1/namespaces/{uneven}/deployments/web"
    client.patch(path, {"metadata": {"annotations": {HOLD_UNTIL: rfc3339(time.time() + 3600), HOLD_REASON: "before"}}})
    c = start("--kubeconfig", str(kubeconfig), "--every", "1h", "--goal", "balance", "--mode", "auto", *QUICK)
    c.await_line("turn")
    assert c.end()[0] == 0
    assert "held until" in c.await_line("skip")["message"]
    assert _owner(client, uneven)["annotations"][HOLD_REASON] == "before"
    assert not [pod for pod in _pods(client, uneven) if "web-" in pod["metadata"]["name"] and pod["spec"]["nodeName"] == "node-2"]


def test_without_the_api_server_it_stops_acting_and_comes_back_by_itself(control_plane, client, kubeconfig, uneven, start):
    c = start("--kubeconfig", str(kubeconfig), "--every", "1h", *QUICK)
    c.await_line("turn")
    control_plane.api_server.kill()
    c.await_line("lease", "not ours any more")
    assert c.get("/readyz")[0] == 503 and c.get("/healthz")[0] == 200
    assert "bayplan_leader 0.0" in c.get("/metrics")[1]
    control_plane.start()
    c.await_line("lease", "holds the lease", number=2)
    wait_until(lambda: c.get("/readyz")[0] == 200, "it is ready again")
    assert c.end()[0] == 0


def test_nothing_secret_is_in_the_log_the_record_the_metrics_or_the_answer(control_plane, client, uneven, make, tmp_path, start):
    make({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "mover"}})
    make(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": f"mover-{uneven}"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"kind": "ServiceAccount", "name": "mover", "namespace": uneven}],
        }
    )
    file = control_plane.service_account_kubeconfig(tmp_path / "token.kubeconfig", uneven, "mover")
    config = yaml.safe_load(file.read_text())
    token = config["users"][0]["user"]["token"]
    authority = config["clusters"][0]["cluster"]["certificate-authority-data"]
    c = start("--kubeconfig", str(file), "--goal", "balance", "--mode", "auto", "--every", "2s", "--store", "s.db", *QUICK)
    c.await_line("turn", "executed", seconds=180)
    metrics = c.get("/metrics")[1] + c.get("/readyz")[1]
    control_plane.api_server.kill()
    c.await_line("problem")  # what it says about a connection that broke
    control_plane.start()
    code, answer = c.end()
    assert code == 0
    with sqlite3.connect(tmp_path / "s.db") as record:
        stored = "\n".join(record.iterdump())
    record.close()
    told = "\n".join([c.text, answer, metrics, stored])
    secrets = [token, *token.split("."), authority[200:260], base64.b64decode(authority).decode().splitlines()[5]]
    assert "turn" in told and [secret[:12] for secret in secrets if secret in told] == []


def test_in_a_pod_it_is_connected_as_the_service_account(control_plane, client, namespace, tmp_path, monkeypatch):
    from kubernetes.config import incluster_config

    kubeconfig = control_plane.service_account_kubeconfig(tmp_path / "token.kubeconfig", namespace, "default")
    config = yaml.safe_load(kubeconfig.read_text())
    (tmp_path / "token").write_text(config["users"][0]["user"]["token"])
    (tmp_path / "ca.crt").write_bytes(base64.b64decode(config["clusters"][0]["cluster"]["certificate-authority-data"]))
    (tmp_path / "namespace").write_text(namespace)
    host, port = control_plane.server.removeprefix("https://").split(":")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", port)
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(tmp_path / "token"))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(tmp_path / "ca.crt"))
    monkeypatch.setattr("bayplan.kubernetes.client._SERVICE_ACCOUNT", tmp_path)
    inside = Client.in_cluster()
    assert (inside.context, inside.namespace) == ("in-cluster", namespace)
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    who = inside.create("/apis/authentication.k8s.io/v1/selfsubjectreviews", review)
    assert who["status"]["userInfo"]["username"] == f"system:serviceaccount:{namespace}:default"
    with pytest.raises(RefusedError, match="403"):
        inside.list(f"/api/v1/namespaces/{namespace}/pods")
