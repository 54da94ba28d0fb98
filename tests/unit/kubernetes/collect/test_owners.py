"""Owners of pods, and what they are doing."""

import pytest
from tests.builders.kubernetes_objects import deployment, objects, pod

from bayplan.kubernetes.collect.owners import Owners, changing, workload_names


def _owner(*items):
    read = objects(*items)
    return Owners(read).of(read.of("Pod")[0])


def test_the_owner_of_a_pod_is_the_deployment_above_its_replica_set():
    owner = _owner(pod("web-1", "a", owner="web"), deployment("web", 3))
    assert (owner.kind, owner.name, owner.known, owner.replicas) == ("Deployment", "web", True, 3)


def test_a_chain_that_was_not_read_to_its_end_is_not_known():
    assert not _owner(pod("web-1", "a", owner="web")).known
    assert not _owner(pod("web-1", "a", owner="web"), deployment("web", 3)[1]).known


def test_a_pod_without_controller_is_its_own_owner_and_a_mirror_belongs_to_its_node():
    assert _owner(pod("debug", "a")).kind == "Pod"
    assert _owner(pod("etcd-a", "a", owner="a", kind="Node")).kind == "Node"


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({}, ""),
        ({"observedGeneration": 0}, "in rollout"),
        ({"updatedReplicas": 2}, "in rollout"),
        ({"replicas": 4}, "in rollout"),
        ({"replicas": 2, "updatedReplicas": 2}, "scaling"),
        ({"conditions": [{"type": "Progressing", "reason": "ReplicaSetUpdated"}]}, "in rollout"),
        ({"conditions": [{"type": "Progressing", "reason": "NewReplicaSetAvailable"}]}, ""),
    ],
)
def test_a_deployment_is_changing_while_its_pods_become_others_or_more(status, expected):
    assert changing(deployment("web", 3, **status)[0]) == expected


def test_an_autoscaler_that_wants_another_number_is_scaling():
    scaler = {
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"namespace": "shop", "name": "web"},
        "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "web"}},
        "status": {"currentReplicas": 3, "desiredReplicas": 5},
    }
    owner = _owner(pod("web-1", "a", owner="web"), deployment("web", 3), scaler)
    assert (owner.changing, owner.scaled_by) == ("scaling", "web")


def test_a_kind_is_named_only_where_two_owners_share_a_name():
    read = objects(pod("a", "x"), pod("web", "x"), pod("web-1", "x", owner="web"), deployment("web", 1))
    owners = Owners(read)
    names = workload_names(owners.of(one) for one in read.of("Pod"))
    assert sorted(names.values()) == ["shop/a", "shop/web (Deployment)", "shop/web (Pod)"]
