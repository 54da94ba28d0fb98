"""Clusters with services that talk, placed by the real scheduler, and the loop over them."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from tests.kubernetes.objects import Json, constraints, deployment, disruption_budget
from tests.kubernetes.waiting import wait_until

from bayplan.kubernetes.client import Client
from bayplan.kubernetes.collect.observation import observation
from bayplan.kubernetes.collect.settings import CollectSettings
from bayplan.kubernetes.execute import ExecuteSettings, KubernetesOrchestrator
from bayplan.kubernetes.measurements import Measurements
from bayplan.operate.context import LoopContext
from bayplan.operate.settings import LoopSettings
from bayplan.operate.store import Store

QUICK = LoopSettings(mode="auto", way="replace", settle=0.0, young=0.0, step_timeout=60.0, patience=60.0, seconds=5.0, alive=0.75)


@dataclass(kw_only=True)
class Shop:
    """Deployments in one namespace that send each other traffic."""

    client: Client
    namespace: str
    traffic: dict[tuple[str, str], float]
    settings: LoopSettings = QUICK
    store: Store = field(default_factory=lambda: Store.open(":memory:"))

    def orchestrator(self, client: Client | None = None, **settings: Any) -> KubernetesOrchestrator:
        """The cluster behind the port, as a process that has just begun sees it."""

        def show(objects: Any) -> Any:
            measured = Measurements(
                traffic=self.traffic, traffic_unit="requests/s", traffic_at=objects.read_at, usage_at=objects.read_at
            )
            return observation(objects, measured, scope=(self.namespace,), settings=CollectSettings(young=0.0))

        chosen = replace(ExecuteSettings(namespace=self.namespace), **settings)
        return KubernetesOrchestrator(client or self.client, show, chosen)

    def context(self, **settings: Any) -> LoopContext:
        """A process that may act on it."""
        return LoopContext(
            orchestrator=self.orchestrator(), store=self.store, settings=replace(self.settings, **settings), holder="tests"
        )

    def pods(self) -> list[Json]:
        """All pods as they are."""
        return self.client.list(f"/api/v1/namespaces/{self.namespace}/pods").items

    def where(self) -> dict[str, str]:
        """Container -> node, of all that have one."""
        return {_container(pod): node for pod in self.pods() if (node := pod["spec"].get("nodeName"))}

    def wait_ready(self, number: int, seconds: float = 120.0) -> None:
        """Until as many pods are ready, and no more exist."""
        wait_until(lambda: _ready(self.pods()) == number == len(self.pods()), f"{number} ready pods", seconds=seconds)


def _container(pod: Json) -> str:
    own = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
    return str((pod["metadata"].get("annotations") or {}).get("bayplan.io/container", own))


def _ready(pods: list[Json]) -> int:
    return sum(
        any(each["type"] == "Ready" and each["status"] == "True" for each in pod.get("status", {}).get("conditions") or ())
        for pod in pods
    )


def make_shop(
    client: Client,
    namespace: str,
    make: Callable[[Json], Json],
    *,
    deployments: int,
    replicas: int,
    seed: int = 0,
    constrained: bool = True,
    **pod: Any,
) -> Shop:
    """Deployments with disruption budgets; one third has anti-affinity, one third topology spread; each talks to the next."""
    draw = random.Random(seed)
    names = [f"app-{number:02}" for number in range(deployments)]
    total = 0
    for number, name in enumerate(names):
        size = max(2, replicas + draw.choice((-1, 0, 1)))
        limits = constraints(name, number % 3) if constrained else {}
        make(deployment(name, size, cpu=draw.choice(("50m", "100m", "150m")), **{**limits, **pod}))
        make(disruption_budget(name, app=name, maxUnavailable=max(1, size // 4)))
        total += size
    traffic = {(f"{namespace}/{a}", f"{namespace}/{b}"): float(draw.randint(1, 20)) for a, b in pairwise(names)}
    shop = Shop(client=client, namespace=namespace, traffic=traffic)
    shop.wait_ready(total)
    return shop
