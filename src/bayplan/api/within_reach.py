"""A target that has lost a machine: who stays, so that what is left of it keeps the rules."""

from dataclasses import replace

import numpy as np

from bayplan.check import RUNNING, Violation, check
from bayplan.model import UNPLACED, Cluster, IntArray, Migration, Placement, ints


def within_reach(migration: Migration) -> tuple[Migration, dict[int, str]]:
    """The migration to as much of its target as breaks no rule that holds at the start, and why each of the others stays.

    Where the target breaks a rule, containers that come to that place stay where they are, until none is broken. In the end
    nobody moves, and that breaks nothing.
    """
    cluster, start = migration.cluster, migration.start.placement
    broken = {_place(v): v.excess for v in check(cluster, start)}
    after, stays = migration.target.machine_of.copy(), dict[int, str]()
    while worse := [v for v in check(cluster, Placement(machine_of=ints(after)), start) if _is_worse(v, broken)]:
        movers = np.flatnonzero(after != start.machine_of)
        held = {int(c): v.sentence for v in worse for c in _in_the_way(cluster, v, movers, after)}
        held = held or {int(c): worse[0].sentence for c in movers}
        if not held:
            break
        after[list(held)] = start.machine_of[list(held)]
        stays.update(held)
    return replace(migration, target=Placement(machine_of=ints(after))), stays


def _place(violation: Violation) -> tuple[object, ...]:
    return violation.rule, violation.number, violation.subject


def _is_worse(violation: Violation, broken: dict[tuple[object, ...], float]) -> bool:
    return violation.rule != RUNNING and violation.excess > broken.get(_place(violation), 0.0)


def _in_the_way(cluster: Cluster, violation: Violation, movers: IntArray, after: IntArray) -> IntArray:
    """Movers that come to where a rule is broken: as many as it is broken by, the largest first."""
    names, coming = set(violation.subject), movers[after[movers] != UNPLACED]
    there = np.zeros(len(cluster.machines.name), dtype=np.bool_)
    for level in cluster.levels:
        there |= np.isin(level.group_of, [g for g, name in enumerate(level.group) if name in names])
    some = coming[there[after[coming]]]
    workload = cluster.containers.workload
    meant = [w for w, name in enumerate(cluster.workloads.name) if name in names or _service(cluster, w) in names]
    fellows = some if len(some) else movers
    fellows = fellows[np.isin(workload[fellows], meant)]
    some = fellows if len(fellows) else some
    if not len(some):
        return ints([c for c in movers.tolist() if cluster.containers.name[c] in names])
    if violation.rule == "capacity":
        return _enough(cluster, violation, some)
    return ints(some[: int(np.ceil(violation.excess))]) if violation.rule == "anti-affinity" else ints(some)


def _service(cluster: Cluster, w: int) -> str:
    return cluster.services.name[int(cluster.workloads.service[w])]


def _enough(cluster: Cluster, violation: Violation, movers: IntArray) -> IntArray:
    """The largest movers that together ask for what is too much."""
    r = next(r for r, resource in enumerate(cluster.resources) if resource.name == violation.subject[-1])
    request = cluster.request_of(movers)[:, r]
    order = np.argsort(-request, kind="stable")
    needed = int(np.searchsorted(np.cumsum(request[order]), violation.excess)) + 1
    return ints(movers[order[:needed]])
