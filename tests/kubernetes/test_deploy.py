"""What is shipped for Kubernetes: a real API server accepts it, it starts, both forms are the same; nothing is left behind."""

import base64
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.kubernetes.cleaning import cluster_wide_objects
from tests.kubernetes.objects import Json
from tests.kubernetes.renderers import CHART, apply, chart_objects, helm, kustomize_objects
from tests.kubernetes.waiting import wait_until

from bayplan.kubernetes.client import Client, RefusedError

pytestmark = pytest.mark.kubernetes
PLACE = "bayplan"
OPERATOR = {"ServiceMonitor", "PrometheusRule"}  # kinds of the Prometheus operator, which the control plane of the tests has not
VALUES: dict[str, tuple[str, ...]] = {
    "default": (),
    "auto": ("mode=auto",),
    "one namespace": ("mode=approve", "namespace=shop", "prometheus=discover"),
    "an older server": ("mode=auto", "surge=true", "webhook.enabled=true", "networkPolicy.enabled=true"),
    "certificates of one's own": ("mode=auto", "webhook.enabled=true", "webhook.secret=theirs"),
    "cron job": ("kind=CronJob",),
    "two replicas": ("mode=auto", "replicas=2", "store.url=postgresql://bayplan@db/bayplan", "podDisruptionBudget.enabled=true"),
    "everything": (
        "mode=auto", "prometheus=http://prometheus:9090", "extender.enabled=true", "extender.tlsSecret=extender-tls",
        "serviceMonitor.enabled=true", "alerts.enabled=true", "dashboard.enabled=true", "networkPolicy.enabled=true",
        "podDisruptionBudget.enabled=true", "priorityClassName=system-cluster-critical", "store.claim=bayplan",
        "options={--goal,local-traffic}", "env[0].name=PGPASSWORD", "env[0].value=x", "podAnnotations.a=b",
        "nodeSelector.disk=ssd", "tolerations[0].operator=Exists", "imagePullSecrets[0].name=r",
        "image.digest=sha256:" + 64 * "0",
    ),
}  # fmt: skip


@pytest.fixture
def place(clean_cluster: None, client: Client) -> Iterator[str]:
    """The namespace `bayplan`, in which only pods without any privilege may run; and `shop`."""
    restricted = {"pod-security.kubernetes.io/enforce": "restricted"}
    for name, labels in ((PLACE, restricted), ("shop", {})):
        wait_until(lambda name=name: not _there(client, name), f"the namespace {name} of another test to go")
        client.create("/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}})
    yield PLACE


def _there(client: Client, namespace: str) -> bool:
    try:
        return bool(client.get(f"/api/v1/namespaces/{namespace}"))
    except RefusedError:
        return False


def applicable(objects: list[Json]) -> list[Json]:
    return [each for each in objects if each["kind"] not in OPERATOR]


@pytest.mark.parametrize("name", VALUES)
def test_a_real_api_server_accepts_the_chart(client: Client, place: str, name: str) -> None:
    objects = applicable(chart_objects(*VALUES[name]))
    assert len(apply(client, objects, dryRun="All")) == len(objects)
    assert len(apply(client, objects)) == len(objects)


@pytest.mark.parametrize("folder", ["base", "auto", "cronjob"])
def test_a_real_api_server_accepts_what_kustomize_makes(client: Client, clean_cluster: None, folder: str) -> None:
    wait_until(lambda: not _there(client, PLACE), "the namespace of another test to go")
    objects = kustomize_objects(folder)
    assert len(apply(client, objects)) == len(objects)


def test_the_pods_of_the_chart_start_where_no_privilege_is_allowed(
    client: Client, place: str, fake_nodes: Callable[..., list[str]]
) -> None:
    fake_nodes(2)
    apply(client, chart_objects("extender.enabled=true", "mode=auto"))

    def ready() -> bool:
        found = client.list(f"/apis/apps/v1/namespaces/{place}/deployments").items
        return len(found) == 2 and all(each["status"].get("readyReplicas") == each["spec"]["replicas"] for each in found)

    wait_until(ready, "the controller and the extender to run")


def test_the_cron_job_makes_pods_that_may_start(client: Client, place: str, fake_nodes: Callable[..., list[str]]) -> None:
    fake_nodes(1)
    apply(client, chart_objects("kind=CronJob"))
    cron_job = client.get(f"/apis/batch/v1/namespaces/{place}/cronjobs/bayplan")
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "by-hand"},
        "spec": cron_job["spec"]["jobTemplate"]["spec"],
    }
    client.create(f"/apis/batch/v1/namespaces/{place}/jobs", job)
    pods = f"/api/v1/namespaces/{place}/pods"
    wait_until(lambda: [one for one in client.list(pods).items if one["status"].get("phase") == "Running"], "a pod that runs")


