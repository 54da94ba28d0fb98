"""Our reading of constraints against kube-scheduler itself.

Random pods wait on random clusters. Each is offered one node: by affinity on the node's name, or by a profile of the scheduler
that knows only this node, so that the pod itself does not say it. What the model calls feasible the scheduler must accept; what
the model calls infeasible it must refuse, but for a few stated limits in which the model is stricter.
"""

import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace

import pytest
from tests.kubernetes.random_world import HOST, NAMESPACES, NODES, RandomWorld
from tests.kubernetes.real_cluster import ControlPlane
from tests.kubernetes.waiting import wait_until

from bayplan.check import Violation
from bayplan.kubernetes.client import Client, Json
from bayplan.kubernetes.collect.feasibility import obstacles
from bayplan.kubernetes.collect.objects import Objects, read_objects
from bayplan.kubernetes.collect.settings import CollectSettings
from bayplan.kubernetes.collect.snapshot import Collected, collected
from bayplan.model import UNPLACED

pytestmark = pytest.mark.kubernetes

WORLDS = range(int(os.environ.get("BAYPLAN_WORLDS", "20")))
PODS = 100  # that wait, of each world
RUNNING = 14
SETTINGS = CollectSettings(young=0.0, schedulers=frozenset({"default-scheduler", *(f"only-node-{k}" for k in range(NODES))}))


@pytest.fixture(scope="module")
def one_node_profiles(control_plane: ControlPlane) -> Iterator[None]:
    """A scheduler that has one profile for each node beside the usual one."""
    profiles: list[Json] = [{"schedulerName": "default-scheduler"}]
    for k in range(NODES):
        match = {"key": "metadata.name", "operator": "In", "values": [f"node-{k}"]}
        added = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": [match]}]}}
        arguments = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "NodeAffinityArgs", "addedAffinity": added}
        profiles.append({"schedulerName": f"only-node-{k}", "pluginConfig": [{"name": "NodeAffinity", "args": arguments}]})
    with control_plane.scheduler_with(profiles=profiles):
        yield


@pytest.mark.parametrize("seed", WORLDS)
def test_what_the_model_calls_feasible_the_scheduler_accepts(seed: int, client: Client, one_node_profiles: None) -> None:
    world = RandomWorld(seed)
    tally = _compared(client, world, _running_world(client, world))
    print(f"world {seed}:", json.dumps(tally))
    assert tally["whole: feasible"] > PODS / 10
    assert tally["whole: infeasible"] > PODS / 10


def _compared(client: Client, world: RandomWorld, objects: Objects) -> Counter[str]:
    """How many verdicts agree, and how; fails at the first one that does not."""
    tally: Counter[str] = Counter()
    for number in range(PODS):
        pod = world.waiting_pod(number)
        target = _target(world, objects, pod, number)
        pinned = _pinned(pod, target) if number % 2 else _profiled(pod, target)
        wanted = client.create(_path(pod), pinned, dryRun="All")  # with all that the API server adds
        for attempt in range(8):  # the scheduler may not have seen yet that the last pod is gone
            accepted = _scheduled(client, pinned)
            verdicts = {view: _judged(verdict, objects, accepted, target) for view, verdict in _verdicts(objects, wanted, target)}
            if not any(words.startswith("WRONG") for words in verdicts.values()):
                break
            time.sleep(0.3 * attempt)
        for view, words in verdicts.items():
            assert not words.startswith("WRONG"), f"{view}: {words} on {target}: {json.dumps(wanted)}"
            tally[f"{view}: {words}"] += 1
    return tally


def _target(world: RandomWorld, objects: Objects, pod: Json, number: int) -> str:
    """A node for the pod: one that the model calls feasible in every second case, if there is one; else any."""
    node = world.random.choice(world.node_names)
    if number % 4 < 2:
        return node
    with_pod = replace(objects, items={**objects.items, "Pod": [*objects.of("Pod"), pod]})
    read = collected(with_pod, settings=SETTINGS)
    return next((name for name in [node, *world.node_names] if not _obstacles(read, pod, name)), node)


def _judged(verdict: tuple[Violation, ...] | None, objects: Objects, accepted: bool, target: str) -> str:
    """The verdict of the model beside that of the scheduler, in a word."""
    if verdict is None:
        return "not known"
    if accepted == (not verdict):
        return "feasible" if accepted else "infeasible"
    if not accepted:
        return "WRONG: feasible by the model, refused by the scheduler"
    if _is_stated_limit(objects, verdict, target):
        return "stricter"
    return f"WRONG: infeasible by the model ({verdict[0]}), accepted by the scheduler"


def _verdicts(objects: Objects, pod: Json, target: str) -> Iterator[tuple[str, tuple[Violation, ...] | None]]:
    """What keeps the pod from the node by the model, in three views; None if the model says that it does not know.

    Asked of the whole cluster, of the pod's namespace alone, and with half of the running pods owned by Deployments.
    """
    with_pod = replace(objects, items={**objects.items, "Pod": [*objects.of("Pod"), pod]})
    namespace = pod["metadata"]["namespace"]
    yield "whole", _obstacles(collected(with_pod, settings=SETTINGS), pod, target)
    yield "namespace", _obstacles(collected(with_pod, settings=SETTINGS, scope=(namespace,)), pod, target)
    yield "owned", _obstacles(collected(_owned(with_pod), settings=SETTINGS), pod, target)


def _obstacles(read: Collected, pod: Json, target: str) -> tuple[Violation, ...] | None:
    name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
    if name in read.refused:
        return None
    cluster = read.snapshot.cluster
    container = cluster.containers.name.index(name)
    assert read.snapshot.placement.machine_of[container] == UNPLACED
    return obstacles(read.snapshot, container, cluster.machines.name.index(target))


