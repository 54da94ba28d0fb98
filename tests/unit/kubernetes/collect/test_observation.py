"""Observations of the port."""

from tests.builders.kubernetes_objects import NOW, budget, deployment, node, objects, pod

from bayplan.kubernetes.collect.observation import observation
from bayplan.kubernetes.measurements import Measurements
from bayplan.operate.orchestrator import Phase


def _observed(*items, **more):
    return observation(objects(node("a"), node("b", unschedulable=True), *items), **more)


def _web(count, **status):
    pods = [pod(f"web-{k}", "a", owner="web", labels={"app": "web"}) for k in range(2)]
    return [*deployment("web", count, **status), *pods]


def test_an_observation_has_what_the_loop_asks_for():
    seen = _observed(_web(2), budget("web", "web", maxUnavailable=1))
    assert (seen.at, seen.version) == (NOW, 40)
    assert [state.phase for state in seen.containers] == [Phase.READY, Phase.READY]
    assert [state.workload for state in seen.containers] == ["shop/web", "shop/web"]
    assert [(machine.name, machine.open, machine.uid) for machine in seen.machines] == [
        ("a", True, "node a"),
        ("b", False, "node b"),
    ]
    assert (seen.needed, seen.replicas, seen.changing) == ({"shop/web": 1}, {"shop/web": 2}, {})


def test_replicas_that_do_not_exist_yet_are_missing():
    seen = _observed(_web(5))
    assert seen.replicas == {"shop/web": 5}
    assert seen.incomplete == {"shop/web"}


def test_a_rollout_and_a_hold_are_changes():
    assert _observed(_web(2, observedGeneration=0)).changing == {"shop/web": "in rollout"}
    held = deployment("web", 1, annotations={"bayplan.io/hold-until": "2040-01-01T00:00:00Z"})
    assert _observed(held, pod("web-0", "a", owner="web")).changing == {"shop/web": "held until 2040-01-01 00:00 UTC"}


def test_a_pod_that_is_stopping_is_told_by_its_workload():
    going = pod("web-9", "a", owner="web")
    going["metadata"]["deletionTimestamp"] = "2026-02-01T00:00:00Z"
    (state,) = _observed(_web(2), going).stopping
    assert (state.name, state.workload, state.phase) == ("shop/web-9", "shop/web", Phase.STOPPING)


def test_measurements_that_failed_are_out_of_date_and_those_that_nobody_wanted_are_not():
    assert _observed(_web(2)).traffic_at == NOW
    assert _observed(_web(2), measurements=Measurements(missing=("no traffic",))).traffic_at == 0.0
