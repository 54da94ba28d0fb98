"""`explain` on random clusters: the machines that it says fit are those that no rule keeps a container from."""

import pytest
from tests.kubernetes.random_world import NAMESPACES, RandomWorld

import bayplan as bp
from bayplan.kubernetes.collect.feasibility import obstacles
from bayplan.kubernetes.collect.objects import Objects
from bayplan.kubernetes.collect.snapshot import Collected, collected

READY = [{"type": "Ready", "status": "True"}]
RUNNING, WAITING = 14, 20


def _world(seed: int) -> tuple[RandomWorld, dict]:
    """A random cluster as it would be read, with pods that run."""
    world = RandomWorld(seed)
    nodes = world.nodes()
    running = [world.running_pod(number, nodes) for number in range(RUNNING)]
    for one in nodes:
        one["status"]["conditions"] = READY
    for one in running:
        one["status"] = {"phase": "Running", "conditions": READY}
    spaces = [
        {"kind": "Namespace", "metadata": {"name": f"{world.prefix}-{name}", "labels": own}} for name, own in NAMESPACES.items()
    ]
    volumes = {
        "PersistentVolume": [one["volume"] for one in world.volumes],
        "PersistentVolumeClaim": [one["claim"] for one in world.volumes],
    }
    return world, {"Node": nodes, "Pod": running, "Namespace": spaces, **volumes}


def _fits(read: Collected, name: str) -> set[str]:
    cluster = read.snapshot.cluster
    container = cluster.containers.name.index(name)
    return {machine for m, machine in enumerate(cluster.machines.name) if not obstacles(read.snapshot, container, m)}


@pytest.mark.parametrize("seed", range(3))
def test_what_explain_says_fits_is_what_the_referee_lets_pass(seed):
    world, items = _world(seed)
    some, none = 0, 0
    for number in range(WAITING):
        pod = world.waiting_pod(number)
        read = collected(Objects(items={**items, "Pod": [*items["Pod"], pod]}, read_at=2e9))
        name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        assert name not in read.refused
        fits = _fits(read, name)
        assert set(bp.explain(read.snapshot, name).fits) == fits
        some, none = some + bool(fits), none + (not fits)
    assert some and none
