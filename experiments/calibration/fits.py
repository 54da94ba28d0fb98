"""Two simple fits that check the shape of an instance: is there room, and how much of the load is too much?

They are yardsticks of the generators, not methods of the product.
"""

import heapq
from collections import defaultdict

import numpy as np

from bayplan.model import UNPLACED, CoLocate, IntArray, Placement, Schedule, Snapshot, TimedRequests
from bayplan.score.counts import loads


def worst_fit(snapshot: Snapshot) -> Placement:
    """The waiting containers placed too, each where most room is left; those that fit nowhere still wait.

    Largest requests first. Co-located containers go as one, and replicas of a workload to different
    machines. Looks at nothing else than these two and capacity: `score.check` judges the outcome by all rules.
    """
    cluster = snapshot.cluster
    machine_of = snapshot.placement.machine_of.copy()
    free = cluster.machines.capacity - loads(cluster, snapshot.placement)  # (machine, resource)
    for units, request in _waiting(snapshot):
        room = np.where((free >= request).all(axis=1), (free - request).min(axis=1), -1)
        chosen = np.argsort(-room, kind="stable")[: len(units)]  # ties: the first machine
        chosen = chosen[room[chosen] >= 0]
        free[chosen] -= request
        for unit, m in zip(units, chosen, strict=False):
            machine_of[list(unit)] = m
    return Placement(machine_of=machine_of)


def _waiting(snapshot: Snapshot) -> list[tuple[list[tuple[int, ...]], IntArray]]:
    """Units of waiting containers that need the same, with what one unit requests; the largest first."""
    cluster, waiting = snapshot.cluster, snapshot.placement.unplaced.tolist()
    together = {c: rule.containers for rule in cluster.rules if isinstance(rule, CoLocate) for c in rule.containers}
    alike: dict[tuple[int, ...], list[tuple[int, ...]]] = defaultdict(list)
    for unit in dict.fromkeys(together.get(c, (c,)) for c in waiting):
        alike[tuple(cluster.containers.workload[list(unit)].tolist())].append(unit)
    sized = [(units, cluster.workloads.request[list(workloads)].sum(axis=0)) for workloads, units in alike.items()]
    return sorted(sized, key=lambda group: -int(group[1].max()))


def cyclic_first_fit(requests: TimedRequests, machines: int) -> Schedule:
    """The requests that are served: in order of start, each by the first machine that fits.

    The search begins behind the machine that served the last one. What fits nowhere at its start is refused.
    """
    free = np.tile(requests.capacity, (machines, 1))  # (machine, resource)
    running: list[tuple[float, int]] = []  # (end, request)
    machine_of = np.full(len(requests.name), UNPLACED, dtype=np.int64)
    behind = 0
    for j in np.argsort(requests.start, kind="stable").tolist():
        while running and running[0][0] <= requests.start[j]:  # (start, end]: what ends now makes room
            gone = heapq.heappop(running)[1]
            free[machine_of[gone]] += requests.demand[gone]
        fits = np.flatnonzero((free >= requests.demand[j]).all(axis=1))
        if len(fits):
            m = int(fits[np.searchsorted(fits, behind) % len(fits)])
            machine_of[j], behind = m, (m + 1) % machines
            free[m] -= requests.demand[j]
            heapq.heappush(running, (float(requests.end[j]), j))
    return Schedule(machine_of=machine_of)


def area_bound(requests: TimedRequests, machines: int, horizon: float) -> float:
    """No schedule serves a larger share: so many of the smallest areas fill all machines during the whole horizon.

    The area of a request is the mean of its shares of one machine's resources, times its duration ([Cradle] (5)).
    """
    share = (requests.demand / requests.capacity).mean(axis=1)
    area = np.sort(share * (requests.end - requests.start))
    return float(np.searchsorted(np.cumsum(area), machines * horizon, side="right")) / len(area)
