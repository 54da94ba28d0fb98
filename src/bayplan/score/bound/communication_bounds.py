"""Between which values the communication cost C can lie ([FreeContainer] §VI-A1), given which containers are placed.

Upper: every service is spread over as many groups as there are. Lower: over as few as capacity, conflict and spread
rules leave. Both are relaxations, level by level: services do not compete for capacity, `allow`, co-location and the other
rules are ignored, and a service's smallest requests go first. So the true range lies inside.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array

from bayplan.model import NO_LIMIT, AntiAffinity, BoolArray, Capacity, Cluster, IntArray, Objective, Placement, Spread
from bayplan.score.counts import placed_replicas


class Bounds(NamedTuple):
    """No valid placement is below `lower` or above `upper`."""

    lower: float
    upper: float


def communication_bounds(cluster: Cluster, placement: Placement, objective: Objective) -> Bounds:
    """The bounds of C over all valid placements of the containers that `placement` places."""
    placed = placed_replicas(cluster, placement)
    lower = upper = 0.0
    for level, hop in enumerate(objective.hop):
        if hop > 0:
            for part in (_clique_bounds(cluster, placed, level), _edge_bounds(cluster, placed, level)):
                lower, upper = lower + float(hop) * part.lower, upper + float(hop) * part.upper
    return Bounds(lower, upper)


def capped_resources(cluster: Cluster) -> IntArray:
    """Resources whose capacity a rule protects."""
    return np.array(sorted({r for rule in cluster.rules if isinstance(rule, Capacity) for r in rule.resources}), dtype=np.int64)


def _pairs(count: IntArray) -> IntArray:
    return count * (count - 1) // 2


def _clique_bounds(cluster: Cluster, placed: IntArray, level: int) -> Bounds:
    clique = cluster.services.clique
    size = _per_service(cluster, placed)
    groups = len(np.unique(cluster.levels[level].group_of))
    if not clique.any() or groups == 0:
        return Bounds(0.0, 0.0)
    each, more = np.divmod(size, groups)  # the most even spread
    together_least = more * _pairs(each + 1) + (groups - more) * _pairs(each)
    together_most = _pairs(size)
    limit, minimum = _service_limit(cluster, placed, level), _spread_minimum(cluster, level)
    slots = _Slots(cluster, placed, level)
    total = np.zeros((len(clique), len(cluster.resources)), dtype=np.int64)
    np.add.at(total, cluster.workloads.service, cluster.workloads.request * placed[:, None])
    alone = (minimum <= 1) & (limit >= size) & slots.for_all(total)  # all pairs can share one machine
    for s in np.flatnonzero((clique > 0) & (size > 1) & ~alone).tolist():
        together_most[s] = _most_together(slots.of(s, int(limit[s])), int(size[s]), int(minimum[s]))
    return Bounds(float(clique @ (_pairs(size) - together_most)), float(clique @ (_pairs(size) - together_least)))


def _most_together(slots: IntArray, size: int, minimum: int) -> int:
    """The most pairs that share a group: fill the largest groups, but keep one container for each group that must be used.

    This fills every prefix of groups as far as any placement can, so no sum of squares is larger.
    """
    slots = np.sort(np.partition(slots, len(slots) - size)[-size:] if size < len(slots) else slots)[::-1]
    slots = slots[slots > 0]
    still_to_use = np.maximum(0, min(minimum, size) - np.arange(1, len(slots) + 1))
    filled = np.minimum(np.cumsum(np.minimum(slots, size)), size - still_to_use)
    return int(_pairs(np.diff(filled, prepend=0)).sum())


class _Slots:
    """How many containers of a service fit in each group of a level, looking at one resource at a time."""

    def __init__(self, cluster: Cluster, placed: IntArray, level: int) -> None:
        self.request, self.placed = cluster.workloads.request, placed
        self.capped = capped_resources(cluster).tolist()
        # Few machine types, many machines: count per type.
        self.capacity, type_of = np.unique(cluster.machines.capacity[:, self.capped], axis=0, return_inverse=True)
        group_of = cluster.levels[level].group_of
        shape = (len(cluster.levels[level].group), len(self.capacity))
        self.machines = coo_array((np.ones_like(group_of), (group_of, type_of.ravel())), shape=shape).tocsr()
        by_service = np.argsort(cluster.workloads.service, kind="stable")
        ends = np.cumsum(np.bincount(cluster.workloads.service, minlength=len(cluster.services.name)))
        self.workloads_of = np.split(by_service, ends[:-1])

    def of(self, s: int, limit: int) -> IntArray:
        """(group,) slots for the placed containers of the service, none above `limit`."""
        workloads = self.workloads_of[s]
        count = self.placed[workloads]
        per_type = np.full(len(self.capacity), min(int(count.sum()), limit))
        for column, r in enumerate(self.capped):
            smallest_first = np.sort(np.repeat(self.request[workloads, r], count))
            fits = np.searchsorted(np.cumsum(smallest_first), self.capacity[:, column], side="right")
            per_type = np.minimum(per_type, fits)
        slots: IntArray = np.minimum(self.machines @ per_type, limit)
        return slots

    def for_all(self, total: IntArray) -> BoolArray:
        """(service,) does all of a service's (service, resource) total fit on one machine?"""
        fits = np.zeros(len(total), dtype=np.bool_)
        for capacity in self.capacity:
            fits |= (total[:, self.capped] <= capacity).all(axis=1)
        return fits


