"""Rules about what runs together in a group, over time: anti-affinity, interference, dependency.

Limits from above count all that is charged. A dependency is between instances that are not stopping: one that is stopping
serves nothing, so it neither needs the other nor is of use to it.
"""

from collections import Counter
from collections.abc import Iterator

from bayplan.check.operation.population import Change
from bayplan.check.operation.watch import Finding, Place, by_key, numbered
from bayplan.check.violation import containers, named, where
from bayplan.model import Cluster


class AntiAffinityWatch:
    """At most `limit` containers of a rule's workloads in one group. Places: (rule, group)."""

    rule = "anti-affinity"

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.rules = dict(numbered(cluster, "anti-affinity"))
        self.rules_of = by_key([(w, number) for number, rule in self.rules.items() for w in rule.workloads])
        self.group_of = [level.group_of.tolist() for level in cluster.levels]
        self.together: Counter[Place] = Counter()

    def after(self, change: Change) -> Iterator[tuple[Place, float]]:
        """Every such rule of the workload."""
        if not change.charged:
            return
        for number in self.rules_of.get(change.workload, ()):
            rule = self.rules[number]
            place = (number, self.group_of[rule.level][change.machine])
            self.together[place] += change.charged
            yield place, max(0, self.together[place] - rule.limit)

    def describe(self, place: Place) -> Finding:
        """Too many in one group."""
        rule, level = self.rules[place[0]], self.cluster.levels[self.rules[place[0]].level]
        names = [self.cluster.workloads.name[w] for w in rule.workloads]
        sentence = (
            f"anti-affinity: {containers(self.together[place])} of {named(names)} {where(level, place[1])}, "
            f"at most {rule.limit} allowed"
        )
        return Finding((*names, level.group[place[1]]), sentence)


class InterferenceWatch:
    """Where `a` runs, at most `limit` containers of `b` do. Places: (rule, group)."""

    rule = "interference"

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.rules = dict(numbered(cluster, "interference"))
        self.rules_of = by_key([(w, number) for number, rule in self.rules.items() for w in (rule.a, rule.b)])
        self.group_of = [level.group_of.tolist() for level in cluster.levels]
        self.count: Counter[tuple[int, int, int]] = Counter()  # (level, workload, group) -> charged

    def after(self, change: Change) -> Iterator[tuple[Place, float]]:
        """Every such rule of the workload."""
        rules = self.rules_of.get(change.workload)
        if not rules or not change.charged:
            return
        for level in {self.rules[number].level for number in rules}:
            self.count[level, change.workload, self.group_of[level][change.machine]] += change.charged
        for number in rules:
            place = (number, self.group_of[self.rules[number].level][change.machine])
            yield place, self._excess(place)

    def _excess(self, place: Place) -> int:
        rule, group = self.rules[place[0]], place[1]
        if not self.count[rule.level, rule.a, group]:
            return 0
        return max(0, self.count[rule.level, rule.b, group] - int(rule.limit))

    def describe(self, place: Place) -> Finding:
        """Too many of `b` beside `a`."""
        rule, level = self.rules[place[0]], self.cluster.levels[self.rules[place[0]].level]
        a, b = (self.cluster.workloads.name[w] for w in (rule.a, rule.b))
        sentence = (
            f"interference: {containers(self.count[rule.level, rule.b, place[1]])} of '{b}' {where(level, place[1])} "
            f"where '{a}' runs, at most {rule.limit} allowed"
        )
        return Finding((a, b, level.group[place[1]]), sentence)


class DependencyWatch:
    """Every container of a service has one of another in its group. Places: (rule, group)."""

    rule = "dependency"

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.rules = {number: rule for number, rule in numbered(cluster, "dependency") if rule.service != rule.on}
        self.rules_of = by_key([(s, number) for number, rule in self.rules.items() for s in (rule.service, rule.on)])
        self.service: list[int] = cluster.workloads.service.tolist()
        self.group_of = [level.group_of.tolist() for level in cluster.levels]
        self.count: Counter[tuple[int, int, int]] = Counter()  # (level, service, group) -> kept

    def after(self, change: Change) -> Iterator[tuple[Place, float]]:
        """Every such rule of the service."""
        s = self.service[change.workload]
        rules = self.rules_of.get(s)
        if not rules or not change.kept:
            return
        for level in {self.rules[number].level for number in rules}:
            self.count[level, s, self.group_of[level][change.machine]] += change.kept
        for number in rules:
            place = (number, self.group_of[self.rules[number].level][change.machine])
            yield place, self._alone(place)

    def _alone(self, place: Place) -> int:
        rule, group = self.rules[place[0]], place[1]
        return 0 if self.count[rule.level, rule.on, group] else self.count[rule.level, rule.service, group]

    def describe(self, place: Place) -> Finding:
        """A service without the one that it needs."""
        rule, level = self.rules[place[0]], self.cluster.levels[self.rules[place[0]].level]
        service, on = (self.cluster.services.name[s] for s in (rule.service, rule.on))
        sentence = (
            f"dependency: {containers(self._alone(place))} of service '{service}' {where(level, place[1])}, "
            f"none of service '{on}' there"
        )
        return Finding((service, on, level.group[place[1]]), sentence)
