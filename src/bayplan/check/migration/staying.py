"""What stays up while the steps of a batch run: the alive share, the way of moving, pinned containers."""

from collections.abc import Iterator

import numpy as np

from bayplan.check.migration.batch_state import Instances, Wave
from bayplan.check.migration.context import Case
from bayplan.check.migration.verdict import Breach
from bayplan.check.violation import containers
from bayplan.model import UNPLACED, BoolArray, IntArray, Way


class Alive:
    """So many different containers of each workload run at any time (`Migration.least_alive`)."""

    def __init__(self, case: Case) -> None:
        self.case, self.least = case, case.migration.least_alive
        before = self._count(np.flatnonzero(case.migration.start.machine_of != UNPLACED))
        end = self._count(case.end.c)
        self.whole = np.minimum(before, end) if case.migration.whole is None else case.migration.whole
        self.low = self.after = before  # (workload,) containers that run at least, while the steps do

    def _count(self, c: IntArray) -> IntArray:
        return np.bincount(self.case.cluster.containers.workload[c], minlength=len(self.case.cluster.workloads.name))

    def __call__(self, wave: Wave) -> Iterator[Breach]:
        """Workloads of which too few would run."""
        gone, come = wave.deletes.c[wave.goes_down], wave.creates.c
        down = self._count(gone)
        self.low = self.after - down
        self.after = self.low + self._count(come[(wave.first[come] == UNPLACED) | np.isin(come, gone, assume_unique=True)])
        for w in np.flatnonzero((down > 0) & (self.low < self.least)).tolist():
            name, runs = self.case.cluster.workloads.name[w], int(self.low[w])
            sentence = (
                f"batch {wave.number + 1}: {containers(runs)} of '{name}' would run while its steps do, "
                f"at least {self.least[w]} needed"
            )
            yield Breach(batch=wave.number, rule="alive", subject=(name,), sentence=sentence)

    def share(self) -> tuple[float, int]:
        """The smallest share of a workload that runs in this batch, and the workload."""
        some = np.flatnonzero(self.whole > 0)
        if not len(some):
            return 1.0, UNPLACED
        share = self.low[some] / self.whole[some]
        return float(share.min()), int(some[share.argmin()])


class Ways:
    """Replaced containers never run twice; surging ones that run at both ends are never down."""

    def __init__(self, case: Case) -> None:
        self.case = case
        both = (case.migration.start.machine_of != UNPLACED) & (case.migration.after.machine_of != UNPLACED)
        self.replaced, self.surging = self._moves_by(Way.REPLACE), self._moves_by(Way.SURGE) & both

    def _moves_by(self, way: Way) -> BoolArray:
        """(container,) is this its workload's way?"""
        terms, cluster = self.case.migration.terms, self.case.cluster
        its_way = np.array([terms.way_of(w) is way for w in range(len(cluster.workloads.name))], dtype=np.bool_)
        moves: BoolArray = its_way[cluster.containers.workload]
        return moves

    def __call__(self, wave: Wave) -> Iterator[Breach]:
        """Containers that would move another way than they shall."""
        twice = wave.creates.where(self.replaced[wave.creates.c] & (wave.first[wave.creates.c] != UNPLACED))
        down = wave.deletes.where(self.surging[wave.deletes.c] & wave.goes_down)
        yield from _each(self.case, wave, twice, "way", "would run on machine {}, too, but its way is to replace")
        yield from _each(self.case, wave, down, "way", "would be down after its delete on machine {}, but its way is to surge")


class Pinned:
    """Pinned containers have no steps, unless they never ran and are created once."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.pinned: BoolArray = np.zeros(len(case.cluster.containers.name), dtype=np.bool_)
        for _, rule in case.rules("pinned"):
            self.pinned[list(rule.containers)] = True
        self.ran: BoolArray = case.migration.start.machine_of != UNPLACED

    def __call__(self, wave: Wave) -> Iterator[Breach]:
        """Pinned containers that would move."""
        c = wave.creates.c
        moved = wave.creates.where(self.pinned[c] & (self.ran[c] | (wave.first[c] != UNPLACED)))
        gone = wave.deletes.where(self.pinned[wave.deletes.c])
        yield from _each(self.case, wave, gone, "pinned", "is pinned and would be deleted on machine {}")
        yield from _each(self.case, wave, moved, "pinned", "is pinned and would be created on machine {}")


def _each(case: Case, wave: Wave, some: Instances, rule: str, words: str) -> Iterator[Breach]:
    for c, m in zip(some.c.tolist(), some.m.tolist(), strict=True):
        name, machine = case.cluster.containers.name[c], case.cluster.machines.name[m]
        sentence = f"batch {wave.number + 1}: '{name}' " + words.format(f"'{machine}'")
        yield Breach(batch=wave.number, rule=rule, subject=(name, machine), sentence=sentence)
