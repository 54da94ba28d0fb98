"""Rules about single machines, over time: capacity, transient, confidence, allow. All that is charged counts."""

from collections import Counter
from collections.abc import Iterator
from math import sqrt
from statistics import NormalDist

from bayplan.check.operation.population import Change
from bayplan.check.operation.watch import Finding, Place, by_key, numbered
from bayplan.check.violation import TOLERANCE, amount, containers, real_amount
from bayplan.model import Cluster


class CapacityWatch:
    """What is charged on a machine is within its capacity. Places: (rule, machine, resource)."""

    rule = "capacity"

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.resources = self._resources()
        self.capacity: list[list[int]] = cluster.machines.capacity.tolist()
        self.request: list[list[int]] = cluster.workloads.request.tolist()
        self.load = [[0] * len(cluster.resources) for _ in self.capacity]  # (machine, resource)

    def _resources(self) -> list[tuple[int, int]]:
        """(rule, resource) to look at."""
        return [(number, r) for number, rule in numbered(self.cluster, "capacity") for r in dict.fromkeys(rule.resources)]

    def after(self, change: Change) -> Iterator[tuple[Place, float]]:
        """Every resource of the machine."""
        if not change.charged:
            return
        load, capacity = self.load[change.machine], self.capacity[change.machine]
        for r, request in enumerate(self.request[change.workload]):
            load[r] += change.charged * request
        for number, r in self.resources:
            yield (number, change.machine, r), max(0, load[r] - capacity[r])

    def describe(self, place: Place) -> Finding:
        """Too much of one resource on one machine."""
        _, m, r = place
        name, resource = self.cluster.machines.name[m], self.cluster.resources[r]
        has, load = self.capacity[m][r], self.load[m][r]
        sentence = (
            f"machine '{name}': {amount(load, resource)} {resource.name} charged of {amount(has, resource)} "
            f"({amount(load - has, resource)} too much)"
        )
        return Finding((name, resource.name), sentence)


class TransientWatch(CapacityWatch):
    """A moving container is charged on both machines, because instances on both run: capacity at every instant.

    Resources that a capacity rule covers are left to that rule. In joint mode a machine gives nothing back before a whole plan
    has ended; that is a promise about plans, and the referee of plans looks at it.
    """

    rule = "transient"

    def _resources(self) -> list[tuple[int, int]]:
        covered = {r for _, rule in numbered(self.cluster, "capacity") for r in rule.resources}
        rules = numbered(self.cluster, "transient")
        return [(number, rule.resource) for number, rule in rules if rule.resource not in covered]


class ConfidenceWatch:
    """Mean + D * deviation of what is charged on a machine is within its capacity ([UCaC] (2)). Places: (rule, machine)."""

    rule = "confidence"

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.rules = {
            number: (int(rule.resource), NormalDist().inv_cdf(rule.alpha)) for number, rule in numbered(cluster, "confidence")
        }
        self.alpha = {number: float(rule.alpha) for number, rule in numbered(cluster, "confidence")}
        self.mean: list[list[float]] = cluster.workloads.usage_mean.tolist()
        self.std: list[list[float]] = cluster.workloads.usage_std.tolist()
        self.count: list[Counter[int]] = [Counter() for _ in cluster.machines.name]  # machine -> workload -> charged

    def after(self, change: Change) -> Iterator[tuple[Place, float]]:
        """Every such rule on the machine. Sums are made anew each time, so that no rounding adds up over weeks."""
        if not change.charged:
            return
        count = self.count[change.machine]
        count[change.workload] += change.charged
        if not count[change.workload]:
            del count[change.workload]
        for number, (r, _) in self.rules.items():
            need, has = self._need(number, change.machine), int(self.cluster.machines.capacity[change.machine, r])
            yield (number, change.machine), need - has if need > has * (1 + TOLERANCE) else 0

    def _need(self, number: int, m: int) -> float:
        r, deviations = self.rules[number]
        mean = sum(count * self.mean[w][r] for w, count in self.count[m].items())
        variance = sum(count * self.std[w][r] ** 2 for w, count in self.count[m].items())
        return mean + deviations * sqrt(variance)

    def describe(self, place: Place) -> Finding:
        """A machine that is likely to be too small."""
        number, m = place
        r, _ = self.rules[number]
        name, resource = self.cluster.machines.name[m], self.cluster.resources[r]
        sentence = (
            f"confidence: machine '{name}' needs {real_amount(self._need(number, m), resource)} {resource.name} "
            f"at {self.alpha[number]!r}, it has {amount(int(self.cluster.machines.capacity[m, r]), resource)}"
        )
        return Finding((name, resource.name), sentence)


class AllowWatch:
    """Workloads run on machines of their sets. Places: (rule, workload, machine)."""

    rule = "allow"

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        rules = numbered(cluster, "allow")
        members = {name: frozenset(machines.tolist()) for name, machines in cluster.machine_sets.items()}
        self.set_name = {number: rule.machines for number, rule in rules}
        self.members = {number: members[rule.machines] for number, rule in rules}
        self.rules_of = by_key([(w, number) for number, rule in rules for w in rule.workloads])
        self.charged: Counter[tuple[int, int]] = Counter()  # (workload, machine) -> charged

    def after(self, change: Change) -> Iterator[tuple[Place, float]]:
        """Every such rule of the workload."""
        rules = self.rules_of.get(change.workload)
        if not rules or not change.charged:
            return
        self.charged[change.workload, change.machine] += change.charged
        for number in rules:
            is_outside = change.machine not in self.members[number]
            yield (number, change.workload, change.machine), is_outside * self.charged[change.workload, change.machine]

    def describe(self, place: Place) -> Finding:
        """A workload where it may not run."""
        number, w, m = place
        workload, machine = self.cluster.workloads.name[w], self.cluster.machines.name[m]
        sentence = (
            f"allow: {containers(self.charged[w, m])} of '{workload}' on machine '{machine}', "
            f"which is not in set '{self.set_name[number]}'"
        )
        return Finding((workload, machine), sentence)
