"""A target that has lost a machine: what stays where it is, so that the part that can be reached keeps the rules."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from bayplan.check import RUNNING, Violation, check
from bayplan.model import UNPLACED, Cluster, IntArray, Migration, Placement, ints


def reachable_target(migration: Migration) -> tuple[Migration, dict[int, str]]:
    """The migration to as much of its target as violates no rule that holds at the start, and why each other container stays.

    Where the target violates a rule, containers that come to that place stay where they are, until none is violated. In the
    end no container moves, and that violates nothing new.
    """
    cluster, start = migration.cluster, migration.start.placement
    excess = {v.place: v.excess for v in check(cluster, start)}
    target, stays = migration.target.machine_of.copy(), dict[int, str]()
    while worse := [v for v in check(cluster, Placement(machine_of=ints(target)), start) if _is_worse(v, excess)]:
        moving = np.flatnonzero(target != start.machine_of)
        held_back = {int(c): v.sentence for v in worse for c in _to_hold_back(cluster, v, moving, target)}
        held_back = held_back or {int(c): worse[0].sentence for c in moving}
        if not held_back:
            break
        target[list(held_back)] = start.machine_of[list(held_back)]
        stays.update(held_back)
    return replace(migration, target=Placement(machine_of=ints(target))), stays


def _is_worse(violation: Violation, excess: Mapping[tuple[str, int, tuple[str, ...]], float]) -> bool:
    return violation.rule != RUNNING and violation.excess > excess.get(violation.place, 0.0)


def _to_hold_back(cluster: Cluster, violation: Violation, moving: IntArray, target: IntArray) -> IntArray:
    """Containers that come to where a rule is violated: as many as are too many, the largest first."""
    names, arriving = set(violation.subject), moving[target[moving] != UNPLACED]
    there = np.zeros(len(cluster.machines.name), dtype=np.bool_)
    for level in cluster.levels:
        there |= np.isin(level.group_of, [g for g, name in enumerate(level.group) if name in names])
    chosen = arriving[there[target[arriving]]]
    workload = cluster.containers.workload
    concerned = [w for w, name in enumerate(cluster.workloads.name) if name in names or _service(cluster, w) in names]
    of_workload = chosen if len(chosen) else moving
    of_workload = of_workload[np.isin(workload[of_workload], concerned)]
    chosen = of_workload if len(of_workload) else chosen
    if not len(chosen):
        return ints([c for c in moving.tolist() if cluster.containers.name[c] in names])
    if violation.rule == "capacity":
        return _largest(cluster, violation, chosen)
    return ints(chosen[: int(np.ceil(violation.excess))]) if violation.rule == "anti-affinity" else ints(chosen)


def _service(cluster: Cluster, w: int) -> str:
    return cluster.services.name[int(cluster.workloads.service[w])]


def _largest(cluster: Cluster, violation: Violation, moving: IntArray) -> IntArray:
    """The largest of them that together request what is too much."""
    r = next(r for r, resource in enumerate(cluster.resources) if resource.name == violation.subject[-1])
    request = cluster.request_of(moving)[:, r]
    order = np.argsort(-request, kind="stable")
    needed = int(np.searchsorted(np.cumsum(request[order]), violation.excess)) + 1
    return ints(moving[order[:needed]])
