"""The placement of one request's members into zones (001 IQP (4)) as a kernel sees it, and what one more member does to it."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.admit.use import flow_of
from bayplan.kernels.search.compiled import kernel

UNPLACED = -1  # the zone of a member that has none yet
ROUNDING = 1e-12  # of a link's bandwidth: sums of traffic are floats


class Question(NamedTuple):
    """IQP (4), K resources; as in a `Case`."""

    cost: npt.NDArray[np.float64]  # (member, zone) infinite where a member may not go
    demand: npt.NDArray[np.int64]  # (member, resource)
    room: npt.NDArray[np.int64]  # (zone, resource)
    traffic: npt.NDArray[np.float64]  # (member, member) from, to
    link: npt.NDArray[np.float64]  # (table, zone, zone) infinite where there is no link
    pair: npt.NDArray[np.int64]  # (member, member) which table
    bandwidth: npt.NDArray[np.float64]  # (zone, zone)


@kernel
def increase(question, zone, v, z):
    """What member v in zone z adds to (4), beside the members that have a zone."""
    total = question.cost[v, z]
    for w in range(len(zone)):
        y = zone[w]
        if y >= 0 and w != v:
            if question.traffic[v, w] > 0.0:
                total += question.traffic[v, w] * question.link[question.pair[v, w], z, y]
            if question.traffic[w, v] > 0.0:
                total += question.traffic[w, v] * question.link[question.pair[w, v], y, z]
    return total


@kernel
def share(question, zone, v, z):
    """The largest share of any resource that zone z gives once it has member v too; above 1: it does not fit (4a)."""
    largest = 0.0
    for r in range(question.demand.shape[1]):
        used = question.demand[v, r]
        for w in range(len(zone)):
            if zone[w] == z and w != v:
                used += question.demand[w, r]
        if used > question.room[z, r]:
            return np.inf
        if used > 0:
            largest = max(largest, used / question.room[z, r])
    return largest


@kernel
def has_room(question, free, v, z):
    """Has zone z, with that much free, room for member v (4a)?"""
    for r in range(free.shape[1]):
        if question.demand[v, r] > free[z, r]:
            return False
    return True


@kernel
def passes(question, zone, v):
    """Do all links from and to the zone of member v keep their bandwidth? Only those are looked at that v itself uses."""
    z = zone[v]
    for w in range(len(zone)):
        y = zone[w]
        if y < 0 or y == z:
            continue
        for start, end, amount in ((z, y, question.traffic[v, w]), (y, z, question.traffic[w, v])):
            limit = question.bandwidth[start, end]
            if amount > 0.0 and limit < np.inf and flow_of(zone, question.traffic, start, end) > limit * (1.0 + ROUNDING):
                return False
    return True


@kernel
def copy(values, out):
    """Write one array over another of the same length; arrays of arrays row by row."""
    for i in range(len(values)):
        out[i] = values[i]
