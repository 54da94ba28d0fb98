"""Rows: sets of workloads whose containers are counted per group of a level, because a rule or a price reads them."""

from collections.abc import Sequence

import numpy as np

from bayplan.model import Cluster
from bayplan.search.blocks import Blocks
from bayplan.search.lists import Lists


class Rows:
    """Every row once, numbered in the order in which it was first asked for."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        by_service = np.argsort(cluster.workloads.service, kind="stable")
        ends = np.cumsum(np.bincount(cluster.workloads.service, minlength=len(cluster.services.name)))
        self.of_service = [part.tolist() for part in np.split(by_service, ends[:-1])] if len(ends) else []
        self.number: dict[tuple[int, ...], int] = {}
        self.level: list[int] = []
        self.size: list[int] = []
        self.members: list[Sequence[int]] = []

    def service(self, s: int, level: int) -> int:
        """The row that counts a service."""
        return self._row((0, s, level), self.of_service[s], level)

    def workload(self, w: int, level: int) -> int:
        """The row that counts a workload."""
        return self._row((1, w, level), (w,), level)

    def together(self, workloads: tuple[int, ...], level: int) -> int:
        """The row that counts a set of workloads."""
        members = tuple(sorted(set(workloads)))
        return self._row((2, level, *members), members, level)

    def _row(self, key: tuple[int, ...], members: Sequence[int], level: int) -> int:
        row = self.number.setdefault(key, len(self.level))
        if row == len(self.level):
            self.level.append(level)
            self.members.append(members)
            self.size.append(int(self.cluster.replicas[list(members)].sum()))
        return row

    def additions(self, kinds: int) -> Lists:
        """Which rows count a container of each workload."""
        lists = Lists(kinds)
        for row, members in enumerate(self.members):
            for w in members:
                lists.add(w, (row,), 1)
        return lists

    def blocks(self) -> Blocks:
        """The blocks of the board that describe rows, and the table of counts."""
        groups = np.array([len(level.group) for level in self.cluster.levels], dtype=np.int64)
        width = groups[np.array(self.level, dtype=np.int64)] if self.level else np.zeros(0, dtype=np.int64)
        return {
            "row_start": np.cumsum(width) - width,
            "row_level": self.level,
            "row_size": self.size,
            "groups_used": np.zeros(len(width)),
            "row_placed": np.zeros(len(width)),
            "count": np.zeros(int(width.sum()), dtype=np.int32),
        }
