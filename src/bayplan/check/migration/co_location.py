"""Co-located containers move as one: all creates together, all deletes together."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bayplan.check.migration.batch_state import BatchState, Instances
from bayplan.check.migration.context import PlanContext
from bayplan.check.migration.plan_check import PlanViolation
from bayplan.check.violation import counted, named
from bayplan.model import UNPLACED, IntArray, Running


class CoLocatedSet(NamedTuple):
    """What a co-locate rule is held to."""

    members: tuple[int, ...]
    machines: int  # at most this many, beside the one that all move to: as at the worse end, at least 1
    stays: frozenset[int]  # members that run at the end
    lasting: frozenset[int]  # members that run at both ends


class SetChange(NamedTuple):
    """What one batch does to one set, as pairs of container and machine."""

    before: frozenset[tuple[int, int]]
    created: frozenset[tuple[int, int]]
    deleted: frozenset[tuple[int, int]]


def fault_of(together: CoLocatedSet, change: SetChange) -> str | None:
    """What is wrong with a batch, in words that follow the names of its members; None if nothing is."""
    before, high = _machines(change.before), _machines(change.before | change.created)
    left = (change.before - change.deleted) | change.created
    if len(high) > together.machines and not _all_move(together, change, before, high):
        return f"would run on {counted(len(high), 'machine')}"
    if len(_machines(left)) > together.machines and any(m in _machines(left) and c in together.stays for c, m in change.deleted):
        return "would leave a machine one by one"
    runs = {c for c, _ in left}
    if together.machines == 1 and runs and not together.lasting <= runs:
        return f"would run without {counted(len(together.lasting - runs), 'member')}"
    return None


def _all_move(together: CoLocatedSet, change: SetChange, before: set[int], high: set[int]) -> bool:
    """Does every running member that stays appear on the one new machine at the same time?"""
    new = high - before
    if not new:
        return True  # on the way already: an earlier batch was checked for it
    arrives = {c for c, m in change.created if m in new}
    return len(new) == 1 and len(before) <= together.machines and {c for c, _ in change.before} & together.stays <= arrives


def _machines(pairs: frozenset[tuple[int, int]]) -> set[int]:
    return {m for _, m in pairs}


class CoLocateCheck:
    """The members of a rule run on one machine, or on two while all of them move."""

    def __init__(self, context: PlanContext) -> None:
        self.context, self.rules = context, [rule for _, rule in context.rules("co-locate")]
        self.set_of = np.full(len(context.cluster.containers.name), UNPLACED)  # (container,) no two rules share one
        for i, rule in enumerate(self.rules):
            self.set_of[list(rule.containers)] = i
        self.sets: dict[int, CoLocatedSet] = {}  # made when first touched

    def __call__(self, batch: BatchState) -> Iterator[PlanViolation]:
        """Co-located sets that would be split."""
        if not self.rules:
            return
        created, deleted = (self._by_set(steps) for steps in (batch.creates, batch.deletes))
        for i in sorted(created.keys() | deleted.keys()):
            together = self._set(i)
            change = SetChange(
                before=_runs(together.members, batch.first, batch.second),
                created=frozenset(created.get(i, ())),
                deleted=frozenset(deleted.get(i, ())),
            )
            fault = fault_of(together, change)
            if fault is not None:
                names = tuple(self.context.cluster.containers.name[c] for c in together.members)
                sentence = f"batch {batch.number + 1}: {named(names)} {fault}; they belong on one"
                yield PlanViolation(batch=batch.number, rule="co-locate", subject=names, sentence=sentence)

    def _by_set(self, instances: Instances) -> dict[int, list[tuple[int, int]]]:
        pairs: dict[int, list[tuple[int, int]]] = {}
        of_sets = instances.where(self.set_of[instances.c] != UNPLACED)
        for c, m in zip(of_sets.c.tolist(), of_sets.m.tolist(), strict=True):
            pairs.setdefault(int(self.set_of[c]), []).append((c, m))
        return pairs

    def _set(self, i: int) -> CoLocatedSet:
        if i not in self.sets:
            self.sets[i] = self._new_set(i)
        return self.sets[i]

    def _new_set(self, i: int) -> CoLocatedSet:
        members = tuple(dict.fromkeys(self.rules[i].containers))
        start, end = self.context.migration.start, Running.of(self.context.migration.target)
        runs = [_runs(members, running.machine_of, running.second) for running in (start, end)]
        ran, stays = (frozenset(c for c, _ in pairs) for pairs in runs)
        machines = max(1, *(len(_machines(pairs)) for pairs in runs))
        return CoLocatedSet(members=members, machines=machines, stays=stays, lasting=ran & stays)


def _runs(members: tuple[int, ...], first: IntArray, second: IntArray) -> frozenset[tuple[int, int]]:
    """(container, machine) of the members that run."""
    return frozenset((c, int(m)) for c in members for m in (first[c], second[c]) if m != UNPLACED)
