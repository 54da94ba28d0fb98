"""A large cluster on fake nodes, filled through Deployments by the real controllers and the real scheduler.

`python -m tests.kubernetes.large_cluster --nodes 2000 --pods 20000` fills one, prints how long each part took and how much memory
the parts of the control plane hold, and keeps what is in it outside of the repository: from then on it starts in seconds.
`--keep` leaves it running, with its kubeconfig printed, until Ctrl-C.
"""

import argparse
import json
import os
import random
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.kubernetes import binary
from tests.kubernetes.nodes import LANES, make_nodes
from tests.kubernetes.objects import Json, collection_path, deployment, disruption_budget
from tests.kubernetes.real_cluster import ControlPlane, running_control_plane, wait_for_interrupt
from tests.kubernetes.waiting import wait_until

from bayplan.kubernetes.client import Client

ZONES = ("zone-a", "zone-b", "zone-c", "zone-d")
SIZES = ((100, 128), (250, 256), (500, 1024), (1000, 2048))  # milli-CPU and MiB of one pod
QUICK_SCHEDULER = {"percentageOfNodesToScore": 2, "parallelism": 2}  # by default it looks at a third of 2,000 nodes for each pod
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
    """Deployments and their disruption budgets by namespace: `pods` pods in a few sizes, a tenth of them spread over zones."""
    drawn = random.Random(seed)
    made: dict[str, list[Json]] = {}
    for k in range(-(-pods // replicas)):
        name = f"app-{k}"
        cpu, memory = drawn.choice(SIZES)
        spread = [_zone_spread(name)] if k % 10 == 0 else []
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


def saved_store(nodes: int, pods: int) -> Path:
    """Where what is in a filled cluster is kept."""
    return binary.cache() / "large-cluster" / f"{binary.VERSION}-{nodes}-{pods}"


@contextmanager
def filled_control_plane(nodes: int = 2000, pods: int = 20000) -> Iterator[ControlPlane]:
    """A control plane with that many nodes and pods, all ready: filled the first time, from what was kept afterwards."""
    store = saved_store(nodes, pods)
    if not store.exists():
        _fill_and_save(nodes, pods, store)
    with running_control_plane(store) as plane:
        client = plane.client()
        wait_until(lambda: _ready_pods(client) >= pods, f"{pods} pods are ready", seconds=600)
        yield plane


def _fill_and_save(nodes: int, pods: int, store: Path) -> None:
    start = time.monotonic()
    with running_control_plane() as plane:
        started = time.monotonic() - start
        with plane.scheduler_with(**QUICK_SCHEDULER):
            filled = fill(plane.client(), nodes=nodes, pods=pods)
            figures = _figures(plane)
        print(json.dumps({"start_seconds": round(started, 1), **_rounded(asdict(filled)), **figures}), flush=True)
        unfinished = store.with_name(f"unfinished-{os.getpid()}")
        plane.save_store(unfinished)
        unfinished.rename(store)


def _rounded(seconds: Json) -> Json:
    return {name: round(value, 1) for name, value in seconds.items() if name != "namespaces"}


def _figures(plane: ControlPlane) -> Json:
    return {
        "memory_MiB": {name: round(amount / 2**20) for name, amount in plane.memory().items()},
        "processor_seconds": {part.name: round(part.processor_seconds(), 1) for part in plane.components},
    }


def _main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=2000)
    parser.add_argument("--pods", type=int, default=20000)
    parser.add_argument("--keep", action="store_true", help="leave it running until Ctrl-C")
    options = parser.parse_args(arguments)
    start = time.monotonic()
    with filled_control_plane(options.nodes, options.pods) as plane:
        print(json.dumps({"ready_after_seconds": round(time.monotonic() - start, 1), **_figures(plane)}), flush=True)
        if options.keep:
            wait_for_interrupt(plane)


if __name__ == "__main__":
    _main()
