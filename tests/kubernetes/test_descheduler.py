"""The real descheduler runs once over the control plane: the peer that bayplan is compared with."""

import pytest
from tests.kubernetes.descheduler import LOW_NODE_UTILIZATION, run_descheduler
from tests.kubernetes.objects import deployment
from tests.kubernetes.waiting import wait_until

from bayplan.kubernetes.client import Client

pytestmark = pytest.mark.kubernetes


def _nodes_of_pods(client: Client, namespace: str) -> list[str]:
    return sorted(pod["spec"].get("nodeName", "") for pod in client.list(f"/api/v1/namespaces/{namespace}/pods").items)


def test_it_evicts_from_a_full_node_when_another_one_is_empty(client, namespace, kubeconfig, fake_nodes, make):
    fake_nodes(2, cpu="4", memory="4Gi")
    client.patch("/api/v1/nodes/node-1", {"spec": {"unschedulable": True}})
    make(deployment("web", 8, cpu="450m", memory="400Mi"))
    wait_until(lambda: _nodes_of_pods(client, namespace) == ["node-0"] * 8, "all pods are on the first node")
    wait_until(lambda: _ready_replicas(client, namespace) == 8, "all pods are ready")
    client.patch("/api/v1/nodes/node-1", {"spec": {"unschedulable": None}})
    log = run_descheduler(kubeconfig, LOW_NODE_UTILIZATION)
    assert 'strategy="LowNodeUtilization"' in log
    wait_until(lambda: "node-1" in _nodes_of_pods(client, namespace), "a pod is on the second node")


def _ready_replicas(client: Client, namespace: str) -> int:
    status = client.get(f"/apis/apps/v1/namespaces/{namespace}/deployments/web")["status"]
    return int(status.get("readyReplicas", 0))
