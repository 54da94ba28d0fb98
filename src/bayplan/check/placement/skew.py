"""The rule about how unevenly containers stand in the groups of a level: skew."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bayplan.check.placement.context import NumberedRules, PlacementContext
from bayplan.check.violation import Violation, containers, named, skew_allowed, where
from bayplan.model import BoolArray, Cluster, IntArray, Skew


class ComparedGroups(NamedTuple):
    """The machines that a skew rule counts, and their groups."""

    counts: BoolArray  # (machine,)
    group: IntArray  # groups with at least one of these machines, ascending

    def floor(self, count: IntArray, rule: Skew) -> tuple[int, int]:
        """The emptiest group, the first of equals, and its containers; (-1, 0) if there are too few groups to compare."""
        if len(self.group) < rule.min_groups:
            return -1, 0
        lowest = int(self.group[np.argmin(count[self.group])])
        return lowest, int(count[lowest])


def compared_groups(cluster: Cluster, rule: Skew) -> ComparedGroups:
    """What the rule compares."""
    counts = np.zeros(len(cluster.machines.name), dtype=np.bool_)
    counts[rule.counting_machines(cluster)] = True
    return ComparedGroups(counts=counts, group=np.unique(cluster.levels[rule.level].group_of[counts]))


def skew(context: PlacementContext, rules: NumberedRules) -> Iterator[Violation]:
    """Groups with a container of the workload that have too many more than the emptiest."""
    known: dict[tuple[int, str], ComparedGroups] = {}
    for number, rule in rules:
        if (rule.level, rule.machines) not in known:
            known[rule.level, rule.machines] = compared_groups(context.cluster, rule)
        yield from _beyond(context, number, rule, known[rule.level, rule.machines])


def _beyond(context: PlacementContext, number: int, rule: Skew, compared: ComparedGroups) -> Iterator[Violation]:
    level = context.cluster.levels[rule.level]
    own, count = (_in_groups(context, rule.level, workloads, compared.counts) for workloads in ((rule.workload,), rule.counts))
    if not own.any():
        return
    lowest, low = compared.floor(count, rule)
    names = [context.cluster.workloads.name[w] for w in rule.counts]
    first = context.cluster.workloads.name[rule.workload]
    for group in np.flatnonzero((own > 0) & (count > low + rule.limit)).tolist():
        yield Violation(
            rule="skew",
            number=number,
            subject=(first, *(name for name in names if name != first), level.group[group]),
            excess=int(count[group]) - low - rule.limit,
            sentence=f"skew: {containers(int(count[group]))} of {named(names)} {where(level, group)}, "
            f"{skew_allowed(level, lowest, low, rule)}",
        )


def _in_groups(context: PlacementContext, level: int, workloads: tuple[int, ...], counts: BoolArray) -> IntArray:
    """(group,) containers of some workloads on the machines that count."""
    tally, of = context.by_workload(0), context.cluster.levels[level]
    _, pair = tally.pairs_of(np.unique(workloads))
    pair = pair[counts[tally.group[pair]]]
    in_group = np.zeros(len(of.group), dtype=np.int64)
    np.add.at(in_group, of.group_of[tally.group[pair]], tally.count[pair])
    return in_group
