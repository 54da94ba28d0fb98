"""One container that could move, with those that must move with it, and everything else fixed."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayplan.check.placement.context import PlacementContext, placement_context
from bayplan.model import UNPLACED, BoolArray, Cluster, FloatArray, IntArray, Placement, ints
from bayplan.model.allowed_machines import co_located_groups


class MoveCounts(NamedTuple):
    """Given containers in each group of a level."""

    now: IntArray  # (group,)
    others: IntArray  # (group,) without those that move
    moving: int

    @property
    def after(self) -> IntArray:
        """(group,) how many there would be if the move went to this group."""
        return self.others + self.moving


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CandidateMove:
    """Some containers that go to one machine together."""

    cluster: Cluster
    members: IntArray  # containers, ascending
    home: int  # where the container in question runs; UNPLACED if nowhere
    now: PlacementContext
    others: PlacementContext  # without the members

    def counts(self, containers: IntArray, level: int) -> MoveCounts:
        """How many of these containers are in each group, now and without the members."""
        return MoveCounts(
            self._in_groups(self.now.machine_of[containers], level),
            self._in_groups(self.others.machine_of[containers], level),
            int(np.isin(containers, self.members).sum()),
        )

    def _in_groups(self, machine: IntArray, level: int) -> IntArray:
        of = self.cluster.levels[level]
        return np.bincount(of.group_of[machine[machine != UNPLACED]], minlength=len(of.group))

    def containers_of(self, workloads: tuple[int, ...]) -> IntArray:
        """All containers of the given workloads: O(replicas), as those of one workload have adjacent indices."""
        owner = self.cluster.containers.workload
        spans = [np.arange(*np.searchsorted(owner, [w, w + 1])) for w in dict.fromkeys(workloads)]
        return np.concatenate(spans) if spans else np.zeros(0, dtype=np.int64)

    def worsens(self, level: int, now: IntArray | FloatArray, after: IntArray | FloatArray) -> BoolArray:
        """(machine,) where the move leaves a group further beyond its limit than it is now.

        `now` and `after` are (group,) amounts beyond the limit. At home, where nothing changes, it is enough that the
        limit is passed.
        """
        group_of = self.cluster.levels[level].group_of
        worse = (after > now)[group_of]
        if self.home != UNPLACED:
            worse[self.home] = after[group_of[self.home]] > 0
        return np.asarray(worse, dtype=np.bool_)


def candidate_move(cluster: Cluster, placement: Placement, container: int, before: Placement) -> CandidateMove:
    """The move of a container and of those that must stay together with it."""
    members = ints(sorted({container}.union(*(group for group in co_located_groups(cluster) if container in group))))
    away = placement.machine_of.copy()
    away[members] = UNPLACED
    return CandidateMove(
        cluster=cluster,
        members=members,
        home=int(placement.machine_of[container]),
        now=placement_context(cluster, placement, before),
        others=placement_context(cluster, Placement(machine_of=away), before),
    )
