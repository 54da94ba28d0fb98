"""Who may run beside whom, and where, while the steps of a batch run: anti-affinity, interference, allow.

A group is judged in the batches that create something in it: without a create it only gets emptier.
"""

from collections.abc import Iterator

import numpy as np

from bayplan.check.migration.batch_state import Wave, distinct
from bayplan.check.migration.context import Case, Numbered, by_level
from bayplan.check.migration.counting import Counting, Rows
from bayplan.check.migration.verdict import Breach
from bayplan.check.violation import containers, named, where
from bayplan.model import BoolArray, IntArray


class AntiAffinity:
    """At most `limit` containers of a set of workloads in one group."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.levels = [(some, self._counting(level, some)) for level, some in by_level(case.rules("anti-affinity"))]

    def _counting(self, level: int, some: Numbered) -> Counting:
        rows = Rows.from_lists([rule.workloads for _, rule in some], len(self.case.cluster.workloads.name))
        return self.case.count(rows, len(some), level)

    def __call__(self, wave: Wave) -> Iterator[Breach]:
        """Groups that would have too many."""
        for some, counting in self.levels:
            counting.turn(wave)
            spots = counting.created
            stated = np.array([rule.limit for _, rule in some])[counting.owner[spots]]
            limit = np.maximum(stated, np.maximum(counting.start[spots], counting.end[spots]))
            bad = counting.high[spots] > limit
            for spot, most in zip(spots[bad].tolist(), limit[bad].tolist(), strict=True):
                names = [self.case.cluster.workloads.name[w] for w in some[counting.owner[spot]][1].workloads]
                group, count = int(counting.group_at(spot)), int(counting.high[spot])
                sentence = (
                    f"batch {wave.number + 1}: {containers(count)} of {named(names)} would run {where(counting.level, group)}, "
                    f"at most {most} allowed"
                )
                subject = (*names, counting.level.group[group])
                yield Breach(batch=wave.number, rule="anti-affinity", subject=subject, sentence=sentence)


class Interference:
    """Where `a` runs, at most `limit` containers of `b`."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.levels = [_Pairs(case, some, case.by_workload(level)) for level, some in by_level(case.rules("interference"))]

    def __call__(self, wave: Wave) -> Iterator[Breach]:
        """Groups in which `a` would meet too many of `b`."""
        for pairs in self.levels:
            for i, group, count, most in pairs.broken():
                names = tuple(self.case.cluster.workloads.name[w] for w in (pairs.a[i], pairs.b[i]))
                place = where(pairs.counting.level, group)
                sentence = (
                    f"batch {wave.number + 1}: {containers(count)} of '{names[1]}' would run {place} "
                    f"where '{names[0]}' runs, at most {most} allowed"
                )
                subject = (*names, pairs.counting.level.group[group])
                yield Breach(batch=wave.number, rule="interference", subject=subject, sentence=sentence)


class _Pairs:
    """The interference rules of one level as arrays; only those of workloads that a batch creates are looked at."""

    def __init__(self, case: Case, some: Numbered, counting: Counting) -> None:
        self.counting = counting
        self.a, self.b, self.limit = (np.array([getattr(rule, part) for _, rule in some]) for part in ("a", "b", "limit"))
        either, rule = np.r_[self.a, self.b], np.tile(np.arange(len(some)), 2)
        self.rules_of = Rows.of(either, rule, len(case.cluster.workloads.name))

    def broken(self) -> Iterator[tuple[int, int, int, int]]:
        """Rule, group, containers of `b` there, and how many may be."""
        counting = self.counting
        asked, rule = self.rules_of.each(counting.owner[counting.created])
        touched = distinct(rule * counting.groups + counting.group_at(counting.created[asked]))
        i, group = touched // counting.groups, touched % counting.groups
        at_a, at_b = counting.spots(self.a[i], group), counting.spots(self.b[i], group)
        ends = [count[at_b] * (count[at_a] > 0) for count in (counting.start, counting.end)]
        most, count = np.maximum(self.limit[i], np.maximum(*ends)), counting.high[at_b]
        bad = (counting.high[at_a] > 0) & (count > most)
        yield from zip(*(some[bad].tolist() for some in (i, group, count, most)), strict=True)


class Allow:
    """A workload runs only on machines of its sets; elsewhere never more containers of it than at the worse end."""

    def __init__(self, case: Case) -> None:
        self.case, self.rules = case, case.rules("allow")
        self.counting = case.by_workload(0) if self.rules else None
        moving = np.zeros(len(case.cluster.workloads.name), dtype=np.bool_)
        moving[case.cluster.containers.workload[case.coming.c]] = True
        needed = [i for i, (_, rule) in enumerate(self.rules) if moving[list(rule.workloads)].any()]
        self.rules = [self.rules[i] for i in needed]
        self.sets = list(dict.fromkeys(rule.machines for _, rule in self.rules))
        number = {name: i for i, name in enumerate(self.sets)}
        self.set_of = np.array([number[rule.machines] for _, rule in self.rules], dtype=np.int64)
        self.rules_of = Rows.from_lists([rule.workloads for _, rule in self.rules], len(moving))
        self.member = self._member()

    def _member(self) -> BoolArray:
        """(set, machine) is the machine in the set?"""
        member = np.zeros((len(self.sets), len(self.case.cluster.machines.name)), dtype=np.bool_)
        for i, name in enumerate(self.sets):
            member[i, self.case.cluster.machine_sets[name]] = True
        return member

    def __call__(self, wave: Wave) -> Iterator[Breach]:
        """Workloads that would run where they may not."""
        if self.counting is None:
            return
        counting, spots = self.counting, self.counting.created
        worse = counting.high[spots] > np.maximum(counting.start[spots], counting.end[spots])
        w, m = counting.owner[spots[worse]], counting.group_at(spots[worse])
        asked, rule = self.rules_of.each(w)
        outside = ~self.member[self.set_of[rule], m[asked]]
        yield from self._said(wave, w[asked[outside]], m[asked[outside]], self.set_of[rule[outside]])

    def _said(self, wave: Wave, w: IntArray, m: IntArray, which: IntArray) -> Iterator[Breach]:
        cluster = self.case.cluster
        for one, machine, i in zip(w.tolist(), m.tolist(), which.tolist(), strict=True):
            names = (cluster.workloads.name[one], cluster.machines.name[machine])
            sentence = (
                f"batch {wave.number + 1}: '{names[0]}' would run on machine '{names[1]}', which is not in set '{self.sets[i]}'"
            )
            yield Breach(batch=wave.number, rule="allow", subject=names, sentence=sentence)
