"""A placement of one request that does not fit, repaired: members that are in the way move where that costs least."""

import numpy as np

from bayplan.kernels.admit.climb import clear, cost_of, move, put
from bayplan.kernels.admit.question import UNPLACED, has_room, passes
from bayplan.kernels.search.compiled import kernel


@kernel
def repair(question, tables, standing, zone):
    """The cost of `zone` once it fits; infinite if that cannot be reached so. `zone` changes.

    A member is in the way if its zone is too full, or a link it uses is missing or too narrow. A move never puts another one in
    the way, so there are at most as many moves as members. Ties: the lowest member, then the lowest zone.
    """
    clear(question, tables, standing)
    for v in range(len(zone)):
        put(question, tables, standing, v, zone[v])
    for _ in range(len(zone) + 1):
        clean, moved = one_move(question, tables, standing)
        if clean:
            for v in range(len(zone)):
                zone[v] = standing.zone[v]
            return cost_of(tables, zone)
        if not moved:
            break
    return np.inf


@kernel
def one_move(question, tables, standing):
    """Is no member in the way? And if one was, has the cheapest move of such a member been made?"""
    at, free, field = standing
    clean, least, chosen, target = True, np.inf, UNPLACED, UNPLACED
    for v in range(len(at)):
        if not in_the_way(question, tables, standing, v):
            continue
        clean, here = False, at[v]
        for z in range(len(free)):
            more = field[v, z] - field[v, here]
            if z == here or more >= least or field[v, z] >= tables.barred[0] or not has_room(question, free, v, z):
                continue
            at[v] = z
            if passes(question, at, v):
                least, chosen, target = more, v, z
            at[v] = here
    if chosen >= 0:
        move(question, tables, standing, chosen, target)
    return clean, chosen >= 0


@kernel
def in_the_way(question, tables, standing, v):
    """Is the zone of member v too full, or a link that it uses missing or too narrow?"""
    z = standing.zone[v]
    for r in range(standing.free.shape[1]):
        if standing.free[z, r] < 0:
            return True
    return standing.field[v, z] >= tables.barred[0] or not passes(question, standing.zone, v)
