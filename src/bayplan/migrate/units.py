"""What moves as one, where it shall go, and in which ways it may."""

from dataclasses import dataclass

import numpy as np

from bayplan.migrate.options import MigrateOptions
from bayplan.model import UNPLACED, Cluster, CoLocate, Dependency, Migration, Pinned, Spread, Way


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Units:
    """Units are containers that a co-locate rule moves together, or single containers."""

    members: list[tuple[int, ...]]  # (unit,) containers
    of_container: list[int]  # (container,) unit
    target: list[int]  # (unit,) machine, UNPLACED if it shall end
    fixed: list[bool]  # (unit,) never gets a step
    may_replace: list[bool]  # (unit,) delete, then create
    may_surge: list[bool]  # (unit,) create, then delete
    weight: list[float]  # (unit,) heavier ones move later

    def __len__(self) -> int:
        return len(self.members)


def units_of(migration: Migration, options: MigrateOptions, *, generous: bool = False) -> Units:
    """The units of a migration. `generous`: AUTO lets every container surge, not only those that cannot be deleted."""
    cluster, after = migration.cluster, migration.after.machine_of.tolist()
    members, of_container, loose = _members(migration)
    fixed = _fixed(migration, options)
    replace, surge = _ways(migration, generous)
    workload = cluster.containers.workload.tolist()
    weight = np.zeros(len(after)) if options.weight is None else options.weight
    return Units(
        members=members,
        of_container=of_container,
        target=[max(after[c] for c in unit) for unit in members],
        fixed=[any(fixed[c] for c in unit) for unit in members],
        may_replace=[all(replace[workload[c]] for c in unit) for unit in members],
        may_surge=[all(surge[workload[c]] and c not in loose for c in unit) for unit in members],
        weight=[float(max(weight[c] for c in unit)) for unit in members],
    )


def _members(migration: Migration) -> tuple[list[tuple[int, ...]], list[int], set[int]]:
    """Units, the unit of each container, and containers of scattered units, which come together one by one."""
    first, after = migration.start.machine_of.tolist(), migration.after.machine_of.tolist()
    of_container = [-1] * len(first)
    members: list[tuple[int, ...]] = []
    loose: set[int] = set()
    for rule in migration.cluster.rules:
        if not isinstance(rule, CoLocate):
            continue
        some = tuple(dict.fromkeys(rule.containers))
        if len({first[c] for c in some} - {UNPLACED}) > 1 or len({after[c] for c in some} - {UNPLACED}) > 1:
            loose.update(some)
        elif len(some) > 1:
            for c in some:
                of_container[c] = len(members)
            members.append(some)
    for c, unit in enumerate(of_container):
        if unit < 0:
            of_container[c] = len(members)
            members.append((c,))
    return members, of_container, loose


def _fixed(migration: Migration, options: MigrateOptions) -> list[bool]:
    """(container,) pinned where it runs, or never to be moved."""
    ran = migration.start.machine_of != UNPLACED
    fixed = np.zeros(len(ran), dtype=np.bool_) if options.never is None else options.never.copy()
    for rule in migration.cluster.rules:
        if isinstance(rule, Pinned):
            some = np.array(rule.containers, dtype=np.int64)
            fixed[some] |= ran[some]
    listed: list[bool] = fixed.tolist()
    return listed


def _ways(migration: Migration, generous: bool) -> tuple[list[bool], list[bool]]:
    """(workload,) may it be replaced, may it surge?

    AUTO: surge where the alive share lets no container be deleted, and for services whose spread, or others' dependency on
    them, may not let one go.
    """
    cluster, least = migration.cluster, migration.least_alive
    placed = migration.start.machine_of != UNPLACED
    size = np.bincount(cluster.containers.workload[placed], minlength=len(least))
    delicate = _delicate(cluster)
    replace, surge = [], []
    for w, service in enumerate(cluster.workloads.service.tolist()):
        way = migration.terms.way_of(w)
        replace.append(way is not Way.SURGE)
        needed = generous or size[w] <= least[w] or service in delicate
        surge.append(way in (Way.SURGE, Way.EITHER) or (way is Way.AUTO and needed))
    return replace, surge


def _delicate(cluster: Cluster) -> set[int]:
    """Services that a rule wants to be somewhere."""
    spread = {rule.service for rule in cluster.rules if isinstance(rule, Spread)}
    return spread | {rule.on for rule in cluster.rules if isinstance(rule, Dependency)}
