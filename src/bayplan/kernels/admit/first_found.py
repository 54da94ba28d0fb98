"""The first placement of one request that fits, whatever it costs: depth first, members and zones in their order."""

import numpy as np

from bayplan.kernels.admit.question import UNPLACED, Question, passes, share
from bayplan.kernels.search.compiled import kernel

FOUND, NOTHING_FITS, OUT_OF_NODES = 1, 0, -1


@kernel
def first_found(demand, room, traffic, pair, link, bandwidth, nodes, zone_out):
    """`FOUND`, with the placement in `zone_out`, `NOTHING_FITS` (proven), or `OUT_OF_NODES`: not known after so many tries.

    A member in a zone is a node. A branch is left when a member that has no zone yet would fit into none.
    """
    question = Question(bandwidth, demand, room, traffic, link, pair, bandwidth)  # costs are not looked at
    zone_out[:] = UNPLACED
    if not enough(demand, room) or not all_have_homes(question, zone_out, 0):
        return NOTHING_FITS
    v, z, members = 0, 0, len(demand)
    while v < members:
        zone_out[v] = UNPLACED
        while z < len(room) and not holds(question, zone_out, v, z):
            z += 1
        if z < len(room):
            if nodes <= 0:
                zone_out[:] = UNPLACED
                return OUT_OF_NODES
            nodes -= 1
            if all_have_homes(question, zone_out, v + 1):
                v, z = v + 1, 0
            else:
                z += 1
        elif v == 0:
            return NOTHING_FITS
        else:
            v -= 1
            z = zone_out[v] + 1
    return FOUND


@kernel
def holds(question, zone_out, v, z):
    """Does zone z hold member v beside those placed, links included? If so it is entered."""
    zone_out[v] = UNPLACED
    if share(question, zone_out, v, z) == np.inf:
        return False
    zone_out[v] = z
    if passes(question, zone_out, v):
        return True
    zone_out[v] = UNPLACED
    return False


@kernel
def all_have_homes(question, zone, v):
    """Does each member from v on fit into some zone beside those placed, links left aside?"""
    for w in range(v, len(zone)):
        found = False
        for z in range(len(question.room)):
            if share(question, zone, w, z) < np.inf:
                found = True
                break
        if not found:
            return False
    return True


@kernel
def enough(demand, room):
    """Is there as much of each resource in all zones together as all members ask for? A sum stops at what is asked for."""
    for r in range(demand.shape[1]):
        asked = 0
        for v in range(len(demand)):
            asked += demand[v, r]
        for z in range(len(room)):
            asked -= min(asked, max(0, room[z, r]))
        if asked > 0:
            return False
    return True
