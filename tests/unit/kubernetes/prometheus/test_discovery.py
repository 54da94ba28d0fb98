"""Prometheus is found in a cluster where exactly one Service can be it."""

import pytest

from bayplan.errors import UsageError
from bayplan.kubernetes.client import Listing
from bayplan.kubernetes.prometheus import connected

LABEL = {"app.kubernetes.io/name": "prometheus"}


def _service(namespace, name, ports, *, labels=None, selector=None, headless=False):
    return {
        "metadata": {"namespace": namespace, "name": name, "labels": labels or {}},
        "spec": {
            "ports": [{"name": port, "port": number} if port else {"port": number} for port, number in ports],
            "selector": selector or {"app": name},
            "clusterIP": "None" if headless else "10.0.0.1",
        },
    }


class _Cluster:
    def __init__(self, *services):
        self.services = services

    def list(self, path, **parameters):
        assert path == "/api/v1/services"
        key, _, value = parameters.get("labelSelector", "=").partition("=")
        chosen = [each for each in self.services if not key or each["metadata"]["labels"].get(key) == value]
        return Listing(items=chosen, resource_version="1")

    def get(self, path):
        return next(
            each
            for each in self.services
            if path.endswith(f"/{each['metadata']['namespace']}/services/{each['metadata']['name']}")
        )


SERVER = _service("monitoring", "prometheus-server", [("http", 80)], labels=LABEL)
OPERATED = _service("monitoring", "prometheus-operated", [("web", 9090)], headless=True)
K8S = _service("monitoring", "prometheus-k8s", [("reloader-web", 8080), ("web", 9090)])
ELSEWHERE = _service("a", "prometheus-k8s", [("reloader-web", 8080), ("web", 9090)])
MINE = _service("m", "mine", [("", 9090), ("grpc", 10901)], labels=LABEL)
UNCLEAR = _service("m", "mine", [("grpc", 10901), ("other", 1)], labels=LABEL)
SAME = _service("monitoring", "again", [("", 80)], labels=LABEL, selector={"app": "prometheus-server"})
SECOND = _service("other", "prometheus", [("", 9090)], labels=LABEL)
GRAFANA = _service("m", "grafana", [("http", 80)])


@pytest.mark.parametrize(
    ("services", "label"),
    [
        ([SERVER], "monitoring/prometheus-server:80"),
        ([SERVER, OPERATED], "monitoring/prometheus-server:80"),
        ([OPERATED], "monitoring/prometheus-operated:9090"),
        ([K8S, OPERATED], "monitoring/prometheus-k8s:9090"),
        ([ELSEWHERE, OPERATED], "more than one"),
        ([MINE], "m/mine:9090"),
        ([UNCLEAR, SERVER], "monitoring/prometheus-server:80"),
        ([SERVER, SAME], "monitoring/prometheus-server:80"),
        ([SERVER, SECOND], "more than one Prometheus: monitoring/prometheus-server, other/prometheus"),
        ([GRAFANA], "no Service of the cluster"),
        ([], "no Service of the cluster"),
    ],
)
def test_the_one_service_that_can_be_it_is_taken(services, label):
    try:
        got = connected("discover", _Cluster(*services)).label
    except UsageError as error:
        got = str(error)
    assert label in got


def test_a_service_may_be_named_with_or_without_its_port():
    cluster = _Cluster(SERVER, _service("m", "two", [("a", 1), ("b", 2)]))
    assert connected("monitoring/prometheus-server", cluster).label.endswith("(monitoring/prometheus-server:80)")
    assert connected("m/two:2", cluster).label.endswith("(m/two:2)")
    with pytest.raises(UsageError, match="name it: m/two:PORT"):
        connected("m/two", cluster)


@pytest.mark.parametrize("text", ["prometheus", "/x", "x/", ""])
def test_what_is_neither_an_address_nor_a_service_is_refused(text):
    with pytest.raises(UsageError, match="NAMESPACE/SERVICE"):
        connected(text, _Cluster())


def test_without_a_cluster_only_an_address_will_do():
    with pytest.raises(UsageError, match="no cluster to look in"):
        connected("discover", None)
