"""Which machines each container can ever run on, and between which amounts each machine's load must lie.

A relaxation: capacity, `allow`, pinned and joint transient rules are looked at one container at a time.
"""

from dataclasses import dataclass

import numpy as np

from bayplan.model import (
    NO_LIMIT,
    UNPLACED,
    BoolArray,
    Capacity,
    Cluster,
    IntArray,
    Pinned,
    Placement,
    Transient,
    TransientMode,
    allowed,
)
from bayplan.score.counts import loads

MOST_CELLS = 6_000_000  # of a (kind, machine) table; above it only pinned and frozen containers are seen to stay


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reachable:
    """Free containers by kind (one that runs, or all new ones of a workload), and what all others weigh."""

    workload: IntArray  # (kind,)
    home: IntArray  # (kind,) machine before, UNPLACED for new containers
    count: IntArray  # (kind,) containers
    request: IntArray  # (kind, resource)
    can: BoolArray | None  # (kind, machine) may run there; None if the table is too large
    least: IntArray  # (machine, resource) of the containers that cannot leave
    most: IntArray  # (machine, resource) that can ever run there
    free: IntArray  # (machine, resource) for arrivals while nothing leaves (joint transient rules); NO_LIMIT where none
    total: IntArray  # (resource,) of all containers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _PlacementLimits:
    """What the rules say of one container on one machine."""

    capacity: IntArray  # (machine, resource) NO_LIMIT where no rule protects it
    on_arrival: IntArray  # (machine, resource) the same for containers that come, transient rules among it
    free: IntArray  # (machine, resource)


def reachable(cluster: Cluster, before: Placement, movable: BoolArray | None = None) -> Reachable | None:
    """What every valid placement of all containers keeps to; None if there is no valid placement.

    Containers that run and that `movable` does not mark stay where they are.
    """
    limits, home, workload = _limits(cluster, before), before.machine_of, cluster.containers.workload
    stays = (home != UNPLACED) & _held(cluster, movable)
    kind, count = _kinds(workload[~stays], home[~stays])
    least = _load(cluster, workload[stays], home[stays])
    can = None
    if len(kind) * len(cluster.machines.name) <= MOST_CELLS:
        can, stuck = _where_possible(cluster, kind, least, limits)
        if not can.any(axis=1).all():
            return None
        least = least + _load(cluster, kind[stuck, 0], kind[stuck, 1])
        kind, count, can = kind[~stuck], count[~stuck], can[~stuck]
    request = cluster.workloads.request[kind[:, 0]]
    total = cluster.replicas @ cluster.workloads.request
    most = np.minimum(limits.capacity, least + _arriving(request * count[:, None], can, least.shape))
    if (least > most).any() or (most.sum(axis=0, dtype=np.float64) < total * (1 - 1e-9)).any():
        return None
    return Reachable(
        workload=kind[:, 0],
        home=kind[:, 1],
        count=count,
        request=request,
        can=can,
        least=least,
        most=most,
        free=limits.free,
        total=total,
    )


def _kinds(workload: IntArray, home: IntArray) -> tuple[IntArray, IntArray]:
    """(kind, 2) workload and machine before, and (kind,) how many containers: those that run first, one by one."""
    runs = home != UNPLACED
    new, count = np.unique(workload[~runs], return_counts=True)
    kind = np.concatenate([np.stack([workload[runs], home[runs]], axis=1), np.stack([new, np.full_like(new, UNPLACED)], axis=1)])
    return kind, np.concatenate([np.ones(int(runs.sum()), dtype=np.int64), count])


def _held(cluster: Cluster, movable: BoolArray | None) -> BoolArray:
    """(container,) pinned, or not `movable`."""
    held = np.zeros(len(cluster.containers.name), dtype=np.bool_) if movable is None else ~movable
    for rule in cluster.rules:
        if isinstance(rule, Pinned):
            held[list(rule.containers)] = True
    return held


def _limits(cluster: Cluster, before: Placement) -> _PlacementLimits:
    has = cluster.machines.capacity
    capacity, free = np.full_like(has, NO_LIMIT), np.full_like(has, NO_LIMIT)
    for rule in cluster.rules:
        if isinstance(rule, Capacity):
            capacity[:, rule.resources] = has[:, rule.resources]
    arrival, running = capacity.copy(), loads(cluster, before)
    for rule in cluster.rules:
        if isinstance(rule, Transient):
            arrival[:, rule.resource] = has[:, rule.resource]
            if rule.mode is TransientMode.JOINT:
                free[:, rule.resource] = has[:, rule.resource] - running[:, rule.resource]
    return _PlacementLimits(capacity=capacity, on_arrival=arrival, free=free)


def _load(cluster: Cluster, workload: IntArray, machine: IntArray) -> IntArray:
    """(machine, resource) requests of the given containers."""
    load = np.zeros_like(cluster.machines.capacity)
    np.add.at(load, machine, cluster.workloads.request[workload])
    return load


def _where_possible(cluster: Cluster, kind: IntArray, fixed: IntArray, limits: _PlacementLimits) -> tuple[BoolArray, BoolArray]:
    """(kind, machine) may run there, and (kind,) cannot leave. What cannot leave takes capacity from others, so once more."""
    workload, home = kind.T
    may = allowed(cluster)
    stuck, at_home = np.zeros(len(kind), dtype=np.bool_), np.flatnonzero(home != UNPLACED)
    while True:
        least = fixed + _load(cluster, workload[stuck], home[stuck])
        request = cluster.workloads.request[workload]
        can = _fits(request, np.minimum(_less(limits.on_arrival, least), limits.free))
        can[at_home, home[at_home]] = (request[at_home] <= _less(limits.capacity, least)[home[at_home]]).all(axis=1)
        if len(may.row) > 1:
            can &= may.row[may.row_of[workload]]
        can[stuck] = False
        can[stuck, home[stuck]] = True
        alone = can.sum(axis=1) == 1
        alone[at_home] &= can[at_home, home[at_home]]
        alone[home == UNPLACED] = False
        if (alone == stuck).all() or not can.any(axis=1).all():
            return can, stuck
        stuck |= alone


def _less(limit: IntArray, used: IntArray) -> IntArray:
    return np.where(limit == NO_LIMIT, NO_LIMIT, limit - used)


def _fits(request: IntArray, limit: IntArray) -> BoolArray:
    """(kind, machine) is every request within the machine's limit?"""
    fits = np.ones((len(request), len(limit)), dtype=np.bool_)
    for r in range(limit.shape[1]):
        if request[:, r].max(initial=0) > limit[:, r].min(initial=NO_LIMIT):
            fits &= request[:, r, None] <= limit[:, r]
    return fits


def _arriving(request: IntArray, can: BoolArray | None, shape: tuple[int, ...]) -> IntArray:
    """(machine, resource) of all kinds that can run there."""
    everything = request.sum(axis=0)
    if can is None or can.all():
        return np.broadcast_to(everything, shape)
    few = 2 * np.count_nonzero(can) < can.size  # add up the fewer of those that can and those that cannot
    kind, machine = np.nonzero(can if few else ~can)
    load = np.zeros(shape, dtype=np.int64)
    np.add.at(load, machine, request[kind])
    return load if few else everything - load
