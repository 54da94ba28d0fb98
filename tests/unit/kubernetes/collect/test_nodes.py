"""Nodes and the levels that their labels make."""

import numpy as np
from tests.builders.kubernetes_objects import HOST, ZONE, collect, deployment, node, pod

from bayplan.kubernetes.collect.nodes import NodeTable


def test_zones_are_a_level_and_a_node_without_zone_is_a_group_of_its_own():
    table = NodeTable([node("a", zone="x"), node("b", zone="x"), node("c")])
    level = table.levels[table.level(ZONE)]
    assert (level.name, level.group_of.tolist(), level.group[1]) == ("zone", [0, 0, 1], f"c (without {ZONE})")


def test_the_host_name_is_the_machine_unless_two_nodes_share_one():
    assert NodeTable([node("a"), node("b")]).level(HOST) == 0
    shared = NodeTable([node("a"), node("b", labels={HOST: "a"})])
    level = shared.level(HOST)
    assert shared.levels[level].group_of.tolist() == [0, 0]


def test_any_other_topology_key_becomes_a_level_when_it_is_asked_for():
    table = NodeTable([node("a", labels={"rack": "1"}), node("b", labels={"rack": "2"})])
    assert [level.name for level in table.levels] == ["machine"]
    level = table.level("rack")
    assert table.levels[level].name == "rack"


def test_a_node_is_closed_while_it_is_cordoned_not_ready_or_in_trouble():
    silent = node("silent")
    silent["status"]["conditions"][0]["status"] = "Unknown"
    pressed = node("pressed", taints=[{"key": "node.kubernetes.io/disk-pressure", "effect": "NoSchedule"}])
    table = NodeTable([node("open"), node("cordoned", unschedulable=True), silent, pressed])
    assert {one.name: one.closed for one in table.nodes} == {
        "open": "",
        "cordoned": "cordoned",
        "silent": "not ready",
        "pressed": "tainted node.kubernetes.io/disk-pressure:NoSchedule",
    }


def test_the_domains_of_nodes_leave_out_those_without_the_label():
    table = NodeTable([node("a", zone="x"), node("b", zone="x"), node("c", zone="y"), node("d")])
    assert table.domains_of(ZONE, np.array([0, 3])).tolist() == [True, True, False, False]


def test_a_closed_node_has_just_what_its_pods_use():
    read = collect(node("a", unschedulable=True), node("b"), deployment("web", 1), pod("web-1", "a", owner="web"))
    assert read.snapshot.cluster.machines.capacity[:, 0].tolist() == [1000, 4000]
    assert read.snapshot.cluster.machines.capacity[:, 2].tolist() == [1, 110]  # pods
