"""What is measured, from a fresh list of the cluster and by a watcher of its own: shares no code with any arm."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.kubernetes.watcher import Watcher

from bayplan.kubernetes.client import Client
from experiments.kubernetes.settings import NAMESPACE

PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
DEPLOYMENTS = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"
NODES = "/api/v1/nodes"
ZONE = "topology.kubernetes.io/zone"

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A cluster as it was listed."""

    nodes: list[Json]
    deployments: list[Json]
    pods: list[Json]

    @property
    def uids(self) -> set[str]:
        """Which pods there are."""
        return {pod["metadata"]["uid"] for pod in self.pods}


def listed(client: Client) -> Listed:
    """The cluster as it is now."""
    return Listed(nodes=client.list(NODES).items, deployments=client.list(DEPLOYMENTS).items, pods=client.list(PODS).items)


def figures(cluster: Listed, traffic: Mapping[tuple[str, str], float]) -> dict[str, float]:
    """Gained affinity, balance, the hottest node, Deployments too uneven over zones, and pods without a node or not running."""
    load = cpu_utilisation(cluster)
    mean = sum(load.values()) / len(load)
    return {
        "affinity": gained_affinity(cluster, traffic),
        "deviation": math.sqrt(sum((share - mean) ** 2 for share in load.values()) / len(load)),
        "hottest": max(load.values()),
        "uneven": float(len(uneven_deployments(cluster))),
        "pending": float(sum(is_pending(pod) for pod in cluster.pods)),
    }


def gained_affinity(cluster: Listed, traffic: Mapping[tuple[str, str], float]) -> float:
    """[RASA] Definition 1: the share of traffic that can stay inside of nodes, replicas of a Deployment serving equal parts."""
    on: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for pod in cluster.pods:
        if node := pod["spec"].get("nodeName"):
            on[pod["metadata"]["labels"]["app"]][node] += 1
    size = {item["metadata"]["name"]: item["spec"]["replicas"] for item in cluster.deployments}
    local = sum(
        amount * sum(min(count / size[a], on[b][node] / size[b]) for node, count in on[a].items())
        for (a, b), amount in traffic.items()
    )
    return local / sum(traffic.values())


def cpu_utilisation(cluster: Listed) -> dict[str, float]:
    """Requested CPU of each node as a share of what it has."""
    requested: Counter[str] = Counter()
    for pod in cluster.pods:
        if node := pod["spec"].get("nodeName"):
            requested[node] += sum(_thousandths(part["resources"]["requests"]["cpu"]) for part in pod["spec"]["containers"])
    return {
        (name := node["metadata"]["name"]): requested[name] / _thousandths(node["status"]["allocatable"]["cpu"])
        for node in cluster.nodes
    }


def uneven_deployments(cluster: Listed) -> list[str]:
    """Deployments whose own limit on unevenness over zones does not hold."""
    zone_of = {node["metadata"]["name"]: node["metadata"]["labels"][ZONE] for node in cluster.nodes}
    in_zone = {item["metadata"]["name"]: Counter(dict.fromkeys(zone_of.values(), 0)) for item in cluster.deployments}
    for pod in cluster.pods:
        if node := pod["spec"].get("nodeName"):
            in_zone[pod["metadata"]["labels"]["app"]][zone_of[node]] += 1
    return [
        item["metadata"]["name"]
        for item in cluster.deployments
        for limit in item["spec"]["template"]["spec"].get("topologySpreadConstraints", ())
        if limit["topologyKey"] == ZONE and _skew(in_zone[item["metadata"]["name"]]) > limit["maxSkew"]
    ]


def _skew(counts: Counter[str]) -> int:
    return max(counts.values()) - min(counts.values())


def is_pending(pod: Json) -> bool:
    """Has it no node yet, or does it not run there yet?"""
    return "deletionTimestamp" not in pod["metadata"] and pod.get("status", {}).get("phase", "Pending") == "Pending"


class PendingWatcher(Watcher):
    """Also counts how many pods are pending at one instant, at most."""

    most_pending = 0

    def __enter__(self) -> "PendingWatcher":
        self._pending: set[str] = set()
        super().__enter__()
        return self

    def _see_pod(self, before: Json | None, after: Json | None, item: Json) -> None:
        super()._see_pod(before, after, item)
        if after is not None and is_pending(after):
            self._pending.add(item["metadata"]["uid"])
        else:
            self._pending.discard(item["metadata"]["uid"])
        self.most_pending = max(self.most_pending, len(self._pending))

    def counted(self) -> dict[str, float]:
        """The most pods pending at once, and instants at which a disruption budget or a node's capacity was violated."""
        budgets = sum(" wants " in words for words in self.violations)
        return {
            "most_pending": float(self.most_pending),
            "budget_violations": float(budgets),
            "capacity_violations": float(len(self.violations) - budgets),
        }


def _thousandths(cpu: str) -> int:
    return int(cpu.removesuffix("m")) if cpu.endswith("m") else int(cpu) * 1000
