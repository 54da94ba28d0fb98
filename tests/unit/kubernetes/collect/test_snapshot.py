"""Snapshots: workloads, capacities, resources, what is pinned."""

from tests.builders.kubernetes_objects import ZONE, collect, collected, deployment, node, objects, pod

from bayplan.kubernetes.measurements import Measurements, UsageStatistics
from bayplan.model import Pinned


def _web(count=2, **more):
    return [*deployment("web", count), *(pod(f"web-{k}", "a", owner="web", **more) for k in range(count))]


def test_a_deployment_is_a_workload_and_its_pods_are_containers():
    read = collect(node("a", zone="x"), node("b", zone="y"), _web())
    cluster = read.snapshot.cluster
    assert cluster.workloads.name == ("shop/web",)
    assert cluster.containers.name == ("shop/web-0", "shop/web-1")
    assert [resource.name for resource in cluster.resources] == ["cpu", "memory", "pods"]
    assert cluster.workloads.request.tolist() == [[1000, 2**30, 1]]
    assert [level.name for level in cluster.levels] == ["machine", "zone"]
    assert read.snapshot.placement.machine_of.tolist() == [0, 0]


def test_pods_outside_of_the_scope_are_taken_off_the_capacity_of_their_nodes():
    other = pod("x", "a", namespace="other", requests={"cpu": "1500m"})
    whole, part = collect(node("a"), _web(), other), collect(node("a"), _web(), other, scope=("shop",))
    assert whole.snapshot.cluster.machines.capacity[0].tolist() == [4000, 8 * 2**30, 110]
    assert part.snapshot.cluster.machines.capacity[0].tolist() == [2500, 8 * 2**30, 109]
    assert set(part.pods) == {"shop/web-0", "shop/web-1"}


def test_a_node_that_others_use_beyond_what_it_has_has_nothing():
    other = pod("x", "a", namespace="other", requests={"cpu": "9"})
    assert collect(node("a"), _web(), other, scope=("shop",)).snapshot.cluster.machines.capacity[0, 0] == 0


def test_pods_that_have_ended_use_nothing():
    done = pod("job-1", "a")
    done["status"]["phase"] = "Succeeded"
    assert set(collect(node("a"), _web(), done).pods) == {"shop/web-0", "shop/web-1"}


def test_a_device_that_some_pod_requests_is_a_resource():
    gpu = node("a")
    gpu["status"]["allocatable"]["example.com/gpu"] = "2"
    cluster = collect(gpu, node("b"), _web(requests={"example.com/gpu": "1"})).snapshot.cluster
    assert [resource.name for resource in cluster.resources] == ["cpu", "memory", "pods", "example.com/gpu"]
    assert cluster.machines.capacity[:, 3].tolist() == [2, 0]


def test_a_pod_that_differs_from_the_others_of_its_owner_is_another_workload_and_stays():
    odd = pod("web-9", "a", owner="web", requests={"cpu": "3"})
    read = collect(node("a"), _web(), odd)
    assert read.snapshot.cluster.workloads.name == ("shop/web", "shop/web (other template)")
    assert read.unmovable == {"shop/web-9": "differs from the other pods of its owner"}


def test_what_never_moves_is_pinned_and_what_does_not_move_now_is_not():
    young = pod("web-9", "a", owner="web")
    young["metadata"]["creationTimestamp"] = "2033-05-18T03:30:00Z"
    read = collect(node("a"), _web(), young, pod("bare", "a"))
    names = read.snapshot.cluster.containers.name

    def pinned(snapshot):
        return {names[c] for rule in snapshot.cluster.rules if isinstance(rule, Pinned) for c in rule.containers}

    assert pinned(read.snapshot) == {"shop/bare"}
    assert pinned(read.pinned) == {"shop/bare", "shop/web-9"}
    assert (read.movable, dict(read.reasons())) == (2, {"no owner that would replace it": 1, "young": 1})
    assert read.stays("shop/web") == "1 of 3 pods stay: 1 young"
    assert read.stays("shop/bare") == "it stays: no owner that would replace it"


def test_workloads_of_one_application_are_one_service():
    labels = {"app.kubernetes.io/part-of": "boutique"}
    cart = [*deployment("cart", 1), pod("cart-0", "a", owner="cart", labels=labels)]
    assert collect(node("a"), _web(labels=labels), cart).snapshot.cluster.services.name == ("shop/boutique",)


def test_what_was_measured_is_the_usage_and_the_traffic():
    measurements = Measurements(
        traffic={("shop/cart", "shop/web"): 7.0, ("shop/web", "elsewhere"): 1.0},
        usage={"shop/web": {"cpu": UsageStatistics(300.0, 40.0, 900.0)}},
    )
    cart = [*deployment("cart", 1), pod("cart-0", "a", owner="cart")]
    cluster = collected(objects(node("a"), _web(), cart), measurements=measurements).snapshot.cluster
    assert (cluster.traffic.a.tolist(), cluster.traffic.b.tolist(), cluster.traffic.weight.tolist()) == ([0], [1], [7.0])
    assert cluster.workloads.usage_mean[:, 0].tolist() == [1000.0, 300.0]
    assert cluster.workloads.usage_std[:, 0].tolist() == [0.0, 40.0]


def test_pods_of_a_stateful_set_with_volumes_in_different_zones_may_move_each_in_its_zone():
    def claim(k, zone):
        volume = {"kind": "PersistentVolume", "metadata": {"name": f"v{k}", "labels": {ZONE: zone}}, "spec": {"nfs": {}}}
        spec = {"accessModes": ["ReadWriteOnce"], "volumeName": f"v{k}"}
        return [volume, {"kind": "PersistentVolumeClaim", "metadata": {"namespace": "shop", "name": f"data-{k}"}, "spec": spec}]

    def member(k, on):
        volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": f"data-{k}"}}]
        return pod(f"db-{k}", on, owner="db", kind="StatefulSet", volumes=volumes)

    db = {"kind": "StatefulSet", "metadata": {"namespace": "shop", "name": "db", "uid": "StatefulSet db"}, "spec": {}}
    nodes = [node("a", zone="x"), node("b", zone="x"), node("c", zone="y"), node("d", zone="y")]
    read = collect(nodes, db, claim(0, "x"), claim(1, "y"), member(0, "a"), member(1, "c"), kinds=frozenset({"StatefulSet"}))
    assert read.unmovable == {}
    assert sorted(map(list, read.snapshot.cluster.machine_sets.values())) == [[0, 1], [2, 3]]
