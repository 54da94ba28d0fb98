"""Placements of one request that fit, where bandwidth[z, z] limits the traffic inside of zone z: the first, greedy, the best.

The library's methods have no such limit; these are plain ones for requests of at most eight members. They read the arrays of a
`ZoneProblem` with kernels of the library.
"""

import numpy as np

from bayplan.kernels.admit.first_feasible import all_can_fit, enough_in_total
from bayplan.kernels.admit.zone_problem import UNPLACED, added_cost, dominant_share, links_fit
from bayplan.kernels.jit import allocating_kernel, kernel


@kernel
def first_fit(problem, nodes, zone_out):  # type: ignore[no-untyped-def]
    """A_r: is there a placement? It is in `zone_out`. Depth first, members and zones in their order; no after `nodes` nodes."""
    zone_out[:] = UNPLACED
    if not enough_in_total(problem.demand, problem.available) or not all_can_fit(problem, zone_out, 0):
        return False
    v, z, members, zones = 0, 0, len(problem.demand), len(problem.available)
    while v < members:
        zone_out[v] = UNPLACED
        while z < zones and not enters(problem, zone_out, v, z):
            z += 1
        if z < zones:
            if nodes <= 0:
                return False
            nodes -= 1
            if all_can_fit(problem, zone_out, v + 1):
                v, z = v + 1, 0
            else:
                z += 1
        elif v == 0:
            return False
        else:
            v -= 1
            z = zone_out[v] + 1
    return True


@kernel
def greedy_fit(problem, zone_out):  # type: ignore[no-untyped-def]
    """Algorithm 3 among placements that fit: the cost, infinite if a member fits nowhere. Ties as in the library."""
    zone_out[:] = UNPLACED
    total = 0.0
    for v in range(len(problem.demand)):
        least, chosen, fullest = np.inf, UNPLACED, np.inf
        for z in range(len(problem.available)):
            zone_out[v] = UNPLACED
            added, share = added_cost(problem, zone_out, v, z), dominant_share(problem, zone_out, v, z)
            if (added < least or (added == least and share < fullest)) and enters(problem, zone_out, v, z):
                least, chosen, fullest = added, z, share
        if chosen == UNPLACED:
            return np.inf
        zone_out[v] = chosen
        total += least
    return total


@allocating_kernel
def cheapest_fit(problem, nodes, zone_out):  # type: ignore[no-untyped-def]
    """The least cost of a placement that fits, in `zone_out`, and whether that is proven within so many nodes.

    Branch and bound: a node is a member in a zone; members without a zone cost at least what they would beside those placed.
    """
    members, zones = problem.cost.shape
    best, proven = greedy_fit(problem, zone_out), True
    zone = np.full(members, UNPLACED)
    tried = np.zeros(members, dtype=np.int64)  # zones of the member at each depth, cheapest first
    alone = np.zeros((members + 1, members, zones))  # what each member costs in each zone beside those placed
    order = np.zeros((members, zones), dtype=np.int64)
    paid = np.zeros(members + 1)
    alone[0] = problem.cost
    order[0] = np.argsort(alone[0, 0])
    v = 0
    while v >= 0:
        zone[v] = UNPLACED
        if tried[v] == zones or nodes <= 0:
            proven = proven and nodes > 0
            tried[v] = 0
            v -= 1
            continue
        z = order[v, tried[v]]
        tried[v] += 1
        nodes -= 1
        paid[v + 1] = paid[v] + alone[v, v, z]
        if paid[v + 1] >= best:
            tried[v] = zones  # the others cost no less
            continue
        if not enters(problem, zone, v, z):
            continue
        if v + 1 == members:
            best = paid[v + 1]
            zone_out[:] = zone
        elif paid[v + 1] + add_member(problem, alone[v], v, z, alone[v + 1]) < best:
            v += 1
            order[v] = np.argsort(alone[v, v])
    return best, proven


@kernel
def add_member(problem, before, v, z, after_out):  # type: ignore[no-untyped-def]
    """What the members after v cost in each zone with v in zone z; and the sum of the least of each."""
    total = 0.0
    for u in range(v + 1, len(before)):
        least = np.inf
        for y in range(before.shape[1]):
            cost = before[u, y]
            if problem.traffic[v, u] > 0.0:
                cost += problem.traffic[v, u] * problem.link[problem.pair[v, u], z, y]
            if problem.traffic[u, v] > 0.0:
                cost += problem.traffic[u, v] * problem.link[problem.pair[u, v], y, z]
            after_out[u, y] = cost
            least = min(least, cost)
        total += least
    return total


@kernel
def enters(problem, zone_out, v, z):  # type: ignore[no-untyped-def]
    """Put member v into zone z if it fits beside those placed, links and the zone's own traffic included. Does it?"""
    zone_out[v] = UNPLACED
    if dominant_share(problem, zone_out, v, z) == np.inf:
        return False
    zone_out[v] = z
    if links_fit(problem, zone_out, v) and traffic_inside(problem, zone_out, z) <= problem.bandwidth[z, z]:
        return True
    zone_out[v] = UNPLACED
    return False


@kernel
def traffic_inside(problem, zone, z):  # type: ignore[no-untyped-def]
    """The traffic between members in zone z."""
    total = 0.0
    for v in range(len(zone)):
        for w in range(len(zone)):
            if zone[v] == z and zone[w] == z:
                total += problem.traffic[v, w]
    return total
