"""The first placement of one request that fits, whatever it costs: depth first, members and zones in their order."""

import numpy as np

from bayplan.kernels.admit.zone_problem import UNPLACED, ZoneProblem, dominant_share, links_fit
from bayplan.kernels.jit import kernel

FOUND, NOTHING_FITS, OUT_OF_NODES = 1, 0, -1


@kernel
def first_feasible(demand, available, traffic, pair, link, bandwidth, nodes, zone_out):
    """`FOUND`, with the placement in `zone_out`, `NOTHING_FITS` (proven), or `OUT_OF_NODES`: not known after `nodes` nodes.

    A member in a zone is a node. A branch is left when a member that has no zone yet would fit into none.
    """
    problem = ZoneProblem(bandwidth, demand, available, traffic, link, pair, bandwidth)  # costs are not read
    zone_out[:] = UNPLACED
    if not enough_in_total(demand, available) or not all_can_fit(problem, zone_out, 0):
        return NOTHING_FITS
    v, z, members = 0, 0, len(demand)
    while v < members:
        zone_out[v] = UNPLACED
        while z < len(available) and not enter_zone(problem, zone_out, v, z):
            z += 1
        if z < len(available):
            if nodes <= 0:
                zone_out[:] = UNPLACED
                return OUT_OF_NODES
            nodes -= 1
            if all_can_fit(problem, zone_out, v + 1):
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
def enter_zone(problem, zone_out, v, z):
    """Put member v into zone z if it fits beside those placed, links included. Does it?"""
    zone_out[v] = UNPLACED
    if dominant_share(problem, zone_out, v, z) == np.inf:
        return False
    zone_out[v] = z
    if links_fit(problem, zone_out, v):
        return True
    zone_out[v] = UNPLACED
    return False


@kernel
def all_can_fit(problem, zone, v):
    """Does each member from v on fit into some zone beside those placed, links not counted?"""
    for w in range(v, len(zone)):
        fits_somewhere = False
        for z in range(len(problem.available)):
            if dominant_share(problem, zone, w, z) < np.inf:
                fits_somewhere = True
                break
        if not fits_somewhere:
            return False
    return True


@kernel
def enough_in_total(demand, available):
    """Is there as much of each resource in all zones together as all members demand? Sums stop there, so none overflows."""
    for r in range(demand.shape[1]):
        missing = 0
        for v in range(len(demand)):
            missing += demand[v, r]
        for z in range(len(available)):
            missing -= min(missing, max(0, available[z, r]))
        if missing > 0:
            return False
    return True
