"""Co-located containers move as one: all creates together, all deletes together."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from bayplan.check.migration.batch_state import Instances, Wave
from bayplan.check.migration.context import Case
from bayplan.check.migration.verdict import Breach
from bayplan.check.violation import counted, named
from bayplan.model import UNPLACED, IntArray, Running


class Unit(NamedTuple):
    """What a co-locate rule is held to."""

    members: tuple[int, ...]
    machines: int  # at most so many, beside the one that all move to: as at the worse end, at least 1
    stays: frozenset[int]  # members that shall run at the end
    lasting: frozenset[int]  # members that run at both ends


class Pace(NamedTuple):
    """What one batch does to one unit, as pairs of container and machine."""

    before: frozenset[tuple[int, int]]
    created: frozenset[tuple[int, int]]
    deleted: frozenset[tuple[int, int]]


def complaint(unit: Unit, pace: Pace) -> str | None:
    """What is wrong with a batch, in words that follow the unit's name; None if nothing is."""
    before, high = _machines(pace.before), _machines(pace.before | pace.created)
    left = (pace.before - pace.deleted) | pace.created
    if len(high) > unit.machines and not _all_move(unit, pace, before, high):
        return f"would run on {counted(len(high), 'machine')}"
    if len(_machines(left)) > unit.machines and any(m in _machines(left) and c in unit.stays for c, m in pace.deleted):
        return "would leave a machine one by one"
    runs = {c for c, _ in left}
    if unit.machines == 1 and runs and not unit.lasting <= runs:
        return f"would run without {counted(len(unit.lasting - runs), 'member')}"
    return None


def _all_move(unit: Unit, pace: Pace, before: set[int], high: set[int]) -> bool:
    """Does every running member that shall stay appear on the one new machine at the same time?"""
    new = high - before
    if not new:
        return True  # on the way already: an earlier batch was judged for it
    arrives = {c for c, m in pace.created if m in new}
    return len(new) == 1 and len(before) <= unit.machines and {c for c, _ in pace.before} & unit.stays <= arrives


def _machines(pairs: frozenset[tuple[int, int]]) -> set[int]:
    return {m for _, m in pairs}


class CoLocate:
    """The members of a rule stand on one machine, or on two while all of them move."""

    def __init__(self, case: Case) -> None:
        self.case, self.rules = case, [rule for _, rule in case.rules("co-locate")]
        self.unit_of = np.full(len(case.cluster.containers.name), UNPLACED)  # (container,) no two rules share one
        for i, rule in enumerate(self.rules):
            self.unit_of[list(rule.containers)] = i
        self.units: dict[int, Unit] = {}  # made when first touched

    def __call__(self, wave: Wave) -> Iterator[Breach]:
        """Units that would be torn apart."""
        if not self.rules:
            return
        created, deleted = (self._by_unit(some) for some in (wave.creates, wave.deletes))
        for i in sorted(created.keys() | deleted.keys()):
            unit = self._unit(i)
            pace = Pace(
                before=_runs(unit.members, wave.first, wave.second),
                created=frozenset(created.get(i, ())),
                deleted=frozenset(deleted.get(i, ())),
            )
            wrong = complaint(unit, pace)
            if wrong is not None:
                names = tuple(self.case.cluster.containers.name[c] for c in unit.members)
                sentence = f"batch {wave.number + 1}: {named(names)} {wrong}; they belong on one"
                yield Breach(batch=wave.number, rule="co-locate", subject=names, sentence=sentence)

    def _by_unit(self, some: Instances) -> dict[int, list[tuple[int, int]]]:
        pairs: dict[int, list[tuple[int, int]]] = {}
        of_unit = some.where(self.unit_of[some.c] != UNPLACED)
        for c, m in zip(of_unit.c.tolist(), of_unit.m.tolist(), strict=True):
            pairs.setdefault(int(self.unit_of[c]), []).append((c, m))
        return pairs

    def _unit(self, i: int) -> Unit:
        if i not in self.units:
            self.units[i] = self._made(i)
        return self.units[i]

    def _made(self, i: int) -> Unit:
        members = tuple(dict.fromkeys(self.rules[i].containers))
        start, end = self.case.migration.start, Running.of(self.case.migration.after)
        runs = [_runs(members, some.machine_of, some.second) for some in (start, end)]
        ran, stays = (frozenset(c for c, _ in pairs) for pairs in runs)
        machines = max(1, *(len(_machines(pairs)) for pairs in runs))
        return Unit(members=members, machines=machines, stays=stays, lasting=ran & stays)


def _runs(members: tuple[int, ...], first: IntArray, second: IntArray) -> frozenset[tuple[int, int]]:
    """(container, machine) of the members that run."""
    return frozenset((c, int(m)) for c in members for m in (first[c], second[c]) if m != UNPLACED)