def test_helm_installs_upgrades_and_uninstalls_and_nothing_is_left(
    control_plane: Any, client: Client, clean_cluster: None, fake_nodes: Callable[..., list[str]]
) -> None:
    fake_nodes(2)
    wait_until(lambda: not _there(client, PLACE), "the namespace of another test to go")
    there = ("--kubeconfig", str(control_plane.kubeconfig), "--namespace", PLACE)
    client.create("/api/v1/namespaces", {"metadata": {"name": PLACE}})
    before = cluster_wide_objects(client)
    assert "changes nothing" in helm("install", "bayplan", str(CHART), *there, "--wait", "--timeout", "60s")
    helm("upgrade", "bayplan", str(CHART), *there, "--set", "mode=auto", "--wait", "--timeout", "60s")
    assert any("bayplan-mover" in path for path in cluster_wide_objects(client) - before)
    helm("upgrade", "bayplan", str(CHART), *there, "--set", "mode=manual", "--wait", "--timeout", "60s")
    assert not any("bayplan-mover" in path or "guard" in path for path in cluster_wide_objects(client) - before)
    helm("uninstall", "bayplan", *there, "--wait")
    assert cluster_wide_objects(client) == before


def comparable(objects: list[Json]) -> dict[tuple[str, str], Json]:
    """By kind and name, without the namespace itself and without labels that only one of the two tools writes."""
    written = ("helm.sh/chart", "app.kubernetes.io/managed-by", "app.kubernetes.io/version")
    return {(each["kind"], each["metadata"]["name"]): _without(each, written) for each in objects if each["kind"] != "Namespace"}


def _without(value: Any, labels: tuple[str, ...]) -> Any:
    if isinstance(value, dict):
        return {key: _without(inner, labels) for key, inner in value.items() if key not in labels}
    return [_without(inner, labels) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize(("folder", "values"), [("base", ()), ("auto", ("mode=auto",)), ("cronjob", ("kind=CronJob",))])
def test_kustomize_and_helm_make_the_same_objects(folder: str, values: tuple[str, ...]) -> None:
    by_kustomize, by_helm = comparable(kustomize_objects(folder)), comparable(chart_objects(*values))
    for cron_job in [each for (kind, _), each in by_kustomize.items() if kind == "CronJob"]:
        del cron_job["spec"]["jobTemplate"]["metadata"]  # kustomize labels jobs, too
    assert by_kustomize == by_helm


def test_the_chart_is_in_order() -> None:
    helm("lint", "--strict", "--kube-version", "1.36.4", str(CHART))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (("mode=automatic",), "mode 'automatic': expected manual, approve or auto"),
        (("kind=DaemonSet",), "kind 'DaemonSet': expected Deployment or CronJob"),
        (("kind=CronJob", "mode=auto"), "a CronJob plans only: expected mode manual, not 'auto'"),
        (("replicas=2",), "2 replicas need one record: expected store.url"),
    ],
)
def test_values_that_make_no_sense_are_refused_with_what_was_expected(values: tuple[str, ...], words: str) -> None:
    with pytest.raises(subprocess.CalledProcessError) as error:
        chart_objects(*values)
    assert words in error.value.stderr


def test_the_chart_makes_a_certificate_for_the_service_that_it_names() -> None:
    objects = {(each["kind"], each["metadata"]["name"]): each for each in chart_objects("mode=auto", "webhook.enabled=true")}
    secret = objects["Secret", "bayplan-webhook"]["data"]
    (container,) = objects["Deployment", "bayplan"]["spec"]["template"]["spec"]["containers"]
    assert {"--webhook=bayplan/bayplan-webhook", "--webhook-certs=/certs", "--webhook-listen=:9443"} <= set(container["args"])
    assert objects["Service", "bayplan-webhook"]["spec"]["ports"] == [{"name": "webhook", "port": 443, "targetPort": "webhook"}]
    said = subprocess.run(
        ["openssl", "x509", "-noout", "-ext", "subjectAltName"],
        input=base64.b64decode(secret["tls.crt"]),
        capture_output=True,
        check=True,
    )
    assert b"DNS:bayplan-webhook.bayplan.svc" in said.stdout
    assert ("ClusterRole", "bayplan-gate") not in objects and ("ClusterRole", "bayplan-webhook") in objects


def test_another_release_name_and_namespace_are_used_everywhere(tmp_path: Path) -> None:
    objects = chart_objects("mode=auto", "extender.enabled=true", namespace="tools", release="east")
    names = {each["metadata"]["name"] for each in objects}
    assert all(name.startswith("east-bayplan") for name in names)
    bindings = [each for each in objects if each["kind"].endswith("RoleBinding")]
    assert {(subject["namespace"], subject["name"]) for each in bindings for subject in each["subjects"]} == {
        ("tools", "east-bayplan"),
        ("tools", "east-bayplan-extender"),
    }
    guards = [each["spec"]["matchConditions"][0]["expression"] for each in objects if each["kind"] == "ValidatingAdmissionPolicy"]
    assert guards == ['request.userInfo.username == "system:serviceaccount:tools:east-bayplan"'] * 2
