"""The placement of one request's members into zones ([Online clusters] IQP (4)) as arrays, and the effect of one more member."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.admit.resource_use import first_in
from bayplan.kernels.jit import kernel

UNPLACED = -1  # the zone of a member that has none yet
ROUNDING = 1e-12  # of a link's bandwidth: sums of traffic are floats


class ZoneProblem(NamedTuple):
    """The arrays of IQP (4)."""

    cost: npt.NDArray[np.float64]  # (member, zone) infinite where a member may not go
    demand: npt.NDArray[np.int64]  # (member, resource)
    available: npt.NDArray[np.int64]  # (zone, resource) what the request may take
    traffic: npt.NDArray[np.float64]  # (member, member) from, to
    link: npt.NDArray[np.float64]  # (table, zone, zone) infinite where there is no link
    pair: npt.NDArray[np.int64]  # (member, member) which table
    bandwidth: npt.NDArray[np.float64]  # (zone, zone)


@kernel
def added_cost(problem, zone, v, z):
    """What member v in zone z adds to (4), beside the members that have a zone."""
    total = problem.cost[v, z]
    for w in range(len(zone)):
        y = zone[w]
        if y >= 0 and w != v:
            if problem.traffic[v, w] > 0.0:
                total += problem.traffic[v, w] * problem.link[problem.pair[v, w], z, y]
            if problem.traffic[w, v] > 0.0:
                total += problem.traffic[w, v] * problem.link[problem.pair[w, v], y, z]
    return total


@kernel
def dominant_share(problem, zone, v, z):
    """The largest share of a resource that is taken in zone z with member v; infinite if it does not fit (4a)."""
    largest = 0.0
    for r in range(problem.demand.shape[1]):
        used = problem.demand[v, r]
        for w in range(len(zone)):
            if zone[w] == z and w != v:
                used += problem.demand[w, r]
        if used > problem.available[z, r]:
            return np.inf
        if used > 0:
            largest = max(largest, used / problem.available[z, r])
    return largest


@kernel
def fits(problem, free, v, z):
    """Does member v fit into zone z with that much free (4a)?"""
    for r in range(free.shape[1]):
        if problem.demand[v, r] > free[z, r]:
            return False
    return True


@kernel
def links_fit(problem, zone, v):
    """Do all links from and to the zone of member v keep their bandwidth? Only those that v itself uses are tested."""
    z = zone[v]
    for w in range(len(zone)):
        y = zone[w]
        if y < 0 or y == z or not first_in(zone, w):
            continue
        limit_to, limit_back = problem.bandwidth[z, y], problem.bandwidth[y, z]
        if limit_to == np.inf and limit_back == np.inf:
            continue
        to, back, sent, got = 0.0, 0.0, 0.0, 0.0
        for x in range(w, len(zone)):
            if zone[x] != y:
                continue
            sent += problem.traffic[v, x]
            got += problem.traffic[x, v]
            for u in range(len(zone)):
                if zone[u] == z:
                    to += problem.traffic[u, x]
                    back += problem.traffic[x, u]
        if sent > 0.0 and to > limit_to * (1.0 + ROUNDING):
            return False
        if got > 0.0 and back > limit_back * (1.0 + ROUNDING):
            return False
    return True


@kernel
def copy(values, out):
    """Copy an array into another of the same length."""
    for i in range(len(values)):
        out[i] = values[i]
