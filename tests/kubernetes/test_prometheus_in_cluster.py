"""Prometheus as a Service of a real cluster: discovered, asked through the API server, its names attributed by real owners."""

import socket
import time

import pytest
from tests.builders import prometheus
from tests.kubernetes.exporter import OUTSIDE, Place, PodUsage, cadvisor, caretta, istio
from tests.kubernetes.objects import container, deployment
from tests.kubernetes.waiting import wait_until

from bayplan.errors import UsageError
from bayplan.kubernetes.client import Client
from bayplan.kubernetes.collect.objects import read_objects
from bayplan.kubernetes.collect.snapshot import collected
from bayplan.kubernetes.measure import MeasurementRequest, measure
from bayplan.kubernetes.prometheus.measure import MeasurementSettings
from bayplan.kubernetes.prometheus.server import PrometheusUnavailableError, QueryRefusedError

pytestmark = pytest.mark.kubernetes
LABEL = {"app.kubernetes.io/name": "prometheus"}


def _own_address() -> str:
    """An address of this machine that is not loopback, at which the API server would ask; nothing is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return ""
        return str(probe.getsockname()[0])


@pytest.fixture
def shop(client, namespace, fake_nodes, make):
    """Two Deployments that run, and a Service of the second; nothing that looks like Prometheus is left of another test."""
    wait_until(
        lambda: {each["metadata"]["name"] for each in client.list("/api/v1/services").items} <= {"kubernetes"}, "all is gone"
    )
    fake_nodes(2)
    for name, replicas in (("web", 3), ("cart", 2)):
        make(deployment(name, replicas))
    spec = {"selector": {"app": "cart"}, "ports": [{"port": 80}]}
    make({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "basket"}, "spec": spec})
    wait_until(lambda: len(_pods(client, namespace)) == 5, "all pods run")
    return namespace


def _pods(client, namespace):
    listed = client.list(f"/api/v1/namespaces/{namespace}/pods").items
    return [pod["metadata"]["name"] for pod in listed if pod["status"].get("phase") == "Running"]


@pytest.fixture
def in_cluster(shop, client, make):
    """A Prometheus with two hours of history until now, behind a Service of the test's namespace."""
    if words := prometheus.missing():
        prometheus.skip_or_fail(words)
    host = _own_address()
    if not host or host.startswith("127."):
        pytest.skip("this machine has no address but loopback, which no Service may lead to")
    web, cart, basket = Place(shop, "web"), Place(shop, "cart"), Place(shop, "basket", "Service")
    used = {(shop, pod): PodUsage(0.05 if pod.startswith("web") else 0.2, 5e7) for pod in _pods(client, shop)}
    series = [*istio({(web, cart): 30.0, (OUTSIDE, web): 10.0}), *caretta({(web, basket): 500.0}), *cadvisor(used)]
    recorded = prometheus.History(series=series, start=time.time() - 7200, end=time.time() + 600)
    with prometheus.server(history=recorded, host=host) as server:
        _publish(client, make, _monitoring(shop), host, int(server.url.rpartition(":")[2]))
        yield shop


def _monitoring(namespace):
    """Another namespace of the same test."""
    return f"monitoring-{namespace}"


