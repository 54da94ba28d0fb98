"""Measured names and the workloads that they belong to."""

import pytest

from bayplan.kubernetes.prometheus import KnownPod, KnownService, KnownWorkloads

WEB = ("ReplicaSet", "web-5d"), ("Deployment", "web")
PODS = [
    KnownPod("shop", "web-5d-1", "shop/web", WEB, {"app": "web", "tier": "front"}),
    KnownPod("shop", "web-5d-2", "shop/web", WEB, {"app": "web", "tier": "front"}),
    KnownPod("shop", "cart-0", "shop/cart (StatefulSet)", (("StatefulSet", "cart"),), {"app": "cart", "tier": "front"}),
    KnownPod("shop", "cart-x-1", "shop/cart (Deployment)", (("ReplicaSet", "cart-x"), ("Deployment", "cart")), {"app": "cart"}),
    KnownPod("test", "web-1", "test/web", (("Deployment", "web"),), {"app": "web"}),
    KnownPod("test", "alone", "test/alone", (), {}),
]
SERVICES = [
    KnownService("shop", "front", {"app": "web", "tier": "front"}),
    KnownService("shop", "tier", {"tier": "front"}),
    KnownService("shop", "external", {}),
    KnownService("shop", "nothing", {"app": "nothing"}),
]
KNOWN = KnownWorkloads.of(PODS, SERVICES)


@pytest.mark.parametrize(
    ("namespace", "name", "kind", "workload"),
    [
        ("shop", "web", "", "shop/web"),
        ("shop", "web", "Deployment", "shop/web"),
        ("shop", "web", "deployment", "shop/web"),
        ("shop", "web-5d", "ReplicaSet", "shop/web"),
        ("shop", "web-5d-2", "Pod", "shop/web"),
        ("shop", "web-5d-2", "", "shop/web"),
        ("shop", "cart", "StatefulSet", "shop/cart (StatefulSet)"),
        ("shop", "front", "Service", "shop/web"),
        ("shop", "front", "", "shop/web"),
        ("test", "web", "", "test/web"),
        ("test", "alone", "", "test/alone"),
        ("", "front", "", "shop/web"),
        ("", "web-5d", "", "shop/web"),
    ],
)
def test_a_name_that_one_workload_has_is_that_workload(namespace, name, kind, workload):
    assert KNOWN.workload(namespace, name, kind) == workload


@pytest.mark.parametrize(
    ("namespace", "name", "kind"),
    [
        ("shop", "cart", ""),  # a Deployment and a StatefulSet
        ("", "web", ""),  # in two namespaces
        ("shop", "tier", "Service"),  # selects two workloads
        ("shop", "external", "Service"),  # has no selector
        ("shop", "nothing", "Service"),
        ("shop", "web", "StatefulSet"),
        ("shop", "web", "Pod"),
        ("shop", "web", "Service"),
        ("shop", "web-5", ""),  # no pod has it, however much it looks like one
        ("shop", "", ""),
        ("elsewhere", "web", ""),
    ],
)
def test_a_name_that_several_workloads_could_have_or_none_is_no_workload(namespace, name, kind):
    assert KNOWN.workload(namespace, name, kind) is None


def test_only_pods_of_the_scope_are_known():
    known = KnownWorkloads.of(PODS, SERVICES, scope=["test"])
    assert set(known.pods.values()) == {"test/web", "test/alone"}
    assert known.workload("", "web") == "test/web"


@pytest.mark.parametrize(
    ("namespaces", "concerned"),
    [(("test", "shop"), True), (("shop", "other"), False), (("", "other"), False), (("", ""), True), (("", "test"), True)],
)
def test_traffic_concerns_a_scope_if_an_end_is_in_it_or_no_end_is_known(namespaces, concerned):
    assert KnownWorkloads.of(PODS, scope=["test"]).concerns(*namespaces) is concerned
    assert KnownWorkloads.of(PODS).concerns(*namespaces)
