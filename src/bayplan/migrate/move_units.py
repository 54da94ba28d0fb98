"""What moves as one, where to, and in which ways."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from bayplan.migrate.options import MigrateOptions
from bayplan.model import UNPLACED, Cluster, Dependency, Migration, Pinned, Spread, Way
from bayplan.model.allowed_machines import co_located_groups

V = TypeVar("V")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MoveUnits:
    """Units are containers that a co-locate rule moves together, or single containers."""

    members: list[tuple[int, ...]]  # (unit,) containers
    of_container: list[int]  # (container,) unit
    target: list[int]  # (unit,) machine, UNPLACED if it is to be deleted
    fixed: list[bool]  # (unit,) never gets a step
    may_replace: list[bool]  # (unit,) delete, then create
    may_surge: list[bool]  # (unit,) create, then delete
    weight: list[float]  # (unit,) heavier ones move later

    def __len__(self) -> int:
        return len(self.members)


def move_units(migration: Migration, options: MigrateOptions, *, generous: bool = False) -> MoveUnits:
    """The units of a migration. `generous`: AUTO allows every container to surge, not only those that cannot be deleted."""
    cluster, target = migration.cluster, migration.target.machine_of.tolist()
    members, of_container, scattered = _members(migration)
    fixed = _fixed(migration, options)
    replace, surge = _ways(migration, generous)
    workload = cluster.containers.workload
    may_surge = np.array(surge, dtype=np.bool_)[workload]
    may_surge[list(scattered)] = False
    weight = np.zeros(len(target)) if options.weight is None else options.weight
    return MoveUnits(
        members=members,
        of_container=of_container,
        target=_of_units(members, target, max),
        fixed=_of_units(members, fixed, any),
        may_replace=_of_units(members, np.array(replace, dtype=np.bool_)[workload].tolist(), all),
        may_surge=_of_units(members, may_surge.tolist(), all),
        weight=_of_units(members, weight.tolist(), max),
    )


def _of_units(members: Sequence[tuple[int, ...]], of_container: Sequence[V], whole: Callable[[Iterable[V]], V]) -> list[V]:
    """(unit,) what the values of its containers make as a whole; nearly all units have one container."""
    if len(members) == len(of_container):  # each container is a unit, in their order
        return list(of_container)
    return [of_container[unit[0]] if len(unit) == 1 else whole([of_container[c] for c in unit]) for unit in members]


def _members(migration: Migration) -> tuple[list[tuple[int, ...]], list[int], set[int]]:
    """Units, the unit of each container, and containers of scattered units, which come together one by one."""
    first, target = migration.start.machine_of.tolist(), migration.target.machine_of.tolist()
    of_container = [-1] * len(first)
    members: list[tuple[int, ...]] = []
    scattered: set[int] = set()
    for together in co_located_groups(migration.cluster):
        if len({first[c] for c in together} - {UNPLACED}) > 1 or len({target[c] for c in together} - {UNPLACED}) > 1:
            scattered.update(together)
        elif len(together) > 1:
            for c in together:
                of_container[c] = len(members)
            members.append(together)
    for c, unit in enumerate(of_container):
        if unit < 0:
            of_container[c] = len(members)
            members.append((c,))
    return members, of_container, scattered


def _fixed(migration: Migration, options: MigrateOptions) -> list[bool]:
    """(container,) pinned where it runs, or never to be moved."""
    ran = migration.start.machine_of != UNPLACED
    fixed = np.zeros(len(ran), dtype=np.bool_) if options.never is None else options.never.copy()
    for rule in migration.cluster.rules:
        if isinstance(rule, Pinned):
            pinned = np.array(rule.containers, dtype=np.int64)
            fixed[pinned] |= ran[pinned]
    listed: list[bool] = fixed.tolist()
    return listed


def _ways(migration: Migration, generous: bool) -> tuple[list[bool], list[bool]]:
    """(workload,) may it be replaced, may it surge?

    AUTO: surge where the alive share allows no container to be deleted, and for services whose spread, or others' dependency on
    them, may forbid a delete.
    """
    cluster, least = migration.cluster, migration.least_alive
    placed = migration.start.machine_of != UNPLACED
    size = np.bincount(cluster.containers.workload[placed], minlength=len(least))
    needed_somewhere = _needed_somewhere(cluster)
    replace, surge = [], []
    for w, service in enumerate(cluster.workloads.service.tolist()):
        way = migration.policy.way_of(w)
        replace.append(way is not Way.SURGE)
        needed = generous or size[w] <= least[w] or service in needed_somewhere
        surge.append(way in (Way.SURGE, Way.EITHER) or (way is Way.AUTO and needed))
    return replace, surge


def _needed_somewhere(cluster: Cluster) -> set[int]:
    """Services that a rule requires in some place: by spread, or because others depend on them."""
    spread = {rule.service for rule in cluster.rules if isinstance(rule, Spread)}
    return spread | {rule.on for rule in cluster.rules if isinstance(rule, Dependency)}
