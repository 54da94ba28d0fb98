"""Where pods may run by what they say about nodes."""

import pytest
from tests.builders.kubernetes_objects import REQUIRED, collect, deployment, node, pod

from bayplan.kubernetes.collect.nodes import Taint
from bayplan.kubernetes.collect.rules.node_rules import tolerated

NODES = [
    node("fast", labels={"disk": "ssd", "kubernetes.io/os": "linux"}),
    node("slow", labels={"disk": "hdd", "kubernetes.io/os": "windows"}),
    node("kept", taints=[{"key": "dedicated", "value": "x", "effect": "NoSchedule"}]),
]


def _sets(**spec):
    read = collect(NODES, deployment("web", 1), pod("web-0", "fast", owner="web", **spec))
    names = read.snapshot.cluster.machines.name
    return {name: [names[m] for m in machines] for name, machines in read.snapshot.cluster.machine_sets.items()}


TOLERATES = {"tolerations": [{"operator": "Exists"}]}


def test_a_node_selector_becomes_a_set_of_machines():
    assert _sets(nodeSelector={"disk": "ssd"}, **TOLERATES) == {"node selector disk=ssd": ["fast"]}


def test_required_node_affinity_becomes_a_set_of_machines():
    terms = [{"matchExpressions": [{"key": "disk", "operator": "NotIn", "values": ["ssd"]}]}]
    sets = _sets(affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}, **TOLERATES)
    assert sets == {"node affinity disk not in (ssd)": ["kept", "slow"]}


def test_taints_keep_pods_away_that_do_not_tolerate_them():
    assert _sets() == {"taints tolerated": ["fast", "slow"]}
    assert _sets(**TOLERATES) == {}


def test_a_pod_of_an_operating_system_runs_on_nodes_that_do_not_say_another():
    assert _sets(os={"name": "linux"}, **TOLERATES) == {"operating system linux": ["fast", "kept"]}


def test_preferences_are_no_rules():
    prefers = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": {}}]}}
    assert _sets(affinity=prefers, **TOLERATES) == {}


def test_pods_that_never_move_need_no_rules_about_nodes():
    assert collect(NODES, pod("bare", "kept", nodeSelector={"disk": "ssd"})).snapshot.cluster.machine_sets == {}


@pytest.mark.parametrize(
    ("toleration", "holds"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "dedicated", "operator": "Exists"}, True),
        ({"key": "dedicated", "value": "x"}, True),
        ({"key": "dedicated", "operator": "Equal", "value": "y"}, False),
        ({"key": "dedicated", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "other", "operator": "Exists"}, False),
        ({"key": "dedicated", "operator": "Gt", "value": "1"}, False),
    ],
)
def test_a_taint_is_tolerated_as_the_api_says(toleration, holds):
    assert tolerated(Taint("dedicated", "x", "NoSchedule"), [toleration]) is holds
