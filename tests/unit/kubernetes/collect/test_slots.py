"""Containers as slots, across pods that replace each other."""

from tests.builders.kubernetes_objects import collect, deployment, node, pod

from bayplan.operate.orchestrator import Phase

WEB = [node("a"), node("b"), *deployment("web", 2)]


def _slot(name):
    return {"bayplan.io/container": name}


def test_a_pod_that_took_the_place_of_another_has_its_name():
    read = collect(WEB, pod("web-new", "a", owner="web", annotations=_slot("shop/web-old")))
    assert read.snapshot.cluster.containers.name == ("shop/web-old",)
    assert read.pods["shop/web-old"].name == "web-new"


def test_of_two_pods_of_one_container_the_older_one_counts_and_the_other_is_its_second():
    new = pod("web-new", "b", owner="web", annotations=_slot("shop/web-old"))
    new["metadata"]["creationTimestamp"] = "2026-02-01T00:00:00Z"
    read = collect(WEB, new, pod("web-old", "a", owner="web"))
    assert read.pods["shop/web-old"].name == "web-old"
    assert read.second["shop/web-old"].name == "web-new"
    assert len(read.pods) == 1


def test_a_name_that_many_pods_carry_was_copied_from_a_template_and_says_nothing():
    pods = [pod(f"web-{k}", "a", owner="web", annotations=_slot("shop/web-0")) for k in range(3)]
    assert set(collect(WEB, pods).pods) == {"shop/web-0", "shop/web-1", "shop/web-2"}


def test_a_name_of_another_namespace_says_nothing():
    assert set(collect(WEB, pod("web-1", "a", owner="web", annotations=_slot("other/web-0"))).pods) == {"shop/web-1"}


def test_a_pod_at_our_gate_says_what_it_replaces_and_only_there():
    gated = pod(
        "web-new", owner="web", annotations={**_slot("shop/web-old"), "bayplan.io/replaces": "uid 7", "bayplan.io/step": "t"}
    )
    assert collect(WEB, gated).pods["shop/web-old"].replaces == ""
    gated["spec"]["schedulingGates"] = [{"name": "bayplan.io/steer"}]
    waiting = collect(WEB, gated).pods["shop/web-old"]
    assert (waiting.replaces, waiting.token, waiting.phase) == ("uid 7", "t", Phase.PENDING)


def test_a_stopping_pod_is_no_container_and_uses_its_node():
    going = pod("web-1", "a", owner="web")
    going["metadata"]["deletionTimestamp"] = "2026-02-01T00:00:00Z"
    read = collect(WEB, going, pod("web-2", "a", owner="web"))
    assert [one.name for one in read.stopping] == ["web-1"]
    assert read.snapshot.cluster.machines.capacity[:, 0].tolist() == [3000, 4000]