def _publish(client, make, namespace, host, port):
    """A Service in a namespace of its own, and its pod, which has this address: the API server leads to pods only."""
    make({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    wait_until(lambda: client.list(f"/api/v1/namespaces/{namespace}/serviceaccounts").items, "the service account")
    ports = [{"name": "web", "port": 80, "targetPort": port}]
    meta = {"name": "metrics", "namespace": namespace}
    make({"apiVersion": "v1", "kind": "Service", "metadata": {**meta, "labels": LABEL}, "spec": {"ports": ports}})
    make({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": [container()]}})
    pod = f"/api/v1/namespaces/{namespace}/pods/metrics"
    wait_until(lambda: client.get(pod)["status"].get("podIP"), "its pod runs")
    client.patch(f"{pod}/status", {"status": {"podIP": host, "podIPs": [{"ip": host}]}})
    target = {"ip": host, "targetRef": {"kind": "Pod", "name": "metrics", "namespace": namespace}}
    subset = {"addresses": [target], "ports": [{"name": "web", "port": port}]}
    client.create(f"/api/v1/namespaces/{namespace}/endpoints", {"metadata": meta, "subsets": [subset]})


def test_it_is_discovered_and_its_names_are_the_owners_of_real_pods(in_cluster, kubeconfig):
    got = measure("discover", kubeconfig=str(kubeconfig), namespaces=[in_cluster], traffic="istio")
    web, cart = f"{in_cluster}/web", f"{in_cluster}/cart"
    assert got.traffic == pytest.approx({(web, cart): 30.0}, rel=0.01)
    assert got.coverage == pytest.approx(0.75, abs=0.01)
    assert got.usage[web]["cpu"].mean == pytest.approx(50.0, rel=0.01)
    assert got.usage[cart]["memory"].mean == pytest.approx(5e7)
    assert time.time() - got.traffic_at < 120
    assert got.missing == ()


def test_a_service_that_is_named_is_asked_and_services_are_ends_of_traffic(in_cluster, kubeconfig):
    got = measure(
        f"{_monitoring(in_cluster)}/metrics", kubeconfig=str(kubeconfig), namespaces=[in_cluster], traffic="caretta", usage=False
    )
    assert got.traffic == pytest.approx({(f"{in_cluster}/web", f"{in_cluster}/cart"): 500.0}, rel=0.01)


def test_what_was_measured_stands_in_the_snapshot(in_cluster, client):
    objects = read_objects(client, [in_cluster])
    request = MeasurementRequest(settings=MeasurementSettings(traffic="istio"))
    measured = request.of(objects, client, [in_cluster])
    cluster = collected(objects, scope=[in_cluster], measurements=measured).snapshot.cluster
    names = cluster.workloads.name
    rows = zip(cluster.traffic.a, cluster.traffic.b, cluster.traffic.weight, strict=True)
    edges = {tuple(sorted((names[a], names[b]))): weight for a, b, weight in rows}
    assert edges == pytest.approx({(f"{in_cluster}/cart", f"{in_cluster}/web"): 30.0}, rel=0.01)
    cpu = [resource.name for resource in cluster.resources].index("cpu")
    assert cluster.workloads.usage_mean[names.index(f"{in_cluster}/cart"), cpu] == pytest.approx(200.0, rel=0.01)


def test_a_query_that_is_refused_behind_the_api_server_brings_prometheus_own_words(in_cluster, client):
    from bayplan.kubernetes.prometheus import connected

    with pytest.raises(QueryRefusedError, match="parse error"):
        connected("discover", client).query("sum by (", time.time())


def test_an_identity_without_the_right_to_the_proxy_is_told_so(in_cluster, control_plane, client, make, tmp_path):
    make({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "reader"}})
    name, kinds = f"reader-{in_cluster}", ["pods", "nodes", "services", "replicasets", "deployments"]
    rules = [{"apiGroups": ["", "apps"], "resources": kinds, "verbs": ["get", "list"]}]
    api = "rbac.authorization.k8s.io"
    make({"apiVersion": f"{api}/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules})
    make({
        "apiVersion": f"{api}/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
        "roleRef": {"apiGroup": api, "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": "reader", "namespace": in_cluster}],
    })  # fmt: skip
    file = control_plane.service_account_kubeconfig(tmp_path / "reader", in_cluster, "reader")
    reader = Client.connect(kubeconfig=str(file))
    objects = wait_until(lambda: read_objects(reader, [in_cluster]), "the role is known")
    with pytest.raises(QueryRefusedError, match="right to get services/proxy"):
        MeasurementRequest(settings=MeasurementSettings(traffic="istio")).of(objects, reader, [in_cluster])


def test_a_service_without_endpoints_does_not_answer_and_may_be_tried_again(shop, client, kubeconfig, make):
    meta = {"name": "prometheus-server"}
    make({"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": {"ports": [{"port": 80}]}})
    client.create(f"/api/v1/namespaces/{shop}/endpoints", {"metadata": meta, "subsets": []})
    with pytest.raises(PrometheusUnavailableError, match="no endpoints available"):
        measure(kubeconfig=str(kubeconfig), namespaces=[shop])


def test_a_cluster_without_prometheus_is_a_question_of_usage(shop, kubeconfig):
    with pytest.raises(UsageError, match="give --prometheus an address"):
        measure(kubeconfig=str(kubeconfig), namespaces=[shop])
