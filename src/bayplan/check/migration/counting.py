"""How many containers of an owner (a workload, a service, a rule) are in a group, kept up to date batch by batch."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bayplan.check.migration.batch_state import Instances, Wave, distinct
from bayplan.model import IntArray, Level


class Rows(NamedTuple):
    """Lists of different lengths behind each other."""

    start: IntArray  # (row + 1,)
    item: IntArray

    @classmethod
    def of(cls, row: IntArray, item: IntArray, rows: int) -> "Rows":
        """Each item in its row, in the order given."""
        order = np.argsort(row, kind="stable")
        return cls(start=np.searchsorted(row[order], np.arange(rows + 1)), item=item[order])

    @classmethod
    def from_lists(cls, lists: Sequence[Sequence[int]], rows: int) -> "Rows":
        """Row i holds every list that has i in it."""
        number = np.repeat(np.arange(len(lists)), [len(entries) for entries in lists])
        entry = np.array([entry for entries in lists for entry in entries], dtype=np.int64)
        pair = np.unique(np.stack([entry, number], axis=1), axis=0)
        return cls.of(pair[:, 0], pair[:, 1], rows)

    def each(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """All items of some rows: (which of the asked, item)."""
        size = self.start[rows + 1] - self.start[rows]
        asked = np.repeat(np.arange(len(rows)), size)
        first = np.repeat(self.start[rows] - (np.cumsum(size) - size), size)
        return asked, self.item[first + np.arange(len(asked))]


class Counting:
    """Counts at both ends, and the most and the least while the steps of a batch run.

    A spot is a pair of owner and group that can ever have a container. The last spot stands for all others: it is always 0.
    """

    def __init__(
        self, rows: Rows, owners: int, level: Level, workload: IntArray, worlds: tuple[Instances, Instances, Instances]
    ) -> None:
        self.rows, self.level, self.workload = rows, level, workload
        self.owners, self.groups = owners, len(level.group)
        keys = [self._keys(some) for some in worlds]
        self.key = distinct(np.concatenate(keys))
        self.owner = self.key // max(self.groups, 1)
        self.start, self.end = (self._count(self._place(some)) for some in keys[:2])
        self.low = self.high = self.after = self.start
        self.created = self.deleted = np.zeros(0, dtype=np.int64)  # spots that the batch adds to, takes from

    def _keys(self, some: Instances) -> IntArray:
        which, owner = self.rows.each(self.workload[some.c])
        return owner * self.groups + self.level.group_of[some.m[which]]

    def _place(self, key: IntArray) -> IntArray:
        if not len(self.key):
            return np.zeros(len(key), dtype=np.int64)
        place = np.minimum(np.searchsorted(self.key, key), len(self.key) - 1)
        return np.where(self.key[place] == key, place, len(self.key))

    def _count(self, spots: IntArray) -> IntArray:
        return np.bincount(spots, minlength=len(self.key) + 1)

    def spots(self, owner: IntArray, group: IntArray) -> IntArray:
        """The spot of each owner and group."""
        return self._place(owner * self.groups + group)

    def group_at(self, spots: IntArray) -> IntArray:
        """The group of each spot."""
        group: IntArray = self.key[spots] % self.groups
        return group

    def turn(self, wave: Wave) -> None:
        """On to the next batch."""
        created, deleted = (self._place(self._keys(some)) for some in (wave.creates, wave.deletes))
        self.high, self.low = self.after + self._count(created), self.after - self._count(deleted)
        self.after = self.high + self.low - self.after
        self.created, self.deleted = distinct(created), distinct(deleted)

    def groups_used(self, count: IntArray) -> IntArray:
        """(owner,) groups in which a count is above 0."""
        return np.bincount(self.owner[count[:-1] > 0], minlength=self.owners)
