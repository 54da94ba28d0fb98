"""Planned pods go to their node; every other pod goes where CA-WFD would put it."""

import pytest

from bayplan.api.machine_scores import LivePlacement, RunningContainer
from bayplan.kubernetes.extender.decisions import Extender
from bayplan.kubernetes.extender.protocol import ExtenderArguments
from bayplan.kubernetes.marks import STEP, TARGET

NODES = ("n-0", "n-1", "n-2")
CREATED = "2026-03-01T12:00:00Z"
AT = 1772366400.0  # the same time


def pod(step="", target="", created=CREATED, **labels):
    notes = {STEP: step, TARGET: target}
    about = {"name": "api-1", "namespace": "shop", "creationTimestamp": created, "labels": labels}
    return {"metadata": {**about, "annotations": {key: value for key, value in notes.items() if value}}, "spec": {}}


def asked(pod, names=NODES):
    return ExtenderArguments(pod=pod, names=tuple(names))


def extender(now=AT + 5, ready=True):
    live = LivePlacement(2, candidates="100%")
    live.replace_machines(dict.fromkeys(NODES, (4000.0, 8.0)))
    live.set_container("x", RunningContainer(machine="n-1", workload="shop/web", service="shop/front", request=(100.0, 1.0)))
    return Extender(live=live, ready=lambda: ready, now=lambda: now)


def scores(answer):
    return {each["Host"]: each["Score"] for each in answer}


def test_a_planned_pod_passes_on_its_node_only_and_evicts_nothing_elsewhere():
    result = extender().filter(asked(pod("step-1", "n-2")))
    assert result["NodeNames"] == ["n-2"]
    assert result["FailedAndUnresolvableNodes"] == dict.fromkeys(("n-0", "n-1"), "bayplan moves this pod to node n-2")


def test_a_planned_pod_waits_for_a_node_that_is_not_possible_now():
    result = extender(now=AT + 59).filter(asked(pod("step-1", "n-9")))
    assert result["NodeNames"] == [] and set(result["FailedAndUnresolvableNodes"]) == set(NODES)


@pytest.mark.parametrize(("now", "created"), [(AT + 60, CREATED), (AT + 5, None), (AT + 5, "yesterday")])
def test_a_planned_pod_does_not_wait_for_ever(now, created):
    assert extender(now=now).filter(asked(pod("step-1", "n-9", created)))["NodeNames"] == list(NODES)


def test_a_planned_node_is_honoured_however_late_its_turn_comes():
    assert extender(now=AT + 3600).filter(asked(pod("step-1", "n-2")))["NodeNames"] == ["n-2"]


def test_a_target_without_a_step_of_ours_means_nothing():
    assert extender().filter(asked(pod(target="n-2")))["NodeNames"] == list(NODES)


def test_every_other_pod_passes_everywhere():
    result = extender().filter(asked(pod()))
    assert result["NodeNames"] == list(NODES) and result["FailedAndUnresolvableNodes"] == {}


def test_a_planned_node_gets_all_the_points():
    assert scores(extender().prioritise(asked(pod("step-1", "n-2")))) == {"n-0": 0, "n-1": 0, "n-2": 10}


def test_a_new_pod_is_drawn_to_its_application():
    assert scores(extender().prioritise(asked(pod(**{"app.kubernetes.io/part-of": "front"}))))["n-1"] == 10
    assert scores(extender().prioritise(asked(pod(**{"app.kubernetes.io/part-of": "other"}))))["n-0"] == 10


def test_without_knowledge_of_the_cluster_the_scheduler_decides_alone():
    assert set(scores(extender(ready=False).prioritise(asked(pod()))).values()) == {0}


def test_a_burst_of_new_pods_sees_where_the_others_are_going():
    decisions = extender()
    first, second = pod(**{"app.kubernetes.io/part-of": "new"}), pod(**{"app.kubernetes.io/part-of": "newer"})
    first["metadata"]["uid"], second["metadata"]["uid"] = "1", "2"
    for each in (first, second):
        each["spec"] = {"containers": [{"resources": {"requests": {"cpu": "1"}}}]}
    assert scores(decisions.prioritise(asked(first)))["n-0"] == 10
    assert scores(decisions.prioritise(asked(second)))["n-2"] == 10  # n-0 is taken, though nothing runs there yet
