"""Count rows: sets of workloads whose containers are counted per group of a level, because a rule or a cost reads them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from bayplan.model import Cluster, FloatArray, IntArray
from bayplan.search.array_layout import Blocks


class RaggedLists:
    """Entries of owners 0..n-1; equal keys of one owner are added up."""

    def __init__(self, owners: int) -> None:
        self.owners = owners
        self.entries: dict[int, dict[tuple[int, ...], list[float]]] = defaultdict(dict)

    def add(self, owner: int, key: tuple[int, ...], *amount: float) -> None:
        """One entry; amounts of an entry that is there already grow."""
        known = self.entries[owner].setdefault(key, [0.0] * len(amount))
        for column, more in enumerate(amount):
            known[column] += more

    def copy_to(self, owner: int, others: Iterable[int]) -> None:
        """Give an owner all entries of others, added up."""
        for other in others:
            for key, amount in list(self.entries.get(other, {}).items()):
                self.add(owner, key, *amount)

    def of(self, owner: int) -> dict[tuple[int, ...], list[float]]:
        """The entries of one owner."""
        return self.entries.get(owner, {})

    def packed(self, keys: int, amounts: int = 0) -> tuple[IntArray, IntArray, FloatArray]:
        """(owner + 1,) where each owner's entries start; (entry, key); (entry, amount)."""
        start = np.zeros(self.owners + 1, dtype=np.int64)
        flat_key: list[tuple[int, ...]] = []
        flat_amount: list[list[float]] = []
        for owner in sorted(self.entries):
            start[owner + 1] = len(self.entries[owner])
            flat_key.extend(self.entries[owner].keys())
            flat_amount.extend(self.entries[owner].values())
        key = np.array(flat_key, dtype=np.int64).reshape(-1, keys)
        amount = np.array(flat_amount, dtype=np.float64).reshape(-1, amounts) if amounts else np.zeros((len(key), 0))
        return np.cumsum(start), key, amount


class CountRows:
    """Every row once, numbered in the order in which it was first requested."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        by_service = np.argsort(cluster.workloads.service, kind="stable")
        ends = np.cumsum(np.bincount(cluster.workloads.service, minlength=len(cluster.services.name)))
        self.of_service = [part.tolist() for part in np.split(by_service, ends[:-1])] if len(ends) else []
        self.group_of = [level.group_of for level in cluster.levels]  # (level,) of (machine,)
        self.groups = [len(level.group) for level in cluster.levels]
        self.parts: dict[tuple[int, bytes], tuple[int, int]] = {}
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

    def part_of(self, level: int, machines: IntArray) -> tuple[int, int]:
        """A level with the groups of some machines only, and their number; all other machines are in one more group, the last."""
        key = (level, machines.tobytes())
        if key not in self.parts:
            every = len(machines) == len(self.cluster.machines.name)
            used, of = np.unique(self.cluster.levels[level].group_of[machines], return_inverse=True)
            if every and len(used) == self.groups[level]:
                self.parts[key] = level, len(used)
            else:
                group_of = np.full(len(self.cluster.machines.name), len(used), dtype=np.int64)
                group_of[machines] = of
                self.parts[key] = len(self.groups), len(used)
                self.group_of.append(group_of)
                self.groups.append(len(used) + 1)
        return self.parts[key]

    def _row(self, key: tuple[int, ...], members: Sequence[int], level: int) -> int:
        row = self.number.setdefault(key, len(self.level))
        if row == len(self.level):
            self.level.append(level)
            self.members.append(members)
            self.size.append(int(self.cluster.replicas[list(members)].sum()))
        return row

    def additions(self, kinds: int) -> RaggedLists:
        """Which rows count a container of each workload."""
        lists = RaggedLists(kinds)
        for row, members in enumerate(self.members):
            for w in members:
                lists.add(w, (row,), 1)
        return lists

    def blocks(self) -> Blocks:
        """The blocks of the state that describe rows, and the table of counts."""
        groups = np.array(self.groups, dtype=np.int64)
        width = groups[np.array(self.level, dtype=np.int64)] if self.level else np.zeros(0, dtype=np.int64)
        return {
            "group_of": np.array(self.group_of),
            "row_start": np.cumsum(width) - width,
            "row_level": self.level,
            "row_size": self.size,
            "groups_used": np.zeros(len(width)),
            "row_placed": np.zeros(len(width)),
            "count": np.zeros(int(width.sum()), dtype=np.int32),
        }
