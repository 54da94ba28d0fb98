"""Rules about services while the steps of a batch run: spread and dependency."""

from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from bayplan.check.migration.batch_state import BatchState, Instances, distinct
from bayplan.check.migration.context import GroupCounts, NumberedRules, PlanContext, Ragged, by_level
from bayplan.check.migration.plan_check import PlanViolation
from bayplan.check.violation import containers, counted, where
from bayplan.model import IntArray, Running
from bayplan.words import plural


class SpreadCheck:
    """A service uses as many groups as it must: the minimum, but no more than at either end, nor than containers run."""

    def __init__(self, context: PlanContext) -> None:
        self.context, workloads = context, context.cluster.workloads
        self.levels = [(level, *self._needs(level, rules)) for level, rules in by_level(context.rules("spread"))]
        service = workloads.service[context.cluster.containers.workload]
        self.members = Ragged.of(service, np.arange(len(service)), len(context.cluster.services.name))

    def _needs(self, level: int, rules: NumberedRules) -> tuple[IntArray, IntArray]:
        """(rule,) the service and the groups it needs while enough of it runs."""
        counts = self.context.by_service(level)
        service = np.array([rule.service for _, rule in rules])
        ends = np.minimum(counts.groups_used(counts.start), counts.groups_used(counts.end))
        return service, np.minimum([rule.minimum for _, rule in rules], ends[service])

    def __call__(self, batch: BatchState) -> Iterator[PlanViolation]:
        """Services that would be in too few groups."""
        for index, service, need in self.levels:
            counts = self.context.by_service(index)
            touched = np.zeros(counts.owners, dtype=np.bool_)
            touched[counts.owner[np.r_[counts.created, counts.deleted]]] = True
            few = touched[service] & (counts.groups_used(counts.low)[service] < need)
            for s, least in zip(service[few].tolist(), need[few].tolist(), strict=True):
                worst = _worst(*_places(batch, self.members.each(np.array([s]))[1], counts.level.group_of), least)
                if worst is not None:
                    yield self._violation(batch, counts, s, least, worst)

    def _violation(self, batch: BatchState, counts: GroupCounts, s: int, least: int, worst: tuple[int, int]) -> PlanViolation:
        name, level = self.context.cluster.services.name[s], counts.level.name
        least = min(least, worst[1])
        sentence = (
            f"batch {batch.number + 1}: {containers(worst[1])} of service '{name}' would run in {counted(worst[0], level)}, "
            f"at least {least} {plural(level)} needed"
        )
        return PlanViolation(batch=batch.number, rule="spread", subject=(name,), sentence=sentence)


Places: TypeAlias = set[tuple[int, int]]  # container, group


def _worst(low: Places, high: Places, need: int) -> tuple[int, int] | None:
    """Groups and containers of a service in a state with fewer groups than both `need` and containers; None if there is none.

    `low` surely runs, `high` may run. The groups of `low` are always in use. Every container that may run in them makes the
    state worse, because it needs a group and brings none. So do groups beside them that bring several: the fullest first.
    """
    sure = {group for _, group in low}
    running = {c for c, group in high if group in sure}
    beside = Counter(group for c, group in high if group not in sure and c not in running)
    groups, count = len(sure), len(running)
    for added in (0, *sorted(beside.values(), reverse=True)):
        groups, count = groups + (added > 0), count + added
        if groups < min(need, count):
            return groups, count
    return None


def _places(batch: BatchState, members: IntArray, group_of: IntArray) -> tuple[Places, Places]:
    """Which of these containers surely run, and which may run, while the steps do."""
    before = Running(machine_of=batch.first[members], second=batch.second[members]).pairs()
    runs = _pairs(Instances(c=members[before[:, 0]], m=before[:, 1]))
    created, deleted = (_pairs(steps.where(np.isin(steps.c, members))) for steps in (batch.creates, batch.deletes))
    low, high = ({(c, int(group_of[m])) for c, m in pairs} for pairs in (runs - deleted, runs | created))
    return low, high


def _pairs(instances: Instances) -> set[tuple[int, int]]:
    return set(zip(instances.c.tolist(), instances.m.tolist(), strict=True))


class DependencyCheck:
    """Every container that may run has one of the service it needs in its group, one that no step takes away."""

    def __init__(self, context: PlanContext) -> None:
        self.context = context
        self.levels = []
        for level, rules in by_level(context.rules("dependency")):
            between = [(number, rule) for number, rule in rules if rule.service != rule.on]  # a service never misses itself
            if between:
                self.levels.append(_DependencyRules(context, between, context.by_service(level)))

    def __call__(self, batch: BatchState) -> Iterator[PlanViolation]:
        """Groups in which a service would run without the one it needs."""
        for rules in self.levels:
            for i, group, count in rules.violated():
                names = tuple(self.context.cluster.services.name[s] for s in (rules.service[i], rules.on[i]))
                sentence = (
                    f"batch {batch.number + 1}: {containers(count)} of service '{names[0]}' would run "
                    f"{where(rules.counts.level, group)} without one of service '{names[1]}'"
                )
                subject = (*names, rules.counts.level.group[group])
                yield PlanViolation(batch=batch.number, rule="dependency", subject=subject, sentence=sentence)


class _DependencyRules:
    """The dependency rules of one level as arrays; only those of services that a batch touches are looked at."""

    def __init__(self, context: PlanContext, rules: NumberedRules, counts: GroupCounts) -> None:
        self.counts, n_s = counts, len(context.cluster.services.name)
        self.service, self.on = (np.array([getattr(rule, part) for _, rule in rules]) for part in ("service", "on"))
        self.rules_by_service = Ragged.of(self.service, np.arange(len(rules)), n_s)
        self.rules_by_on = Ragged.of(self.on, np.arange(len(rules)), n_s)

    def violated(self) -> Iterator[tuple[int, int, int]]:
        """Rule, group, and containers that would be alone there."""
        counts = self.counts
        touched = distinct(np.r_[self._keys(self.rules_by_service, counts.created), self._keys(self.rules_by_on, counts.deleted)])
        i, group = touched // counts.groups, touched % counts.groups
        one, other = counts.cells(self.service[i], group), counts.cells(self.on[i], group)
        ends = [count[one] * (count[other] == 0) for count in (counts.start, counts.end)]
        alone = counts.high[one] * (counts.low[other] == 0)
        bad = alone > np.maximum(*ends)
        yield from zip(i[bad].tolist(), group[bad].tolist(), alone[bad].tolist(), strict=True)

    def _keys(self, rules: Ragged, cells: IntArray) -> IntArray:
        position, rule = rules.each(self.counts.owner[cells])
        return rule * self.counts.groups + self.counts.group_at(cells[position])
