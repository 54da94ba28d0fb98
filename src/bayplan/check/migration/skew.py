"""Skew while the steps of a batch run: it is asked when a container of the judged workload is created, at no other time.

The create may be the last of the batch in its group, come before all deletes there, and after all deletes elsewhere. So its group
is counted with everything from before and every create, the others without what the batch deletes. The limit is the rule's own:
Kubernetes makes no exception for groups that were beyond it before.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bayplan.check.migration.batch_state import BatchState, Instances, distinct
from bayplan.check.migration.context import PlanContext
from bayplan.check.migration.plan_check import PlanViolation
from bayplan.check.violation import containers, named, skew_allowed, where
from bayplan.model import BoolArray, IntArray, Level, Skew


class SkewState(NamedTuple):
    """One rule, and what it counts before a batch."""

    rule: Skew
    level: Level
    counts: BoolArray  # (machine,)
    group: IntArray  # groups that are compared
    workload: BoolArray  # (workload,) is it counted?

    def counted(self, owner: IntArray, instances: Instances) -> IntArray:
        """(group,) those of some instances that are counted."""
        chosen = self.workload[owner[instances.c]] & self.counts[instances.m]
        return np.bincount(self.level.group_of[instances.m[chosen]], minlength=len(self.level.group))

    def judged(self, owner: IntArray, creates: Instances) -> IntArray:
        """Groups in which something is created that is judged."""
        chosen = (owner[creates.c] == self.rule.workload) & self.counts[creates.m]
        return distinct(self.level.group_of[creates.m[chosen]])


class SkewCheck:
    """No create of a workload goes to a group with too many more than the emptiest."""

    def __init__(self, context: PlanContext) -> None:
        self.context, self.owner = context, context.cluster.containers.workload
        creates = np.zeros(len(context.cluster.workloads.name), dtype=np.bool_)
        creates[self.owner[context.created.c]] = True
        self.states = [self._state(rule) for _, rule in context.rules("skew") if creates[rule.workload]]
        self.count = [state.counted(self.owner, context.start) for state in self.states]

    def _state(self, rule: Skew) -> SkewState:
        cluster, level = self.context.cluster, self.context.cluster.levels[rule.level]
        counts = np.zeros(len(cluster.machines.name), dtype=np.bool_)
        counts[rule.counting_machines(cluster)] = True
        workload = np.zeros(len(cluster.workloads.name), dtype=np.bool_)
        workload[list(rule.counts)] = True
        return SkewState(rule=rule, level=level, counts=counts, group=distinct(level.group_of[counts]), workload=workload)

    def __call__(self, batch: BatchState) -> Iterator[PlanViolation]:
        """Creates that Kubernetes would refuse in some order of the steps."""
        for i, state in enumerate(self.states):
            created, deleted = (state.counted(self.owner, steps) for steps in (batch.creates, batch.deletes))
            high, low = self.count[i] + created, self.count[i] - deleted
            for group in state.judged(self.owner, batch.creates).tolist():
                yield from self._violated(batch, state, group, int(high[group]), low)
            self.count[i] = high - deleted

    def _violated(self, batch: BatchState, state: SkewState, group: int, count: int, low: IntArray) -> Iterator[PlanViolation]:
        others, lowest, least = state.group[state.group != group], -1, 0
        if len(state.group) >= state.rule.min_groups:
            if not len(others):
                return
            lowest = int(others[np.argmin(low[others])])
            least = int(low[lowest])
        if count - least <= state.rule.limit:
            return
        first = self.context.cluster.workloads.name[state.rule.workload]
        names = [self.context.cluster.workloads.name[w] for w in state.rule.counts]
        subject = (first, *(name for name in names if name != first), state.level.group[group])
        sentence = (
            f"batch {batch.number + 1}: {containers(count)} of {named(names)} would run {where(state.level, group)}, "
            f"{skew_allowed(state.level, lowest, least, state.rule)}"
        )
        yield PlanViolation(batch=batch.number, rule="skew", subject=subject, sentence=sentence)
