"""What never moves, and what does not move now."""

import pytest
from tests.builders.kubernetes_objects import NOW, collect, deployment, node, pod


def _why(one, *others, **settings):
    read = collect(node("a"), node("b"), one, *others, **settings)
    return read.unmovable.get(f"shop/{one['metadata']['name']}", ""), read.resting.get(f"shop/{one['metadata']['name']}", "")


WEB = deployment("web", 1)


def test_a_pod_of_a_settled_deployment_may_move():
    assert _why(pod("web-1", "a", owner="web"), WEB) == ("", "")


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (pod("x", "a"), "no owner that would replace it"),
        (pod("x", "a", owner="agent", kind="DaemonSet"), "belongs to a DaemonSet"),
        (pod("x", "a", owner="a", kind="Node"), "a static pod of its node"),
        (pod("x", "a", owner="web", annotations={"kubernetes.io/config.mirror": "1"}), "a static pod of its node"),
        (pod("x", "a", owner="gone"), "its owner was not read (ReplicaSet)"),
        (pod("x", "a", owner="x", kind="CloneSet"), "belongs to a CloneSet, which is not known to replace its pods"),
        (pod("x", "a", owner="web", priority=2_000_000_000), "critical for the system by its priority"),
        (pod("x", "a", owner="web", priorityClassName="system-node-critical"), "critical for the system by its priority"),
        (pod("x", "a", owner="web", schedulerName="volcano"), "placed by another scheduler, volcano"),
        (pod("x", "a", owner="web", resourceClaims=[{}]), "it has resource claims (dynamic resource allocation)"),
        (pod("x", "a", owner="web", volumes=[{"name": "d", "iscsi": {}}]), "its volume 'd' is of the kind iscsi"),
        (pod("x", "a", owner="web", volumes=[{"name": "d", "ephemeral": {}}]), "its volume 'd' is of the kind ephemeral"),
    ],
)
def test_what_never_moves_says_why(one, reason):
    assert _why(one, WEB)[0] == reason


@pytest.mark.parametrize(
    ("key", "value", "stays"),
    [
        ("cluster-autoscaler.kubernetes.io/safe-to-evict", "false", True),
        ("cluster-autoscaler.kubernetes.io/safe-to-evict", "true", False),
        ("karpenter.sh/do-not-disrupt", "true", True),
        ("descheduler.alpha.kubernetes.io/prefer-no-eviction", "true", True),
        ("bayplan.io/do-not-move", "true", True),
        ("bayplan.io/do-not-move", "false", False),
    ],
)
def test_annotations_that_say_leave_it_alone_are_obeyed(key, value, stays):
    why = _why(pod("x", "a", owner="web", annotations={key: value}), WEB)[0]
    assert why == (f"annotated {key}={value}" if stays else "")


def test_an_annotation_of_the_owner_holds_for_all_its_pods():
    never = deployment("web", 1, annotations={"bayplan.io/do-not-move": "true"})
    assert _why(pod("x", "a", owner="web"), never)[0] == "annotated bayplan.io/do-not-move=true on its owner"
    later = {"bayplan.io/hold-until": "2040-01-01T00:00:00Z", "bayplan.io/hold-reason": "skewed"}
    held = deployment("web", 1, annotations=later)
    assert _why(pod("x", "a", owner="web"), held)[1] == "held until 2040-01-01 00:00 UTC: skewed"
    over = deployment("web", 1, annotations={"bayplan.io/hold-until": "2030-01-01T00:00:00Z"})
    assert _why(pod("x", "a", owner="web"), over) == ("", "")
    unreadable = deployment("web", 1, annotations={"bayplan.io/hold-until": "tomorrow"})
    assert _why(pod("x", "a", owner="web"), unreadable)[1] == "held (tomorrow is no time)"


def test_stateful_sets_and_jobs_move_only_when_asked_for():
    one = pod("db-0", "a", owner="db", kind="StatefulSet")
    db = {"kind": "StatefulSet", "metadata": {"namespace": "shop", "name": "db", "uid": "StatefulSet db"}, "spec": {}}
    assert _why(one, db)[0] == "belongs to a StatefulSet, which moves only when asked for"
    assert _why(one, db, kinds=frozenset({"StatefulSet"}))[0] == ""


def test_what_is_young_in_rollout_not_ready_or_on_a_closed_node_does_not_move_now():
    young = pod("x", "a", owner="web")
    young["metadata"]["creationTimestamp"] = "2033-05-18T03:30:00Z"  # 200 s before now
    assert _why(young, WEB, now=NOW) == ("", "young")
    assert _why(young, WEB, now=NOW, young=100.0) == ("", "")
    assert _why(pod("x", "a", owner="web"), deployment("web", 1, observedGeneration=0)) == ("", "in rollout")
    starting = pod("x", "a", owner="web")
    starting["status"]["conditions"] = []
    assert _why(starting, WEB) == ("", "not ready")
    closed = node("c", unschedulable=True)
    assert _why(pod("x", "c", owner="web"), WEB, closed) == ("", "its node is cordoned")
    assert _why(pod("x", "c", owner="web"), WEB, closed, draining=frozenset({"c"})) == ("", "")
