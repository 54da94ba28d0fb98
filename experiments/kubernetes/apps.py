"""The Deployments of a seed and the traffic between them: values only, nothing of a cluster is touched."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.kubernetes.exporter import SHAPES, Place, Series
from tests.kubernetes.objects import constraints, deployment, disruption_budget

from experiments.kubernetes.settings import ALIVE, NAMESPACE, Scope

SMALLEST = 4  # replicas: with 75 % alive, one of four may be away
SIZE_POWER, EDGE_POWER, END_POWER = 0.6, 1.2, 0.8  # of the power laws of sizes, of traffic, and of which Deployments talk
EDGES_EACH = 2  # pairs that talk, for each Deployment
MOST_APART = 0.5  # of the nodes: a Deployment with more replicas does not ask for one per node
BUSIEST = 1_000.0  # requests per second of the pair that talks most
BEFORE_CHURN = (1.6, 0.5, 1.0)  # replicas before the churn, as a share of those after it, each of a third
CPU_REQUESTS, MEMORY_REQUESTS = ("100m", "150m", "200m", "300m"), ("256Mi", "512Mi", "1Gi")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class App:
    """One Deployment."""

    name: str
    replicas: int  # after the churn
    first: int  # when it is created
    cpu: str
    memory: str
    kind: int  # of constraint: none, one replica per node, even over zones

    def objects(self) -> tuple[Json, Json]:
        """The Deployment as it is created, and its disruption budget, in whole pods of the size after the churn."""
        budget = disruption_budget(self.name, app=self.name, maxUnavailable=int(self.replicas * (1 - ALIVE)))
        return deployment(self.name, self.first, cpu=self.cpu, memory=self.memory, **constraints(self.name, self.kind)), budget


def apps_of(scope: Scope, seed: int) -> list[App]:
    """The Deployments of a seed, in the order in which they are created."""
    draw = random.Random(f"apps {seed}")
    sizes = _sizes(scope)
    draw.shuffle(sizes)
    return [_app(draw, number, size, scope) for number, size in enumerate(sizes)]


def _app(draw: random.Random, number: int, size: int, scope: Scope) -> App:
    first = max(SMALLEST, round(size * draw.choice(BEFORE_CHURN)))
    one_per_node = max(first, size) <= scope.nodes * MOST_APART
    return App(
        name=f"app-{number:02}",
        replicas=size,
        first=first,
        cpu=draw.choice(CPU_REQUESTS),
        memory=draw.choice(MEMORY_REQUESTS),
        kind=number % 3 if one_per_node else 2 * (number % 2),
    )


def traffic_of(apps: list[App], seed: int) -> dict[tuple[str, str], float]:
    """Requests per second between Deployments: a power law over pairs, whose ends follow a power law over Deployments."""
    draw = random.Random(f"traffic {seed}")
    names = [app.name for app in apps]
    draw.shuffle(names)
    weights = [(rank + 1) ** -END_POWER for rank in range(len(names))]
    wanted = min(EDGES_EACH * len(names), len(names) * (len(names) - 1) // 3)
    pairs: dict[tuple[str, str], None] = {}
    while len(pairs) < wanted:
        a, b = draw.choices(names, weights, k=2)
        if a != b and (b, a) not in pairs:
            pairs[a, b] = None
    return {pair: BUSIEST * (rank + 1) ** -EDGE_POWER for rank, pair in enumerate(draw.sample(list(pairs), len(pairs)))}


def series_of(traffic: Mapping[tuple[str, str], float]) -> list[Series]:
    """The traffic as Istio's proxies count it."""
    return SHAPES["istio"]({(Place(NAMESPACE, a), Place(NAMESPACE, b)): amount for (a, b), amount in traffic.items()})


def _sizes(scope: Scope) -> list[int]:
    """Replicas by a power law, the smallest raised, that sum up to the pods of the cluster."""
    share = [(rank + 1) ** -SIZE_POWER for rank in range(scope.deployments)]
    rest = scope.pods - SMALLEST * scope.deployments
    sizes = [SMALLEST + int(rest * part / sum(share)) for part in share]
    missing = scope.pods - sum(sizes)
    return [size + (number >= scope.deployments - missing) for number, size in enumerate(sizes)]