def _per_service(cluster: Cluster, amount: IntArray) -> IntArray:
    """(service,) sum of an amount per workload."""
    total = np.zeros(len(cluster.services.name), dtype=np.int64)
    np.add.at(total, cluster.workloads.service, amount)
    return total


def _binds(rule_level: int, level: int) -> bool:
    """A rule about racks also binds each machine in them; other levels need not be nested."""
    return rule_level == level or level == 0


def _workload_limit(cluster: Cluster, level: int) -> IntArray:
    """(workload,) the most containers of it that anti-affinity leaves in one group."""
    limit = np.full(len(cluster.workloads.name), NO_LIMIT)
    for rule in cluster.rules:
        if isinstance(rule, AntiAffinity) and _binds(rule.level, level):
            members = np.array(rule.workloads)
            limit[members] = np.minimum(limit[members], rule.limit)
    return limit


def _service_limit(cluster: Cluster, placed: IntArray, level: int) -> IntArray:
    """(service,) the most containers of it that anti-affinity leaves in one group."""
    limit = _per_service(cluster, np.minimum(placed, _workload_limit(cluster, level)))
    size = _per_service(cluster, placed)
    for rule in cluster.rules:
        if isinstance(rule, AntiAffinity) and _binds(rule.level, level) and len(rule.workloads) > 1:
            members = np.unique(np.array(rule.workloads))
            service, place = np.unique(cluster.workloads.service[members], return_inverse=True)
            bound = np.zeros(len(service), dtype=np.int64)
            np.add.at(bound, place, placed[members])
            limit[service] = np.minimum(limit[service], size[service] - np.maximum(0, bound - rule.limit))
    return limit


def _spread_minimum(cluster: Cluster, level: int) -> IntArray:
    """(service,) the fewest groups it may use."""
    minimum = np.ones(len(cluster.services.name), dtype=np.int64)
    for rule in cluster.rules:
        if isinstance(rule, Spread) and _binds(rule.level, level):
            minimum[rule.service] = max(minimum[rule.service], rule.minimum)
    return minimum


def _edge_bounds(cluster: Cluster, placed: IntArray, level: int) -> Bounds:
    """Upper: all pairs apart. Lower: no group holds more of a workload than fits.

    If at most k containers of b share a group, each container of a meets at most k of them.
    """
    traffic, replicas = cluster.traffic, np.maximum(1, cluster.replicas)
    groups = len(np.unique(cluster.levels[level].group_of))
    if not len(traffic.a) or groups == 0:
        return Bounds(0.0, 0.0)
    most = np.minimum(placed, _workload_slots(cluster, level))
    pairs = placed[traffic.a] * placed[traffic.b]
    meet = np.minimum(placed[traffic.a] * most[traffic.b], placed[traffic.b] * most[traffic.a])
    price = traffic.weight / (replicas[traffic.a] * replicas[traffic.b])
    return Bounds(float(price @ (pairs - meet)), float(price @ pairs) if groups > 1 else 0.0)


def _workload_slots(cluster: Cluster, level: int) -> IntArray:
    """(workload,) the most containers of it that fit in one group."""
    capped = capped_resources(cluster)
    largest = cluster.machines.capacity[:, capped].max(axis=0, initial=0)
    request = cluster.workloads.request[:, capped]
    fits = np.where(request > 0, largest // np.maximum(1, request), len(cluster.containers.name))
    machines = int(np.bincount(cluster.levels[level].group_of).max())
    per_machine = np.minimum(fits.min(axis=1, initial=len(cluster.containers.name)), len(cluster.containers.name))
    slots: IntArray = np.minimum(per_machine * machines, _workload_limit(cluster, level))
    return slots
