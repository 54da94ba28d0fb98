"""The control plane that all other tests here run on behaves as a real cluster: it is one, but for the kubelets."""

from typing import Any

import pytest
from tests.kubernetes import binary
from tests.kubernetes.objects import container, deployment, disruption_budget, is_ready, path_of
from tests.kubernetes.waiting import wait_until

from bayplan.kubernetes.client import Client, RefusedError, UnavailableError

pytestmark = pytest.mark.kubernetes
GATE = "tests.bayplan/hold"


def _pods(client: Client, namespace: str, **selector: Any) -> list[dict[str, Any]]:
    return client.list(f"/api/v1/namespaces/{namespace}/pods", **selector).items


def _all_ready(client: Client, namespace: str, number: int) -> list[dict[str, Any]]:
    pods = _pods(client, namespace)
    return pods if len(pods) == number and all(map(is_ready, pods)) else []


def _evict(client: Client, namespace: str, pod: str) -> None:
    body = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod}}
    client.create(f"/api/v1/namespaces/{namespace}/pods/{pod}/eviction", body)


def _gated_pod(name: str) -> dict[str, Any]:
    spec = {"containers": [container()], "schedulingGates": [{"name": GATE}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def _gate_policy(owner: str, uid: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Pods of one owner are created with a gate."""
    condition = f"has(object.metadata.ownerReferences) && object.metadata.ownerReferences.exists(o, o.uid == '{uid}')"
    gate = f"Object{{spec: Object.spec{{schedulingGates: [Object.spec.schedulingGates{{name: '{GATE}'}}]}}}}"
    pods = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    version = "admissionregistration.k8s.io/v1"
    policy = {
        "apiVersion": version,
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": f"gate-{owner}"},
        "spec": {
            "matchConstraints": {"resourceRules": [pods]},
            "matchConditions": [{"name": "owner", "expression": condition}],
            "failurePolicy": "Ignore",
            "reinvocationPolicy": "Never",
            "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": gate}}],
        },
    }
    binding = {
        "apiVersion": version,
        "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": f"gate-{owner}"},
        "spec": {"policyName": f"gate-{owner}"},
    }
    return policy, binding


def test_the_server_is_the_release_that_we_name(client):
    assert client.get("/version")["gitVersion"] == f"v{binary.VERSION}"


def test_the_pods_of_a_deployment_are_scheduled_and_become_ready(client, namespace, fake_nodes, make):
    nodes = fake_nodes(3, zones=("zone-a", "zone-b", "zone-c"))
    make(deployment("web", 3))
    pods = wait_until(lambda: _all_ready(client, namespace, 3), "three ready pods")
    assert {pod["spec"]["nodeName"] for pod in pods} == set(nodes)


def test_a_disruption_budget_refuses_an_eviction(client, namespace, fake_nodes, make):
    fake_nodes(2)
    make(disruption_budget("web", app="web", minAvailable=2))
    make(deployment("web", 2))
    pods = wait_until(lambda: _all_ready(client, namespace, 2), "two ready pods")
    budget = path_of(disruption_budget("web", app="web"), namespace)
    wait_until(lambda: client.get(budget)["status"].get("currentHealthy") == 2, "the budget has counted the pods")
    with pytest.raises(UnavailableError) as refused:
        _evict(client, namespace, pods[0]["metadata"]["name"])
    assert (refused.value.status, refused.value.causes) == (429, ("DisruptionBudget",))


def test_an_eviction_is_followed_by_a_replacement(client, namespace, fake_nodes, make):
    fake_nodes(2)
    make(deployment("web", 2))
    evicted = wait_until(lambda: _all_ready(client, namespace, 2), "two ready pods")[0]["metadata"]
    _evict(client, namespace, evicted["name"])

    def replaced() -> bool:
        pods = _all_ready(client, namespace, 2)
        return bool(pods) and evicted["uid"] not in {pod["metadata"]["uid"] for pod in pods}

    wait_until(replaced, "two ready pods without the evicted one")


def test_a_policy_gates_new_pods_of_one_replica_set_only(client, namespace, fake_nodes, make):
    fake_nodes(2)
    for name in ("web", "cart"):
        make(deployment(name, 1))
    wait_until(lambda: _all_ready(client, namespace, 2), "two ready pods")
    owners = client.list(f"/apis/apps/v1/namespaces/{namespace}/replicasets").items
    owner = next(one["metadata"] for one in owners if one["metadata"]["labels"]["app"] == "web")
    for thing in _gate_policy("web", owner["uid"]):
        make(thing)

    def armed() -> bool:
        trial = {**_gated_pod("trial"), "spec": {"containers": [container()]}}
        trial["metadata"] = {"name": "trial", "ownerReferences": [_reference(owner)]}
        seen = client.create(f"/api/v1/namespaces/{namespace}/pods", trial, dryRun="All")
        return bool(seen["spec"].get("schedulingGates"))

    wait_until(armed, "the API server knows the policy")
    for name in ("web", "cart"):
        path = f"/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale"
        client.patch(path, {"spec": {"replicas": 2}})
    pods = wait_until(lambda: len(_pods(client, namespace)) == 4 and _pods(client, namespace), "four pods")
    gated = {pod["metadata"]["labels"]["app"] for pod in pods if pod["spec"].get("schedulingGates")}
    assert gated == {"web"}


def _reference(owner: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner["name"], "uid": owner["uid"], "controller": True}


def test_a_gated_pod_is_bound_to_its_nominated_node_when_the_gate_is_removed(client, namespace, fake_nodes, make):
    fake_nodes(10)
    for k in range(5):
        wanted = f"node-{2 * k + 1}"
        path = path_of(make(_gated_pod(f"gated-{k}")), namespace)
        client.patch(f"{path}/status", {"status": {"nominatedNodeName": wanted}})
        client.patch(path, {"spec": {"schedulingGates": None}})
        pod = wait_until(lambda path=path: (p := client.get(path))["spec"].get("nodeName") and p, "the pod is bound")
        assert pod["spec"]["nodeName"] == wanted


def test_without_a_scheduler_pods_wait_and_a_new_one_binds_them(client, control_plane, namespace, fake_nodes, make):
    fake_nodes(1)
    control_plane.scheduler.kill()
    make(deployment("web", 2))
    wait_until(lambda: len(_pods(client, namespace)) == 2, "two pods")
    assert not any(pod["spec"].get("nodeName") for pod in _pods(client, namespace))
    control_plane.scheduler.start()
    wait_until(lambda: _all_ready(client, namespace, 2), "two ready pods")


def test_without_a_controller_manager_no_pod_is_replaced(client, control_plane, namespace, fake_nodes, make):
    fake_nodes(1)
    make(deployment("web", 1))
    pod = wait_until(lambda: _all_ready(client, namespace, 1), "a ready pod")[0]
    control_plane.controller_manager.kill()
    _evict(client, namespace, pod["metadata"]["name"])
    wait_until(lambda: not _pods(client, namespace), "the pod is gone")
    control_plane.controller_manager.start()
    wait_until(lambda: _all_ready(client, namespace, 1), "a replacement")


def test_the_store_outlives_the_api_server(client, control_plane, namespace, fake_nodes, make):
    fake_nodes(1)
    make(deployment("web", 1))
    before = wait_until(lambda: _all_ready(client, namespace, 1), "a ready pod")[0]["metadata"]["uid"]
    control_plane.api_server.kill()
    with pytest.raises(UnavailableError):
        client.get("/version")
    control_plane.api_server.start()
    assert [pod["metadata"]["uid"] for pod in _pods(control_plane.client(), namespace)] == [before]


def test_a_service_account_may_do_only_what_a_role_permits(control_plane, namespace, tmp_path, make):
    rbac = "rbac.authorization.k8s.io/v1"
    make({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "reader"}})
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}
    make({"apiVersion": rbac, "kind": "Role", "metadata": {"name": "reader"}, "rules": [rule]})
    subject = {"kind": "ServiceAccount", "name": "reader", "namespace": namespace}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"}
    make({"apiVersion": rbac, "kind": "RoleBinding", "metadata": {"name": "reader"}, "roleRef": role, "subjects": [subject]})
    file = control_plane.service_account_kubeconfig(tmp_path / "reader", namespace, "reader")
    reader = Client.connect(kubeconfig=str(file))

    def permitted() -> bool:
        try:
            return reader.list(f"/api/v1/namespaces/{namespace}/pods").items == []
        except RefusedError as error:
            assert error.status == 403
            return False

    wait_until(permitted, "the role is known")
    with pytest.raises(RefusedError) as refused:
        reader.create(f"/api/v1/namespaces/{namespace}/pods", _gated_pod("pod"))
    assert refused.value.status == 403
