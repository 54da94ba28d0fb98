"""What moves as one: a container, or the containers that a co-locate rule keeps together."""

from dataclasses import dataclass

import numpy as np

from bayplan.model import UNPLACED, BoolArray, Cluster, IntArray, Pinned, Placement
from bayplan.model.allowed_machines import co_located_groups


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Items:
    """Items, and the containers of each. Kinds 0..W-1 are single containers of a workload; each unit has a kind of its own."""

    of_container: IntArray  # (container,) item
    start: IntArray  # (item + 1,) where an item's containers start in `container`
    container: IntArray  # (container,)
    kind_of: IntArray  # (item,)
    units: tuple[tuple[int, ...], ...]  # (kind - W,) the workloads of a unit's containers
    home: IntArray  # (item,) machine, or UNPLACED
    only: IntArray  # (item,) the one machine that a late member of a unit may join, or UNPLACED
    movable: BoolArray  # (item,)

    @property
    def first(self) -> IntArray:
        """(item,) the first container of each item."""
        first: IntArray = self.container[self.start[:-1]]
        return first

    def machines_of(self, item_machine: IntArray) -> IntArray:
        """(container,) the machine of each container."""
        return item_machine[self.of_container]


def items_of(cluster: Cluster, before: Placement, frozen: BoolArray | None = None) -> Items:
    """The items of a cluster. What is pinned or frozen stays; so does a unit that is scattered at the start."""
    n_c, n_w = len(cluster.containers.name), len(cluster.workloads.name)
    stays = np.zeros(n_c, dtype=np.bool_) if frozen is None else frozen.copy()
    for rule in cluster.rules:
        if isinstance(rule, Pinned):
            stays[list(rule.containers)] = True
    stays &= before.machine_of != UNPLACED  # a pinned container that never ran may be placed
    of_container = np.full(n_c, -1, dtype=np.int64)
    only = np.full(n_c, UNPLACED, dtype=np.int64)
    members: list[tuple[int, ...]] = []
    units: list[tuple[int, ...]] = []
    kinds: list[int] = []
    for group in co_located_groups(cluster):
        for part in _parts(group, before, stays, only):
            of_container[list(part)] = len(members)
            members.append(part)
            kinds.append(n_w + len(units))
            units.append(tuple(cluster.containers.workload[list(part)].tolist()))
    single = np.flatnonzero(of_container < 0)
    of_container[single] = len(members) + np.arange(len(single))
    container = np.concatenate([*(np.array(part, dtype=np.int64) for part in members), single])
    length = [*(len(part) for part in members), *([1] * len(single))]
    start = np.r_[0, np.cumsum(np.array(length, dtype=np.int64))]
    first = container[start[:-1]]
    return Items(
        of_container=of_container,
        start=start,
        container=container,
        kind_of=np.r_[np.array(kinds, dtype=np.int64), cluster.containers.workload[single]],
        units=tuple(units),
        home=before.machine_of[first],
        only=only[first],
        movable=~np.bincount(np.repeat(np.arange(len(length)), length), weights=stays[container], minlength=len(length)).astype(
            np.bool_
        ),
    )


def _parts(group: tuple[int, ...], before: Placement, stays: BoolArray, only: IntArray) -> list[tuple[int, ...]]:
    """One unit; or its containers by machine if they do not run together, new ones bound to where the others are."""
    by_machine: dict[int, list[int]] = {}
    for c in group:
        by_machine.setdefault(int(before.machine_of[c]), []).append(c)
    if len(by_machine) == 1:
        part = tuple(next(iter(by_machine.values())))
        return [part] if len(part) > 1 else []
    running = [m for m in by_machine if m != UNPLACED]
    for m in running:
        stays[by_machine[m]] = True
    if UNPLACED in by_machine:
        only[by_machine[UNPLACED]] = running[0]
    return [tuple(part) for part in by_machine.values() if len(part) > 1]
