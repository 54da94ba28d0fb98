"""How many instances of a workload are ready, over time: the alive share and the disruption limit."""

from collections.abc import Iterator
from math import ceil

from bayplan.check.operation.population import Change, Population
from bayplan.check.operation.watch import Finding, Place
from bayplan.check.violation import containers
from bayplan.model import Cluster


class ReadyWatch:
    """Enough instances of a workload are ready. Places: (workload,)."""

    rule = "needed"

    def __init__(self, cluster: Cluster, population: Population) -> None:
        self.cluster, self.population = cluster, population
        self.ready = [0] * len(cluster.workloads.name)

    def least(self, w: int) -> int:
        """How many must be ready: the disruption limit that the workload's owner stated."""
        return self.population.needed[w]

    def after(self, change: Change) -> Iterator[tuple[Place, float]]:
        """The workload."""
        if change.ready or change.machine < 0:
            self.ready[change.workload] += change.ready
            yield (change.workload,), max(0, self.least(change.workload) - self.ready[change.workload])

    def describe(self, place: Place) -> Finding:
        """Too few are ready."""
        name = self.cluster.workloads.name[place[0]]
        ready, desired = self.ready[place[0]], self.population.desired[place[0]]
        sentence = f"{self.rule}: {containers(ready)} of '{name}' ready of {desired}, at least {self.least(place[0])} must be"
        return Finding((name,), sentence)


class AliveWatch(ReadyWatch):
    """A share of the desired number is ready."""

    rule = "alive"

    def __init__(self, cluster: Cluster, population: Population, share: float) -> None:
        super().__init__(cluster, population)
        self.share = share

    def least(self, w: int) -> int:
        """How many must be ready: the share, rounded up."""
        return ceil(self.share * self.population.desired[w] - 1e-9)
