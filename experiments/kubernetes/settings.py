"""What is compared: the sizes of the cluster, the arms, and what each of them is told.

The descheduler's policies have the thresholds of the example in its own documentation (20 and 50 %); nothing was tuned.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

NAMESPACE = "shop"
ZONES = ("zone-a", "zone-b", "zone-c")
CPU, MEMORY = "4", "16Gi"  # of each node
ALONE = "kube-scheduler alone"
LOW, SPREAD, BOTH = "LowNodeUtilization", "RemovePodsViolatingTopologySpreadConstraint", "both"
PASSES = 6  # of the descheduler at most: it runs again until a pass evicts nothing
ALIVE = 0.75  # share of each Deployment that is ready at any time, for budgets and plans alike

_LOW_ARGUMENTS = """
  - name: LowNodeUtilization
    args:
      thresholds: {cpu: 20, memory: 20}
      targetThresholds: {cpu: 50, memory: 50}"""
_SPREAD_ARGUMENTS = """
  - name: RemovePodsViolatingTopologySpreadConstraint
    args: {constraints: [DoNotSchedule, ScheduleAnyway]}"""
_POLICY = """
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: compared
  pluginConfig:
  - name: DefaultEvictor
    args: {{nodeFit: true}}{arguments}
  plugins:
    balance: {{enabled: [{plugins}]}}
"""
POLICIES: Mapping[str, str] = {
    LOW: _POLICY.format(arguments=_LOW_ARGUMENTS, plugins=LOW),
    SPREAD: _POLICY.format(arguments=_SPREAD_ARGUMENTS, plugins=SPREAD),
    BOTH: _POLICY.format(arguments=_SPREAD_ARGUMENTS + _LOW_ARGUMENTS, plugins=f"{SPREAD}, {LOW}"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What bayplan is asked for."""

    goal: str
    max_moves: str  # of all containers


PLANS: Mapping[str, Ask] = {
    f"bayplan {goal}, {share}": Ask(goal=goal, max_moves=share)
    for share in ("10%", "25%")
    for goal in ("steady", "local-traffic")
}
ARMS = (ALONE, *POLICIES, *PLANS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """How large the cluster is, how long a plan is searched for, and which seeds there are."""

    nodes: int = 100
    deployments: int = 60
    pods: int = 1_000
    plan_seconds: float = 20.0
    seeds: tuple[int, ...] = (0, 1)
    arms: tuple[str, ...] = ARMS

    def cells(self) -> Iterator["Cell"]:
        """Every arm of the first seed, then of the next."""
        for seed in self.seeds:
            yield from (Cell(scope=self, arm=arm, seed=seed) for arm in self.arms)


SCOPES: Mapping[str, Scope] = {
    "small": Scope(nodes=30, deployments=20, pods=300, plan_seconds=10.0),
    "full": Scope(),
}
QUICK = Scope(nodes=12, deployments=6, pods=60, plan_seconds=5.0, seeds=(0,), arms=(ALONE, BOTH, "bayplan steady, 25%"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One arm on the cluster of one seed."""

    scope: Scope
    arm: str
    seed: int

    @property
    def key(self) -> tuple[str, ...]:
        """What distinguishes it from other rows."""
        return (str(self.scope.nodes), str(self.scope.deployments), str(self.scope.pods), str(self.seed), self.arm)


KEY = ("nodes", "deployments", "pods", "seed", "arm")
