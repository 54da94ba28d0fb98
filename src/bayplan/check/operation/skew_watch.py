"""Skew over time: asked when a container is created, as Kubernetes does. What is stopping does not count."""

from collections import Counter
from collections.abc import Iterator

from bayplan.check.operation.population import Change, Population
from bayplan.check.operation.watch import Finding, Place, by_key, numbered
from bayplan.check.violation import containers, named, skew_allowed, where
from bayplan.model import Cluster, Skew


class SkewWatch:
    """No container is created in a group with too many more than the emptiest. Places: (rule, group).

    Groups whose machines have all gone are not compared.
    """

    rule = "skew"

    def __init__(self, cluster: Cluster, population: Population) -> None:
        self.cluster, self.population = cluster, population
        self.rules: dict[int, Skew] = dict(numbered(cluster, "skew"))
        self.rules_of = by_key([(w, number) for number, rule in self.rules.items() for w in (rule.workload, *rule.counts)])
        self.group_of = [level.group_of.tolist() for level in cluster.levels]
        self.machines = {number: frozenset(rule.counting_machines(cluster).tolist()) for number, rule in self.rules.items()}
        self.count: dict[int, Counter[int]] = {number: Counter() for number in self.rules}  # rule -> group -> kept
        self.own: dict[int, Counter[int]] = {number: Counter() for number in self.rules}  # the same, of what is judged
        self.low = dict.fromkeys(self.rules, 0)  # rule -> containers in the emptiest group
        self.compared: dict[int, list[int]] = {}
        self.without: frozenset[int] | None = None  # machines that were missing when `compared` was made

    def after(self, change: Change) -> Iterator[tuple[Place, float]]:
        """Every such rule of the workload: the group that is touched, or all of them if the emptiest has another number."""
        if not change.kept:
            return
        for number in self.rules_of.get(change.workload, ()):
            if change.machine in self.machines[number]:
                group = self._take_in(number, change)
                before, self.low[number] = self.low[number], self._lowest(number)[1]
                touched = [group] if before == self.low[number] else {*self.own[number], group}
                for each in touched:
                    yield (number, each), self._excess(number, each)

    def _take_in(self, number: int, change: Change) -> int:
        """Count a change; its group."""
        rule = self.rules[number]
        group: int = self.group_of[rule.level][change.machine]
        self.count[number][group] += change.kept * (change.workload in rule.counts)
        self.own[number][group] += change.kept * (change.workload == rule.workload)
        return group

    def is_asked(self, place: Place, change: Change) -> bool:
        """Is the change a create that is judged in this place? What else makes a place worse is held against no one."""
        rule = self.rules[place[0]]
        return change.kept > 0 and change.workload == rule.workload and self.group_of[rule.level][change.machine] == place[1]

    def _excess(self, number: int, group: int) -> int:
        beyond = self.count[number][group] - self._lowest(number)[1] - self.rules[number].limit
        return max(0, beyond) if self.own[number][group] else 0

    def _lowest(self, number: int) -> tuple[int, int]:
        """The emptiest group and its containers; (-1, 0) if there are too few groups to compare."""
        groups = self._compared(number)
        if not groups or len(groups) < self.rules[number].min_groups:
            return -1, 0
        count = self.count[number]
        lowest = min(groups, key=lambda group: (count[group], group))
        return lowest, count[lowest]

    def _compared(self, number: int) -> list[int]:
        if (missing := frozenset(self.population.missing)) != self.without:
            self.without, self.compared = missing, {}
        if number not in self.compared:
            group_of = self.group_of[self.rules[number].level]
            self.compared[number] = sorted({group_of[m] for m in self.machines[number] - self.population.missing})
        return self.compared[number]

    def describe(self, place: Place) -> Finding:
        """Too many in one group."""
        rule, group = self.rules[place[0]], place[1]
        level, names = self.cluster.levels[rule.level], [self.cluster.workloads.name[w] for w in rule.counts]
        first = self.cluster.workloads.name[rule.workload]
        count = containers(self.count[place[0]][group])
        sentence = f"skew: {count} of {named(names)} {where(level, group)}, {skew_allowed(level, *self._lowest(place[0]), rule)}"
        return Finding((first, *(name for name in names if name != first), level.group[group]), sentence)
