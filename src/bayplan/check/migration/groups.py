"""Which workloads may run together, and where, while the steps of a batch run: anti-affinity, interference, allow.

A group is checked in the batches that create something in it: without a create it only gets emptier.
"""

from collections.abc import Iterator

import numpy as np

from bayplan.check.migration.batch_state import BatchState, distinct
from bayplan.check.migration.context import GroupCounts, NumberedRules, PlanContext, Ragged, by_level
from bayplan.check.migration.plan_check import PlanViolation
from bayplan.check.violation import containers, named, where
from bayplan.model import BoolArray, IntArray


class AntiAffinityCheck:
    """At most `limit` containers of a set of workloads in one group."""

    def __init__(self, context: PlanContext) -> None:
        self.context = context
        self.levels = [(rules, self._group_counts(level, rules)) for level, rules in by_level(context.rules("anti-affinity"))]

    def _group_counts(self, level: int, rules: NumberedRules) -> GroupCounts:
        rows = Ragged.from_lists([rule.workloads for _, rule in rules], len(self.context.cluster.workloads.name))
        return self.context.count(rows, len(rules), level)

    def __call__(self, batch: BatchState) -> Iterator[PlanViolation]:
        """Groups that would have too many."""
        for rules, counts in self.levels:
            counts.advance(batch)
            cells = counts.created
            stated = np.array([rule.limit for _, rule in rules])[counts.owner[cells]]
            limit = np.maximum(stated, np.maximum(counts.start[cells], counts.end[cells]))
            bad = counts.high[cells] > limit
            for cell, most in zip(cells[bad].tolist(), limit[bad].tolist(), strict=True):
                names = [self.context.cluster.workloads.name[w] for w in rules[counts.owner[cell]][1].workloads]
                group, count = int(counts.group_at(cell)), int(counts.high[cell])
                sentence = (
                    f"batch {batch.number + 1}: {containers(count)} of {named(names)} would run {where(counts.level, group)}, "
                    f"at most {most} allowed"
                )
                subject = (*names, counts.level.group[group])
                yield PlanViolation(batch=batch.number, rule="anti-affinity", subject=subject, sentence=sentence)


class InterferenceCheck:
    """Where `a` runs, at most `limit` containers of `b`."""

    def __init__(self, context: PlanContext) -> None:
        self.context = context
        self.levels = [
            _InterferenceRules(context, rules, context.by_workload(level))
            for level, rules in by_level(context.rules("interference"))
        ]

    def __call__(self, batch: BatchState) -> Iterator[PlanViolation]:
        """Groups in which `a` would meet too many of `b`."""
        for level_rules in self.levels:
            for i, group, count, most in level_rules.violated():
                names = tuple(self.context.cluster.workloads.name[w] for w in (level_rules.a[i], level_rules.b[i]))
                place = where(level_rules.counts.level, group)
                sentence = (
                    f"batch {batch.number + 1}: {containers(count)} of '{names[1]}' would run {place} "
                    f"where '{names[0]}' runs, at most {most} allowed"
                )
                subject = (*names, level_rules.counts.level.group[group])
                yield PlanViolation(batch=batch.number, rule="interference", subject=subject, sentence=sentence)


class _InterferenceRules:
    """The interference rules of one level as arrays; only those of workloads that a batch creates are looked at."""

    def __init__(self, context: PlanContext, rules: NumberedRules, counts: GroupCounts) -> None:
        self.counts = counts
        self.a, self.b, self.limit = (np.array([getattr(rule, part) for _, rule in rules]) for part in ("a", "b", "limit"))
        either, rule = np.r_[self.a, self.b], np.tile(np.arange(len(rules)), 2)
        self.rules_of = Ragged.of(either, rule, len(context.cluster.workloads.name))

    def violated(self) -> Iterator[tuple[int, int, int, int]]:
        """Rule, group, containers of `b` there, and how many may be."""
        counts = self.counts
        position, rule = self.rules_of.each(counts.owner[counts.created])
        touched = distinct(rule * counts.groups + counts.group_at(counts.created[position]))
        i, group = touched // counts.groups, touched % counts.groups
        at_a, at_b = counts.cells(self.a[i], group), counts.cells(self.b[i], group)
        ends = [count[at_b] * (count[at_a] > 0) for count in (counts.start, counts.end)]
        most, count = np.maximum(self.limit[i], np.maximum(*ends)), counts.high[at_b]
        bad = (counts.high[at_a] > 0) & (count > most)
        yield from zip(*(column[bad].tolist() for column in (i, group, count, most)), strict=True)


class AllowCheck:
    """A workload runs only on machines of its sets; elsewhere never more containers of it than at the worse end."""

    def __init__(self, context: PlanContext) -> None:
        self.context, self.rules = context, context.rules("allow")
        self.counts = context.by_workload(0) if self.rules else None
        moving = np.zeros(len(context.cluster.workloads.name), dtype=np.bool_)
        moving[context.cluster.containers.workload[context.created.c]] = True
        needed = [i for i, (_, rule) in enumerate(self.rules) if moving[list(rule.workloads)].any()]
        self.rules = [self.rules[i] for i in needed]
        self.sets = list(dict.fromkeys(rule.machines for _, rule in self.rules))
        number = {name: i for i, name in enumerate(self.sets)}
        self.set_of = np.array([number[rule.machines] for _, rule in self.rules], dtype=np.int64)
        self.rules_of = Ragged.from_lists([rule.workloads for _, rule in self.rules], len(moving))
        self.member = self._member()

    def _member(self) -> BoolArray:
        """(set, machine) is the machine in the set?"""
        member = np.zeros((len(self.sets), len(self.context.cluster.machines.name)), dtype=np.bool_)
        for i, name in enumerate(self.sets):
            member[i, self.context.cluster.machine_sets[name]] = True
        return member

    def __call__(self, batch: BatchState) -> Iterator[PlanViolation]:
        """Workloads that would run where they may not."""
        if self.counts is None:
            return
        counts, cells = self.counts, self.counts.created
        worse = counts.high[cells] > np.maximum(counts.start[cells], counts.end[cells])
        w, m = counts.owner[cells[worse]], counts.group_at(cells[worse])
        position, rule = self.rules_of.each(w)
        outside = ~self.member[self.set_of[rule], m[position]]
        yield from self._violations(batch, w[position[outside]], m[position[outside]], self.set_of[rule[outside]])

    def _violations(self, batch: BatchState, w: IntArray, m: IntArray, which: IntArray) -> Iterator[PlanViolation]:
        cluster = self.context.cluster
        for workload, machine, i in zip(w.tolist(), m.tolist(), which.tolist(), strict=True):
            names = (cluster.workloads.name[workload], cluster.machines.name[machine])
            sentence = (
                f"batch {batch.number + 1}: '{names[0]}' would run on machine '{names[1]}', which is not in set '{self.sets[i]}'"
            )
            yield PlanViolation(batch=batch.number, rule="allow", subject=names, sentence=sentence)
