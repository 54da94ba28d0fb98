"""The names of workloads come from what objects say about each other."""

import pytest

from bayplan.kubernetes.client import Listing, RefusedError
from bayplan.kubernetes.collect.objects import Objects
from bayplan.kubernetes.collect.snapshot import collected
from bayplan.kubernetes.measurements import Measurements, UsageStatistics
from bayplan.kubernetes.prometheus.cluster_names import known_workloads


def _owned(kind, name, uid, owner=None, namespace="shop", **more):
    metadata = {"name": name, "namespace": namespace, "uid": uid, **more}
    if owner is not None:
        above = owner["metadata"]
        metadata["ownerReferences"] = [{"kind": owner["kind"], "name": above["name"], "uid": above["uid"], "controller": True}]
    return {"kind": kind, "metadata": metadata, "spec": {}, "status": {}}


def _pod(name, owner=None, phase="Running", **more):
    pod = _owned("Pod", name, f"uid-{name}", owner, **more)
    pod["spec"] = {"nodeName": "node", "containers": [{"name": "app", "resources": {"requests": {"cpu": "100m"}}}]}
    pod["status"] = {"phase": phase}
    return pod


WEB = _owned("Deployment", "web", "d1")
WEB_SET = _owned("ReplicaSet", "web-abc", "r1", WEB)
CART, CART_STATEFUL = _owned("Deployment", "cart", "d2"), _owned("StatefulSet", "cart", "s1")
CART_SET = _owned("ReplicaSet", "cart-abc", "r2", CART)
OTHER = _owned("Deployment", "web", "d3", namespace="test")
PODS = [
    _pod("web-abc-1", WEB_SET, labels={"app": "web"}),
    _pod("web-abc-2", WEB_SET, labels={"app": "web"}, deletionTimestamp="2026-01-01T00:00:00Z"),
    _pod("web-abc-3", WEB_SET, phase="Succeeded"),
    _pod("cart-abc-1", CART_SET, labels={"app": "cart"}),
    _pod("cart-0", CART_STATEFUL, labels={"app": "cart"}),
    _pod("alone"),
    _pod("web-1", OTHER, namespace="test"),
]
SERVICE = {"kind": "Service", "metadata": {"name": "front", "namespace": "shop"}, "spec": {"selector": {"app": "web"}}}
NODE = {"kind": "Node", "metadata": {"name": "node"}, "spec": {}, "status": {"allocatable": {"cpu": "4", "pods": "110"}}}
ITEMS = {
    "Pod": PODS,
    "Node": [NODE],
    "Deployment": [WEB, CART, OTHER],
    "ReplicaSet": [WEB_SET, CART_SET],
    "StatefulSet": [CART_STATEFUL],
}
OBJECTS = Objects(items=ITEMS)


def test_pods_replica_sets_and_deployments_are_one_workload():
    known = known_workloads(OBJECTS)
    for name, kind in (("web", "Deployment"), ("web-abc", "ReplicaSet"), ("web-abc-1", "Pod"), ("web-abc-2", "Pod"), ("web", "")):
        assert known.workload("shop", name, kind) == "shop/web"
    assert known.workload("shop", "web-abc-3", "Pod") is None  # it has ended
    assert known.workload("shop", "alone") == "shop/alone"


def test_two_owners_of_one_name_are_told_apart_by_their_kind():
    known = known_workloads(OBJECTS)
    assert known.workload("shop", "cart", "Deployment") == "shop/cart (Deployment)"
    assert known.workload("shop", "cart", "StatefulSet") == "shop/cart (StatefulSet)"
    assert known.workload("shop", "cart") is None


@pytest.mark.parametrize("scope", [(), ("shop",), ("test",)])
def test_the_names_are_those_of_the_snapshot(scope):
    workloads = collected(OBJECTS, scope=scope).snapshot.cluster.workloads.name
    assert set(known_workloads(OBJECTS, scope=scope).pods.values()) == set(workloads)


class _Cluster:
    def __init__(self, answer):
        self.answer = answer

    def list(self, path):
        assert path == "/api/v1/services"
        if isinstance(self.answer, Exception):
            raise self.answer
        return Listing(items=self.answer, resource_version="1")


def test_services_are_read_from_the_cluster_unless_the_objects_have_them():
    assert known_workloads(OBJECTS, _Cluster([SERVICE])).workload("shop", "front", "Service") == "shop/web"
    with_service = Objects(items={**ITEMS, "Service": [SERVICE]})
    assert known_workloads(with_service, _Cluster(AssertionError("not asked"))).workload("shop", "front", "Service") == "shop/web"
    assert known_workloads(OBJECTS).workload("shop", "front", "Service") is None


def test_services_that_may_not_be_read_leave_their_traffic_unattributed():
    refused = _Cluster(RefusedError("403 Forbidden", status=403))
    assert known_workloads(OBJECTS, refused).workload("shop", "front", "Service") is None
    with pytest.raises(RefusedError):
        known_workloads(OBJECTS, _Cluster(RefusedError("401 Unauthorized", status=401)))


def test_what_was_measured_of_an_owner_is_divided_among_its_groups_of_pods():
    other = _pod("web-abc-4", WEB_SET)
    other["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "200m"
    pods = [*PODS, _pod("web-abc-5", WEB_SET, labels={"app": "web"}), _pod("web-abc-6", WEB_SET, labels={"app": "web"}), other]
    objects = Objects(items={**ITEMS, "Pod": pods})
    measured = Measurements(traffic={("shop/web", "shop/alone"): 12.0}, usage={"shop/web": {"cpu": UsageStatistics(50, 5, 60)}})
    cluster = collected(objects, scope=["shop"], measurements=measured).snapshot.cluster
    names = cluster.workloads.name
    rows = zip(cluster.traffic.a, cluster.traffic.b, cluster.traffic.weight, strict=True)
    edges = {frozenset((names[a], names[b])): weight for a, b, weight in rows}
    others = [name for name in names if name.startswith("shop/web (")]
    assert edges == {frozenset(("shop/web", "shop/alone")): 9.0, frozenset((*others, "shop/alone")): 3.0}
    assert [cluster.workloads.usage_mean[names.index(name), 0] for name in ("shop/web", *others)] == [50.0, 50.0]
