"""A large cluster on fake nodes, filled through Deployments by the real controllers and the real scheduler.

`python -m tests.kubernetes.large_cluster --nodes 2000 --pods 20000` fills one and prints how long each part took and how much
memory the parts of the control plane hold; `--keep` leaves it running, with its kubeconfig printed, until Ctrl-C.
"""

import argparse
import json
import random
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from tests.kubernetes.nodes import LANES, make_nodes
from tests.kubernetes.objects import Json, collection_path, deployment, disruption_budget
from tests.kubernetes.real_cluster import running_control_plane, wait_for_interrupt
from tests.kubernetes.waiting import wait_until

from bayplan.kubernetes.client import Client

ZONES = ("zone-a", "zone-b", "zone-c", "zone-d")
SIZES = ((100, 128), (250, 256), (500, 1024), (1000, 2048))  # milli-CPU and MiB of one pod
NAMESPACE_SHARE = 20  # Deployments of one namespace


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """What was made, and how many seconds each part took."""

    namespaces: tuple[str, ...]
    nodes: int
    pods: int
    node_seconds: float
    create_seconds: float
    ready_seconds: float


def large_workloads(pods: int, *, replicas: int = 20, seed: int = 0) -> dict[str, list[Json]]:
    """Deployments and their disruption budgets by namespace: `pods` pods in a few sizes, half of them spread over zones."""
    drawn = random.Random(seed)
    made: dict[str, list[Json]] = {}
    for k in range(-(-pods // replicas)):
        name = f"app-{k}"
        cpu, memory = drawn.choice(SIZES)
        spread = [_zone_spread(name)] if k % 2 else []
        count = min(replicas, pods - k * replicas)
        workload = deployment(name, count, cpu=f"{cpu}m", memory=f"{memory}Mi", topologySpreadConstraints=spread)
        budget = disruption_budget(name, app=name, maxUnavailable="10%")
        made.setdefault(f"large-{k // NAMESPACE_SHARE}", []).extend((workload, budget))
    return made


def _zone_spread(app: str) -> Json:
    return {
        "maxSkew": 5,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": app}},
    }


def fill(client: Client, *, nodes: int, pods: int, cpu: str = "16", memory: str = "64Gi", seconds: float = 3600.0) -> Filled:
    """Make the nodes and the workloads, and wait until every pod is ready."""
    start = time.monotonic()
    make_nodes(client, nodes, cpu=cpu, memory=memory, zones=ZONES)
    with_nodes = time.monotonic()
    workloads = large_workloads(pods)
    _make_workloads(client, workloads)
    created = time.monotonic()
    wait_until(lambda: _ready_pods(client) >= pods, f"{pods} pods are ready", seconds=seconds)
    return Filled(
        namespaces=tuple(workloads),
        nodes=nodes,
        pods=pods,
        node_seconds=with_nodes - start,
        create_seconds=created - with_nodes,
        ready_seconds=time.monotonic() - with_nodes,
    )


def _make_workloads(client: Client, workloads: dict[str, list[Json]]) -> None:
    for namespace in workloads:
        client.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    with ThreadPoolExecutor(LANES) as lanes:
        list(lanes.map(lambda pair: _create(client, *pair), [(n, thing) for n, things in workloads.items() for thing in things]))


def _create(client: Client, namespace: str, thing: Json) -> None:
    client.create(collection_path(thing["apiVersion"], thing["kind"], namespace), thing)


def _ready_pods(client: Client) -> int:
    """Ready replicas over all Deployments: far fewer objects than the pods themselves."""
    return sum(one["status"].get("readyReplicas", 0) for one in client.list("/apis/apps/v1/deployments").items)


def _main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=2000)
    parser.add_argument("--pods", type=int, default=20000)
    parser.add_argument("--keep", action="store_true", help="leave it running until Ctrl-C")
    options = parser.parse_args(arguments)
    start = time.monotonic()
    with running_control_plane() as plane:
        started = time.monotonic() - start
        filled = fill(plane.client(), nodes=options.nodes, pods=options.pods)
        memory = {name: round(amount / 2**20) for name, amount in plane.memory().items()}
        print(
            json.dumps(
                {
                    "nodes": filled.nodes,
                    "pods": filled.pods,
                    "start_seconds": round(started, 1),
                    "node_seconds": round(filled.node_seconds, 1),
                    "create_seconds": round(filled.create_seconds, 1),
                    "ready_seconds": round(filled.ready_seconds, 1),
                    "memory_MiB": memory,
                    "processor_seconds": {part.name: round(part.processor_seconds(), 1) for part in plane.components},
                }
            ),
            flush=True,
        )
        if options.keep:
            wait_for_interrupt(plane)


if __name__ == "__main__":
    _main()
