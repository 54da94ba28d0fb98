"""What is checked: a migration and its plan, with the sums that several rules look at, kept up to date batch by batch."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from bayplan.check.migration.batch_state import BatchLoads, BatchState, Instances, distinct
from bayplan.model import Cluster, IntArray, Level, Migration


class Ragged(NamedTuple):
    """Lists of different lengths, one after the other."""

    start: IntArray  # (row + 1,)
    item: IntArray

    @classmethod
    def of(cls, row: IntArray, item: IntArray, rows: int) -> "Ragged":
        """Each item in its row, in the order given."""
        order = np.argsort(row, kind="stable")
        return cls(start=np.searchsorted(row[order], np.arange(rows + 1)), item=item[order])

    @classmethod
    def from_lists(cls, lists: Sequence[Sequence[int]], rows: int) -> "Ragged":
        """Row i holds every list that has i in it."""
        number = np.repeat(np.arange(len(lists)), [len(entries) for entries in lists])
        entry = np.array([entry for entries in lists for entry in entries], dtype=np.int64)
        pair = np.unique(np.stack([entry, number], axis=1), axis=0)
        return cls.of(pair[:, 0], pair[:, 1], rows)

    def each(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """All items of the given rows: (position in `rows`, item)."""
        size = self.start[rows + 1] - self.start[rows]
        position = np.repeat(np.arange(len(rows)), size)
        first = np.repeat(self.start[rows] - (np.cumsum(size) - size), size)
        return position, self.item[first + np.arange(len(position))]


class GroupCounts:
    """Containers of each owner (a workload, a service, a rule) in each group: at both ends, and within a batch.

    A cell is a pair of owner and group that can ever have a container. The last cell stands for all others: it is always 0.
    """

    def __init__(
        self, rows: Ragged, owners: int, level: Level, workload: IntArray, parts: tuple[Instances, Instances, Instances]
    ) -> None:
        self.rows, self.level, self.workload = rows, level, workload
        self.owners, self.groups = owners, len(level.group)
        keys = [self._keys(instances) for instances in parts]
        self.key = distinct(np.concatenate(keys))
        self.owner = self.key // max(self.groups, 1)
        self.start, self.end = (self._count(self._cell(key)) for key in keys[:2])
        self.low = self.high = self.after = self.start
        self.created = self.deleted = np.zeros(0, dtype=np.int64)  # cells that the batch adds to, takes from

    def _keys(self, instances: Instances) -> IntArray:
        which, owner = self.rows.each(self.workload[instances.c])
        return owner * self.groups + self.level.group_of[instances.m[which]]

    def _cell(self, key: IntArray) -> IntArray:
        if not len(self.key):
            return np.zeros(len(key), dtype=np.int64)
        index = np.minimum(np.searchsorted(self.key, key), len(self.key) - 1)
        return np.where(self.key[index] == key, index, len(self.key))

    def _count(self, cells: IntArray) -> IntArray:
        return np.bincount(cells, minlength=len(self.key) + 1)

    def cells(self, owner: IntArray, group: IntArray) -> IntArray:
        """The cell of each owner and group."""
        return self._cell(owner * self.groups + group)

    def group_at(self, cells: IntArray) -> IntArray:
        """The group of each cell."""
        group: IntArray = self.key[cells] % self.groups
        return group

    def advance(self, batch: BatchState) -> None:
        """On to the next batch."""
        created, deleted = (self._cell(self._keys(steps)) for steps in (batch.creates, batch.deletes))
        self.high, self.low = self.after + self._count(created), self.after - self._count(deleted)
        self.after = self.high + self.low - self.after
        self.created, self.deleted = distinct(created), distinct(deleted)

    def groups_used(self, count: IntArray) -> IntArray:
        """(owner,) groups in which a count is above 0."""
        return np.bincount(self.owner[count[:-1] > 0], minlength=self.owners)


NumberedRules: TypeAlias = list[tuple[int, Any]]  # rules of one kind, each with its index in the cluster's rules


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlanContext:
    """A migration, both its ends, and everything that its plan ever creates."""

    migration: Migration
    start: Instances
    end: Instances
    created: Instances  # the creates of all batches
    loads: BatchLoads
    counts: dict[tuple[str, int], GroupCounts] = field(default_factory=dict)  # made when first needed

    @property
    def cluster(self) -> Cluster:
        """The cluster of the migration."""
        return self.migration.cluster

    def rules(self, kind: str) -> NumberedRules:
        """The cluster's rules of one kind."""
        return [(number, rule) for number, rule in enumerate(self.cluster.rules) if rule.kind == kind]

    def by_workload(self, level: int) -> GroupCounts:
        """Containers of each workload in each group of a level."""
        n_w = len(self.cluster.workloads.name)
        return self._counts_by("workload", level, np.arange(n_w), n_w)

    def by_service(self, level: int) -> GroupCounts:
        """Containers of each service in each group of a level."""
        return self._counts_by("service", level, self.cluster.workloads.service, len(self.cluster.services.name))

    def _counts_by(self, kind: str, level: int, owner: IntArray, owners: int) -> GroupCounts:
        if (kind, level) not in self.counts:
            rows = Ragged.of(np.arange(len(owner)), owner, len(owner))
            self.counts[kind, level] = self.count(rows, owners, level)
        return self.counts[kind, level]

    def count(self, rows: Ragged, owners: int, level: int) -> GroupCounts:
        """Containers of each owner in each group; a workload may have several owners. The caller advances it."""
        cluster = self.cluster
        return GroupCounts(rows, owners, cluster.levels[level], cluster.containers.workload, (self.start, self.end, self.created))

    def advance(self, batch: BatchState) -> None:
        """On to the next batch."""
        self.loads.advance(batch)
        for counts in self.counts.values():
            counts.advance(batch)


def by_level(rules: NumberedRules) -> list[tuple[int, NumberedRules]]:
    """The rules of each level, lowest level first."""
    levels = sorted({rule.level for _, rule in rules})
    return [(level, [(number, rule) for number, rule in rules if rule.level == level]) for level in levels]
