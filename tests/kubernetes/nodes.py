"""Fake nodes: KWOK is their kubelet."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from tests.kubernetes.objects import Json, is_ready, node
from tests.kubernetes.waiting import wait_until

from bayplan.kubernetes.client import Client

ZONE = "topology.kubernetes.io/zone"
NODES = "/api/v1/nodes"
LANES = 8  # requests at a time


def make_nodes(
    client: Client,
    count: int,
    *,
    cpu: str = "4",
    memory: str = "16Gi",
    pods: int = 110,
    zones: Sequence[str] = ("zone-a",),
    labels: Mapping[str, str] | None = None,
    taints: Sequence[Json] = (),
    prefix: str = "node",
) -> list[str]:
    """The names of new nodes `PREFIX-0`, `PREFIX-1`, ...: in the zones in turn, ready, and open for pods."""
    names = [f"{prefix}-{k}" for k in range(count)]
    made = [
        node(name, cpu=cpu, memory=memory, pods=pods, labels={ZONE: zones[k % len(zones)], **(labels or {})}, taints=taints)
        for k, name in enumerate(names)
    ]
    with ThreadPoolExecutor(LANES) as lanes:
        list(lanes.map(lambda body: client.create(NODES, body), made))
    wait_until(lambda: not _not_open(client, set(names)), f"{count} nodes are ready and open", seconds=60 + count / 10)
    return names


def _not_open(client: Client, names: set[str]) -> list[str]:
    seen = {one["metadata"]["name"]: one for one in client.list(NODES).items}
    return sorted(name for name in names if name not in seen or not _is_open(seen[name]))


def _is_open(one: Json) -> bool:
    shut = any(taint["key"] == "node.kubernetes.io/not-ready" for taint in one["spec"].get("taints", ()))
    return is_ready(one) and not shut