def _owned(objects: Objects) -> Objects:
    """The same pods, but every second one that runs belongs to a Deployment of its own, so that it may move."""
    pods, sets, deployments = [], [], []
    for number, pod in enumerate(objects.of("Pod")):
        if not pod["spec"].get("nodeName") or number % 2:
            pods.append(pod)
            continue
        mine = deepcopy(pod)
        space, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
        mine["metadata"]["ownerReferences"] = [_reference("ReplicaSet", name)]
        pods.append(mine)
        common = {"namespace": space, "name": name}
        owner = [_reference("Deployment", name)]
        sets.append({"kind": "ReplicaSet", "metadata": {**common, "uid": f"ReplicaSet {name}", "ownerReferences": owner}})
        deployments.append({"kind": "Deployment", "metadata": {**common, "uid": f"Deployment {name}"}, "spec": {}})
    return replace(objects, items={**objects.items, "Pod": pods, "ReplicaSet": sets, "Deployment": deployments})


def _reference(kind: str, name: str) -> Json:
    return {"kind": kind, "name": name, "uid": f"{kind} {name}", "controller": True}


def _is_stated_limit(objects: Objects, verdict: tuple[Violation, ...], target: str) -> bool:
    """docs/kubernetes/collect.md, 'Stricter than the scheduler': every obstacle must be one of these."""
    node = next(one for one in objects.of("Node") if one["metadata"]["name"] == target)
    closed = node["spec"].get("unschedulable")
    return all(
        (closed and one.rule == "capacity")
        or (one.rule in ("anti-affinity", "interference") and _unlabelled(one, node))
        or "not in set 'near " in one.sentence  # beside pods that never move, though others that move would do as well
        for one in verdict
    )


def _unlabelled(violation: Violation, node: Json) -> bool:
    """A node without the label of a topology counts as a domain of its own."""
    labels = node["metadata"]["labels"]
    return "(without " in violation.subject[-1] or (HOST not in labels and violation.subject[-1] == node["metadata"]["name"])


# ---- the real cluster ----------------------------------------------------------------------------------------------------------


def _running_world(client: Client, world: RandomWorld) -> Objects:
    """Make the world, wait until it is as it will be, and read it."""
    nodes = world.nodes()
    for node in nodes:
        client.create("/api/v1/nodes", node)
    for name, labels in NAMESPACES.items():
        space = f"{world.prefix}-{name}"
        client.create("/api/v1/namespaces", {"metadata": {"name": space, "labels": labels}})
        path = f"/api/v1/namespaces/{space}/serviceaccounts"
        wait_until(lambda path=path: client.list(path).items, f"the service account of {space}")
    for volume in world.volumes:
        client.create("/api/v1/persistentvolumes", volume["volume"])
        client.create(f"/api/v1/namespaces/{volume['namespace']}/persistentvolumeclaims", volume["claim"])
    wait_until(lambda: _all_ready(client), "all nodes ready")
    wait_until(lambda: _all_bound(client), "all volume claims bound")
    for number in range(RUNNING):
        pod = world.running_pod(number, nodes)
        client.create(_path(pod), pod)
    wait_until(lambda: _all_running(client), "all pods running")
    return read_objects(client)


def _all_ready(client: Client) -> bool:
    nodes = client.list("/api/v1/nodes").items
    ready = [any(one["type"] == "Ready" and one["status"] == "True" for one in node["status"]["conditions"]) for node in nodes]
    tainted = [taint["key"] for node in nodes for taint in node["spec"].get("taints", ())]
    cordoned = [node for node in nodes if node["spec"].get("unschedulable")]
    settled = tainted.count("node.kubernetes.io/unschedulable") == len(cordoned)
    return all(ready) and settled and "node.kubernetes.io/not-ready" not in tainted


def _all_bound(client: Client) -> bool:
    return all(claim["status"].get("phase") == "Bound" for claim in client.list("/api/v1/persistentvolumeclaims").items)


def _all_running(client: Client) -> bool:
    return all(pod["status"].get("phase") == "Running" for pod in client.list("/api/v1/pods").items)


def _path(pod: Json) -> str:
    return f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods"


def _pinned(pod: Json, node: str) -> Json:
    """The pod that can run only on this node, by its own affinity."""
    pinned = deepcopy(pod)
    affinity = pinned["spec"].setdefault("affinity", {}).setdefault("nodeAffinity", {})
    required = affinity.setdefault("requiredDuringSchedulingIgnoredDuringExecution", {"nodeSelectorTerms": [{}]})
    for term in required["nodeSelectorTerms"]:
        term["matchFields"] = [*term.get("matchFields", ()), {"key": "metadata.name", "operator": "In", "values": [node]}]
    return pinned


def _profiled(pod: Json, node: str) -> Json:
    """The pod for the profile of the scheduler that knows only this node."""
    profiled = deepcopy(pod)
    profiled["spec"]["schedulerName"] = f"only-{node}"
    return profiled


def _scheduled(client: Client, pod: Json) -> bool:
    """Does the scheduler bind the pod? The pod is gone afterwards."""
    path = f"{_path(pod)}/{pod['metadata']['name']}"
    client.create(_path(pod), pod)
    try:
        seen = wait_until(lambda: _decided(client.get(path)), f"the scheduler to decide on {pod['metadata']['name']}")
        return bool(seen["spec"].get("nodeName"))
    finally:
        client.delete(path, {"gracePeriodSeconds": 0})


def _decided(pod: Json) -> Json | None:
    """The pod, once it has a node or the scheduler says that there is none."""
    refused = any(
        one["type"] == "PodScheduled" and one["status"] == "False" and one.get("reason") == "Unschedulable"
        for one in pod.get("status", {}).get("conditions", ())
    )
    return pod if refused or pod["spec"].get("nodeName") else None
