"""Without policies and nominations, as on older API servers: a webhook of ours, a node affinity; nothing is left behind."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from tests.builders.certificates import self_signed
from tests.kubernetes.cleaning import cluster_wide_objects
from tests.kubernetes.moves import Bench
from tests.kubernetes.objects import Json, deployment, disruption_budget
from tests.kubernetes.processes import free_port
from tests.kubernetes.shops import Shop, make_shop
from tests.kubernetes.watcher import Watcher

import bayplan as bp
from bayplan.cli.main import main
from bayplan.kubernetes.client import Client
from bayplan.kubernetes.execute import uninstall
from bayplan.kubernetes.execute.gate_webhook import WebhookSettings
from bayplan.kubernetes.execute.gates import webhook_of
from bayplan.kubernetes.execute.node_naming import NodeNaming
from bayplan.operate.orchestrator import StepState

pytestmark = pytest.mark.kubernetes
REPLICAS = 4
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
POLICIES = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies"


@pytest.fixture
def webhook(client: Client, tmp_path: Path) -> Iterator[tuple[ExitStack, dict[str, object]]]:
    """A webhook that answers until its stack is closed, and how an orchestrator uses it."""
    self_signed(tmp_path)
    port = free_port()
    settings = WebhookSettings(reach=f"https://127.0.0.1:{port}", certificates=tmp_path, listen=f"127.0.0.1:{port}")
    with ExitStack() as answering:
        address = answering.enter_context(webhook_of(client, settings, lambda event, fields: None))
        yield answering, {"webhook": address, "naming": NodeNaming.AFFINITY}


@pytest.fixture
def bench(client: Client, namespace: str, fake_nodes: Callable[..., list[str]], make: Callable[[Json], Json], webhook) -> Bench:
    """Four replicas of `web` on five nodes; at most one may be missing."""
    names = fake_nodes(5)
    make(deployment("web", REPLICAS))
    make(disruption_budget("web", app="web", maxUnavailable=1))
    shop = Shop(client=client, namespace=namespace, traffic={})
    shop.wait_ready(REPLICAS)
    nodes = {node["metadata"]["name"]: node["metadata"]["uid"] for node in client.list("/api/v1/nodes").items}
    bench = Bench(shop=shop, orchestrator=shop.orchestrator(**webhook[1]), nodes={name: nodes[name] for name in names})
    bench.orchestrator.observe()
    return bench


def moved(bench: Bench, pod: Json, node: str):
    """Move a pod, and the report of its create."""
    delete, create = bench.delete(pod), bench.create(pod, node)
    bench.prepare(delete, replace(create, token=""))
    assert bench.made(delete).state is StepState.DONE
    assert len(bench.gated()) == 1
    bench.orchestrator.observe()
    bench.prepare(create)
    return bench.made(create)


def test_a_replica_moves_to_its_node_and_can_be_moved_again(bench, client):
    pod = bench.first()
    node = bench.elsewhere(pod)
    report = moved(bench, pod, node)
    assert report.state is StepState.DONE
    assert len(client.list(WEBHOOKS).items) == 1 and client.list(POLICIES).items == []
    bench.orchestrator.release("1-abc")
    assert client.list(WEBHOOKS).items == []
    placed = bench.pod(report.uid)
    assert placed["spec"]["nodeName"] == node and placed["spec"]["affinity"]["nodeAffinity"]
    snapshot = bench.orchestrator.observe().snapshot  # where its owner lets it run, not where we tied it to
    name = f"{bench.shop.namespace}/{pod['metadata']['name']}"
    assert set(bp.explain(snapshot, name).fits) == set(bench.nodes)
    third = next(each for each in bench.nodes if each not in (node, pod["spec"]["nodeName"]))
    assert moved(bench, placed, third).state is StepState.DONE
    bench.orchestrator.release("1-abc")


def test_only_new_pods_of_the_owner_that_is_moved_wait(bench, make):
    bench.prepare(bench.delete(bench.first()))
    make(deployment("other", 2))
    bench.shop.wait_ready(REPLICAS + 2)
    assert not bench.gated()


def test_a_webhook_that_is_gone_keeps_no_pod_waiting(bench, webhook):
    pod = bench.first()
    delete = bench.delete(pod, steered=False)
    bench.prepare(bench.delete(pod))
    webhook[0].close()
    assert bench.made(delete).state is StepState.DONE
    bench.shop.wait_ready(REPLICAS)
    assert not bench.gated()


def test_a_pod_that_its_node_does_not_take_is_replaced_and_let_go(bench, client):
    pod = bench.first()
    node = bench.elsewhere(pod)
    delete, create = bench.delete(pod), bench.create(pod, node)
    bench.prepare(delete, create)
    bench.made(delete)
    cordoned = {"key": "full", "effect": "NoSchedule"}
    client.patch(f"/api/v1/nodes/{node}", {"spec": {"taints": [cordoned]}})
    step = bench.orchestrator.execute(create)
    assert step.state is StepState.RUNNING
    report = bench.orchestrator.cancel(create.token)
    assert (report.state, report.reason) == (StepState.FAILED, "cancelled before it was bound to a node")
    bench.orchestrator.release("1-abc")
    bench.shop.wait_ready(REPLICAS)
    assert not bench.gated()


def test_a_tied_pod_of_a_process_that_is_gone_is_freed_by_the_next_one(bench, client, webhook):
    pod = bench.first()
    node = bench.elsewhere(pod)
    delete, create = bench.delete(pod), bench.create(pod, node)
    bench.prepare(delete, create, seconds=3.0)
    bench.made(delete)
    client.patch(f"/api/v1/nodes/{node}", {"spec": {"taints": [{"key": "full", "effect": "NoSchedule"}]}})
    bench.orchestrator.execute(create)
    other = bench.shop.orchestrator(**webhook[1])

    def freed() -> bool:
        other.end_overdue()
        ready = [each for each in bench.shop.pods() if each["spec"].get("nodeName")]
        return len(ready) == REPLICAS

    bench.wait_for(freed, "every pod has a node")
    bench.shop.wait_ready(REPLICAS)
    assert client.list(WEBHOOKS).items == []


def test_uninstall_takes_webhooks_off_and_frees_what_waits(bench, client):
    pod = bench.first()
    bench.prepare(bench.delete(pod), bench.create(pod, bench.elsewhere(pod)))
    bench.made(bench.delete(pod))
    found = uninstall(client)
    assert (found.policies, found.gates) == (1, 1)
    bench.shop.wait_ready(REPLICAS)
    assert client.list(WEBHOOKS).items == []


@pytest.mark.parametrize("way", ["webhook", "surge"])
def test_a_plan_is_carried_out_by_the_command_line(
    way, control_plane, client, namespace, kubeconfig, fake_nodes, make, tmp_path, capsys
):
    """With a webhook; and with a surge, where no replica may be missing at any time."""
    before = cluster_wide_objects(client)
    fake_nodes(12)
    shop = make_shop(client, namespace, make, deployments=6, replicas=4, constrained=False)
    alive = 1.0 if way == "surge" else 0.75
    plan = bp.plan(
        shop.orchestrator().observe().snapshot, seconds=3, seed=0, way="auto" if way == "surge" else "replace", alive=alive
    )
    assert plan.moved > 2
    plan.save(tmp_path / "plan.json")
    self_signed(tmp_path)
    port = free_port()
    options = {
        "surge": ["--surge"],
        "webhook": ["--webhook", f"https://127.0.0.1:{port}", "--webhook-certs", str(tmp_path), "--webhook-listen", f":{port}"],
    }[way]
    command = ["apply", str(tmp_path / "plan.json"), "--kubeconfig", str(kubeconfig), "--store", str(tmp_path / "r.db"), "--json"]
    with Watcher(control_plane.kubeconfig) as watcher:
        capsys.readouterr()
        assert main([*command, "--settle", "0s", "--alive", str(alive), "--yes", *options]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["status"], said["done"]["moved"]) == ("done", plan.moved), said
    assert (watcher.violations, watcher.gated) == ([], [])
    assert {path for path in cluster_wide_objects(client) - before if "steer" in path} == set()
