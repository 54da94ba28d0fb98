"""Rules about whole services while the steps of a batch run: spread and dependency."""

from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from bayplan.check.migration.batch_state import Instances, Wave, distinct
from bayplan.check.migration.context import Case, Numbered, by_level
from bayplan.check.migration.counting import Counting, Rows
from bayplan.check.migration.verdict import Breach
from bayplan.check.violation import containers, counted, where
from bayplan.errors import plural
from bayplan.model import IntArray, Running


class Spread:
    """A service uses as many groups as it must: the minimum, but no more than at either end, nor than containers run."""

    def __init__(self, case: Case) -> None:
        self.case, workloads = case, case.cluster.workloads
        self.levels = [(level, *self._needs(level, some)) for level, some in by_level(case.rules("spread"))]
        service = workloads.service[case.cluster.containers.workload]
        self.members = Rows.of(service, np.arange(len(service)), len(case.cluster.services.name))

    def _needs(self, level: int, some: Numbered) -> tuple[IntArray, IntArray]:
        """(rule,) the service and the groups it needs while enough of it runs."""
        counting = self.case.by_service(level)
        service = np.array([rule.service for _, rule in some])
        ends = np.minimum(counting.groups_used(counting.start), counting.groups_used(counting.end))
        return service, np.minimum([rule.minimum for _, rule in some], ends[service])

    def __call__(self, wave: Wave) -> Iterator[Breach]:
        """Services that would be in too few groups."""
        for index, service, need in self.levels:
            counting = self.case.by_service(index)
            touched = np.zeros(counting.owners, dtype=np.bool_)
            touched[counting.owner[np.r_[counting.created, counting.deleted]]] = True
            few = touched[service] & (counting.groups_used(counting.low)[service] < need)
            for s, least in zip(service[few].tolist(), need[few].tolist(), strict=True):
                worst = _worst(*_places(wave, self.members.each(np.array([s]))[1], counting.level.group_of), least)
                if worst is not None:
                    yield self._said(wave, counting, s, least, worst)

    def _said(self, wave: Wave, counting: Counting, s: int, least: int, worst: tuple[int, int]) -> Breach:
        name, level = self.case.cluster.services.name[s], counting.level.name
        least = min(least, worst[1])
        sentence = (
            f"batch {wave.number + 1}: {containers(worst[1])} of service '{name}' would run in {counted(worst[0], level)}, "
            f"at least {least} {plural(level)} needed"
        )
        return Breach(batch=wave.number, rule="spread", subject=(name,), sentence=sentence)


Places: TypeAlias = set[tuple[int, int]]  # container, group


def _worst(low: Places, high: Places, need: int) -> tuple[int, int] | None:
    """Groups and containers of a service in a state with fewer groups than both `need` and containers; None if there is none.

    `low` surely runs, `high` may run. The groups of `low` are always in use. Every container that may run in them makes the
    state worse, for it asks for a group and brings none. So do groups beside them that bring several: the fullest first.
    """
    sure = {group for _, group in low}
    running = {c for c, group in high if group in sure}
    beside = Counter(group for c, group in high if group not in sure and c not in running)
    groups, count = len(sure), len(running)
    for more in (0, *sorted(beside.values(), reverse=True)):
        groups, count = groups + (more > 0), count + more
        if groups < min(need, count):
            return groups, count
    return None


def _places(wave: Wave, members: IntArray, group_of: IntArray) -> tuple[Places, Places]:
    """What surely runs of some containers, and what may run, while the steps do."""
    before = Running(machine_of=wave.first[members], second=wave.second[members]).pairs()
    runs = _pairs(Instances(c=members[before[:, 0]], m=before[:, 1]))
    created, deleted = (_pairs(steps.where(np.isin(steps.c, members))) for steps in (wave.creates, wave.deletes))
    low, high = ({(c, int(group_of[m])) for c, m in some} for some in (runs - deleted, runs | created))
    return low, high


def _pairs(some: Instances) -> set[tuple[int, int]]:
    return set(zip(some.c.tolist(), some.m.tolist(), strict=True))


class Dependency:
    """Every container that may run has one of the service it needs in its group, one that no step takes away."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.levels = []
        for level, rules in by_level(case.rules("dependency")):
            some = [(number, rule) for number, rule in rules if rule.service != rule.on]  # a service is where it is
            if some:
                self.levels.append(_Needs(case, some, case.by_service(level)))

    def __call__(self, wave: Wave) -> Iterator[Breach]:
        """Groups in which a service would run without the one it needs."""
        for needs in self.levels:
            for i, group, count in needs.broken():
                names = tuple(self.case.cluster.services.name[s] for s in (needs.service[i], needs.on[i]))
                sentence = (
                    f"batch {wave.number + 1}: {containers(count)} of service '{names[0]}' would run "
                    f"{where(needs.counting.level, group)} without one of service '{names[1]}'"
                )
                subject = (*names, needs.counting.level.group[group])
                yield Breach(batch=wave.number, rule="dependency", subject=subject, sentence=sentence)


class _Needs:
    """The dependency rules of one level as arrays; only those of services that a batch touches are looked at."""

    def __init__(self, case: Case, some: Numbered, counting: Counting) -> None:
        self.counting, n_s = counting, len(case.cluster.services.name)
        self.service, self.on = (np.array([getattr(rule, part) for _, rule in some]) for part in ("service", "on"))
        self.rules_by_service = Rows.of(self.service, np.arange(len(some)), n_s)
        self.rules_by_on = Rows.of(self.on, np.arange(len(some)), n_s)

    def broken(self) -> Iterator[tuple[int, int, int]]:
        """Rule, group, and containers that would be alone there."""
        counting = self.counting
        touched = distinct(
            np.r_[self._keys(self.rules_by_service, counting.created), self._keys(self.rules_by_on, counting.deleted)]
        )
        i, group = touched // counting.groups, touched % counting.groups
        one, other = counting.spots(self.service[i], group), counting.spots(self.on[i], group)
        ends = [count[one] * (count[other] == 0) for count in (counting.start, counting.end)]
        alone = counting.high[one] * (counting.low[other] == 0)
        bad = alone > np.maximum(*ends)
        yield from zip(i[bad].tolist(), group[bad].tolist(), alone[bad].tolist(), strict=True)

    def _keys(self, rules: Rows, spots: IntArray) -> IntArray:
        asked, rule = rules.each(self.counting.owner[spots])
        return rule * self.counting.groups + self.counting.group_at(spots[asked])
