"""What stays up while the steps of a batch run: the alive share, the way of moving, pinned containers."""

from collections.abc import Iterator

import numpy as np

from bayplan.check.migration.batch_state import BatchState, Instances
from bayplan.check.migration.context import PlanContext
from bayplan.check.migration.plan_check import PlanViolation
from bayplan.check.violation import containers
from bayplan.model import UNPLACED, BoolArray, IntArray, Way


class AliveCheck:
    """Enough different containers of each workload run at any time (`Migration.least_alive`)."""

    def __init__(self, context: PlanContext) -> None:
        self.context, self.least = context, context.migration.least_alive
        before = self._count(np.flatnonzero(context.migration.start.machine_of != UNPLACED))
        self.size = context.migration.size
        self.low = self.after = before  # (workload,) containers that run at least, while the steps do

    def _count(self, c: IntArray) -> IntArray:
        return np.bincount(self.context.cluster.containers.workload[c], minlength=len(self.context.cluster.workloads.name))

    def __call__(self, batch: BatchState) -> Iterator[PlanViolation]:
        """Workloads of which too few would run."""
        gone, come = batch.deletes.c[batch.goes_down], batch.creates.c
        down = self._count(gone)
        self.low = self.after - down
        self.after = self.low + self._count(come[(batch.first[come] == UNPLACED) | np.isin(come, gone, assume_unique=True)])
        for w in np.flatnonzero((down > 0) & (self.low < self.least)).tolist():
            name, runs = self.context.cluster.workloads.name[w], int(self.low[w])
            sentence = (
                f"batch {batch.number + 1}: {containers(runs)} of '{name}' would run while its steps do, "
                f"at least {self.least[w]} needed"
            )
            yield PlanViolation(batch=batch.number, rule="alive", subject=(name,), sentence=sentence)

    def share(self) -> tuple[float, int]:
        """The smallest share of a workload that runs in this batch, and the workload."""
        with_floor = np.flatnonzero(self.size > 0)
        if not len(with_floor):
            return 1.0, UNPLACED
        share = self.low[with_floor] / self.size[with_floor]
        return float(share.min()), int(with_floor[share.argmin()])


class WayCheck:
    """Replaced containers never run twice; surging ones that run at both ends are never down."""

    def __init__(self, context: PlanContext) -> None:
        self.context = context
        both = (context.migration.start.machine_of != UNPLACED) & (context.migration.target.machine_of != UNPLACED)
        self.replaced, self.surging = self._moves_by(Way.REPLACE), self._moves_by(Way.SURGE) & both

    def _moves_by(self, way: Way) -> BoolArray:
        """(container,) is this its workload's way?"""
        policy, cluster = self.context.migration.policy, self.context.cluster
        its_way = np.array([policy.way_of(w) is way for w in range(len(cluster.workloads.name))], dtype=np.bool_)
        moves: BoolArray = its_way[cluster.containers.workload]
        return moves

    def __call__(self, batch: BatchState) -> Iterator[PlanViolation]:
        """Containers that would move in another way than the policy says."""
        twice = batch.creates.where(self.replaced[batch.creates.c] & (batch.first[batch.creates.c] != UNPLACED))
        down = batch.deletes.where(self.surging[batch.deletes.c] & batch.goes_down)
        yield from _each_instance(self.context, batch, twice, "way", "would run on machine {}, too, but its way is to replace")
        yield from _each_instance(
            self.context, batch, down, "way", "would be down after its delete on machine {}, but its way is to surge"
        )


class PinnedCheck:
    """Pinned containers have no steps, unless they never ran and are created once."""

    def __init__(self, context: PlanContext) -> None:
        self.context = context
        self.pinned: BoolArray = np.zeros(len(context.cluster.containers.name), dtype=np.bool_)
        for _, rule in context.rules("pinned"):
            self.pinned[list(rule.containers)] = True
        self.ran: BoolArray = context.migration.start.machine_of != UNPLACED

    def __call__(self, batch: BatchState) -> Iterator[PlanViolation]:
        """Pinned containers that would move."""
        c = batch.creates.c
        moved = batch.creates.where(self.pinned[c] & (self.ran[c] | (batch.first[c] != UNPLACED)))
        gone = batch.deletes.where(self.pinned[batch.deletes.c])
        yield from _each_instance(self.context, batch, gone, "pinned", "is pinned and would be deleted on machine {}")
        yield from _each_instance(self.context, batch, moved, "pinned", "is pinned and would be created on machine {}")


def _each_instance(
    context: PlanContext, batch: BatchState, instances: Instances, rule: str, words: str
) -> Iterator[PlanViolation]:
    for c, m in zip(instances.c.tolist(), instances.m.tolist(), strict=True):
        name, machine = context.cluster.containers.name[c], context.cluster.machines.name[m]
        sentence = f"batch {batch.number + 1}: '{name}' " + words.format(f"'{machine}'")
        yield PlanViolation(batch=batch.number, rule=rule, subject=(name, machine), sentence=sentence)
