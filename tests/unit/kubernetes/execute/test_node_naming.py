"""How a pod is told its node on servers of different versions."""

import pytest
from tests.builders.live_pods import MemoryClient, live_pods, raw_pod

from bayplan.kubernetes.execute.live_pod import LivePod
from bayplan.kubernetes.execute.node_naming import NodeNaming, forget_node, name_node, naming_of

HERE = {"key": "metadata.name", "operator": "In", "values": ["n-3"]}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


@pytest.mark.parametrize(
    ("minor", "expected"),
    [("27", NodeNaming.AFFINITY), ("34+", NodeNaming.AFFINITY), ("35", NodeNaming.NOMINATION), ("36+", NodeNaming.NOMINATION)],
)
def test_nominations_are_kept_from_1_35_on(minor, expected):
    assert naming_of(MemoryClient(**{"/version": {"major": "1", "minor": minor}})) is expected


def tied_terms(stated):
    """The terms that a pod with these terms gets in addition."""
    raw = raw_pod("new", gated=True)
    if stated is not None:
        raw["spec"]["affinity"] = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": stated}}}
    live = live_pods(raw)
    name_node(live, LivePod(raw), "n-3", {}, NodeNaming.AFFINITY)
    ((_, _, body),) = live.client.changes
    assert body["metadata"]["annotations"] == {"bayplan.io/pinned": "n-3"}
    assert body["spec"]["schedulingGates"] == [{"name": "bayplan.io/steer", "$patch": "delete"}]
    return body["spec"]["affinity"]["nodeAffinity"][REQUIRED]["nodeSelectorTerms"]


def test_a_required_affinity_ties_a_pod_to_its_node():
    assert tied_terms(None) == [{"matchFields": [HERE]}]


def test_every_term_of_the_owner_is_only_made_stricter():
    ssd = {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}
    assert tied_terms([ssd, {"matchFields": [HERE]}]) == [{**ssd, "matchFields": [HERE]}, {"matchFields": [HERE, HERE]}]


def test_a_tied_pod_that_no_node_took_is_evicted_and_one_that_runs_is_left_alone():
    marks = {"annotations": {"bayplan.io/pinned": "n-3"}}
    waiting, running = raw_pod("waiting", **marks), raw_pod("running", node="n-3", **marks)
    live = live_pods(waiting, running)
    for raw in (waiting, running):
        forget_node(live, LivePod(raw))
    ((method, path, body),) = live.client.changes
    assert (method, path) == ("POST", "/api/v1/namespaces/shop/pods/waiting/eviction")
    assert body["deleteOptions"]["preconditions"] == {"uid": "waiting", "resourceVersion": "5"}
