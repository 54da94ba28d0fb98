"""What is checked: a cluster, a placement and the one before it, with the sums that several rules look at."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from bayplan.check.violation import Violation
from bayplan.errors import ModelError
from bayplan.model import UNPLACED, BoolArray, Cluster, IntArray, Placement


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupTally:
    """How many containers of each owner (workload or service) are in each group; absent pairs have none."""

    owner: IntArray  # (pair,) ascending
    group: IntArray  # (pair,) ascending within one owner
    count: IntArray  # (pair,) above 0
    start: IntArray  # (owner + 1,) the pairs of owner o are start[o]:start[o + 1]
    groups: int

    def pairs_of(self, owners: IntArray) -> tuple[IntArray, IntArray]:
        """All pairs of the given owners: (position in `owners`, index of the pair)."""
        size = self.start[owners + 1] - self.start[owners]
        position = np.repeat(np.arange(len(owners)), size)
        first = np.repeat(self.start[owners] - (np.cumsum(size) - size), size)
        return position, first + np.arange(len(position))

    def at(self, owner: IntArray, group: IntArray) -> IntArray:
        """Containers of each given owner in the group beside it."""
        if not len(self.count):
            return np.zeros(len(owner), dtype=np.int64)
        known, key = self.owner * self.groups + self.group, owner * self.groups + group
        index = np.minimum(np.searchsorted(known, key), len(known) - 1)
        return np.where(known[index] == key, self.count[index], 0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlacementContext:
    """What is checked. `before` is where containers ran until now, if that is known."""

    cluster: Cluster
    machine_of: IntArray  # (container,)
    before: IntArray | None  # (container,)
    tallies: dict[tuple[bool, int], GroupTally] = field(default_factory=dict)  # made when first needed

    @property
    def load(self) -> IntArray:
        """(machine, resource) requests of what runs there."""
        return self.load_of(self.machine_of != UNPLACED, self.machine_of)

    def load_of(self, chosen: BoolArray, machine: IntArray) -> IntArray:
        """(machine, resource) requests of the chosen containers, on the machines given. Exact: no floats."""
        request = self.cluster.request_of(np.flatnonzero(chosen))
        load = np.zeros_like(self.cluster.machines.capacity)
        for r in range(load.shape[1]):
            np.add.at(load[:, r], machine[chosen], request[:, r])
        return load

    def by_workload(self, level: int) -> GroupTally:
        """Containers of each workload in each group of a level."""
        return self._tally(False, level)

    def by_service(self, level: int) -> GroupTally:
        """Containers of each service in each group of a level."""
        return self._tally(True, level)

    def _tally(self, service: bool, level: int) -> GroupTally:
        if (service, level) not in self.tallies:
            cluster = self.cluster
            placed = self.machine_of != UNPLACED
            workload = cluster.containers.workload[placed]
            owner, owners = workload, len(cluster.workloads.name)
            if service:
                owner, owners = cluster.workloads.service[workload], len(cluster.services.name)
            group = cluster.levels[level].group_of[self.machine_of[placed]]
            self.tallies[service, level] = group_tally(owner, group, owners, len(cluster.levels[level].group))
        return self.tallies[service, level]


def group_tally(owner: IntArray, group: IntArray, owners: int, groups: int) -> GroupTally:
    """Count equal (owner, group) pairs. O(n log n)."""
    key, count = np.unique(owner * groups + group, return_counts=True)
    pair_owner = key // max(groups, 1)
    start = np.searchsorted(pair_owner, np.arange(owners + 1))
    return GroupTally(owner=pair_owner, group=key - pair_owner * groups, count=count, start=start, groups=groups)


def placement_context(cluster: Cluster, placement: Placement, before: Placement | None = None) -> PlacementContext:
    """What there is to check; ModelError if a placement is not one of this cluster."""
    n_c, n_m = len(cluster.containers.name), len(cluster.machines.name)
    for given in (placement, before):
        if given is not None and (given.machine_of.shape != (n_c,) or given.machine_of.max(initial=-1) >= n_m):
            raise ModelError(f"the placement does not fit {n_c} containers and {n_m} machines")
    return PlacementContext(
        cluster=cluster, machine_of=placement.machine_of, before=None if before is None else before.machine_of
    )


NumberedRules: TypeAlias = Sequence[tuple[int, Any]]  # rules of one kind, each with its index in the cluster's rules
RuleCheck: TypeAlias = Callable[[PlacementContext, NumberedRules], Iterator[Violation]]


def by_level(rules: NumberedRules) -> Iterator[tuple[int, NumberedRules]]:
    """The rules of each level, lowest level first."""
    for level in sorted({rule.level for _, rule in rules}):
        yield level, [(number, rule) for number, rule in rules if rule.level == level]


def flattened(lists: Sequence[Sequence[int]]) -> tuple[IntArray, IntArray]:
    """All entries behind each other: (which list, entry), each entry once per list."""
    which = np.repeat(np.arange(len(lists)), [len(entries) for entries in lists])
    entry = np.array([entry for entries in lists for entry in entries], dtype=np.int64)
    pair = np.unique(np.stack([which, entry], axis=1), axis=0)
    return pair[:, 0], pair[:, 1]
