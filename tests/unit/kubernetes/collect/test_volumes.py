"""Volumes and the nodes that can use them."""

import pytest
from tests.builders.kubernetes_objects import ZONE, node, objects, pod

from bayplan.kubernetes.collect.nodes import NodeTable
from bayplan.kubernetes.collect.volumes import Volumes

NODES = [node("a", zone="x"), node("b", zone="y"), node("c")]
IN_X = {
    "nodeAffinity": {
        "required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["x"]}]}]}
    }
}


def _claim(modes=("ReadWriteOnce",), volume="pv"):
    spec = {"accessModes": list(modes), **({"volumeName": volume} if volume else {})}
    return {"kind": "PersistentVolumeClaim", "metadata": {"namespace": "shop", "name": "data"}, "spec": spec}


def _volume(labels=None, **spec):
    return {"kind": "PersistentVolume", "metadata": {"name": "pv", "labels": labels or {}}, "spec": spec}


def _user(name="db"):
    return pod(name, "a", volumes=[{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}])


def _reach(*items):
    read = objects(NODES, *items)
    return Volumes(read, NodeTable(read.of("Node")), ()).reach("shop", ["data"])


def test_a_volume_can_be_used_where_its_node_affinity_says():
    assert _reach(_claim(), _volume(local={}, **IN_X)).mask().tolist() == [True, False, False]


def test_a_volume_with_a_zone_can_be_used_there_and_by_nodes_that_do_not_say_where_they_are():
    assert _reach(_claim(), _volume({ZONE: "y__z"}, nfs={})).mask().tolist() == [False, True, True]


def test_a_volume_without_conditions_can_be_used_everywhere():
    assert _reach(_claim(), _volume(nfs={})).machines == b""


CSI = {"csi": {"driver": "disk.example.com"}}


def _limit(count):
    drivers = [{"name": "disk.example.com", "allocatable": {"count": count}}] if count else [{"name": "disk.example.com"}]
    return {"kind": "CSINode", "metadata": {"name": "a"}, "spec": {"drivers": drivers}}


@pytest.mark.parametrize(
    ("items", "reason"),
    [
        ([], "its volume claim 'data' does not exist"),
        ([_claim(volume="")], "its volume claim 'data' is not bound"),
        ([{**_claim(), "status": {"phase": "Pending"}}, _volume(nfs={})], "its volume claim 'data' is not bound"),
        ([_claim()], "the volume of its claim 'data' is gone"),
        ([_claim(["ReadWriteOncePod"]), _volume(nfs={})], "its volume claim 'data' is for one pod at a time"),
        (
            [_claim(), _volume(nfs={}), _user(), _user("other")],
            "its volume claim 'data' is for one node at a time, and another pod uses it",
        ),
        ([_claim(), _volume(**CSI), _limit(8)], "its volume driver disk.example.com limits volumes per node"),
        ([_claim(), _volume(awsElasticBlockStore={})], "its volume is of a kind that nodes may limit"),
    ],
)
def test_a_claim_of_which_nothing_can_be_promised_keeps_its_pod_where_it_is(items, reason):
    assert _reach(*items).refused == reason


def test_a_driver_without_limits_is_no_obstacle():
    assert _reach(_claim(), _volume(**CSI), _limit(0)).refused == ""
