"""One member after the other into the zone where it adds least ([Online clusters] Algorithm 3)."""

import numpy as np

from bayplan.kernels.admit.zone_problem import UNPLACED, ZoneProblem, added_cost, dominant_share, links_fit
from bayplan.kernels.jit import kernel


@kernel
def greedy(cost, demand, available, traffic, link, pair, bandwidth, zone_out):
    """(4) of the placement in `zone_out`, members in their order; infinite, and no member has a zone, if one fits nowhere.

    The arrays are those of a `ZoneProblem`; each as an argument, since a tuple of arrays costs more to pass.
    """
    problem = ZoneProblem(cost, demand, available, traffic, link, pair, bandwidth)
    zone_out[:] = UNPLACED
    total = 0.0
    for v in range(len(cost)):
        total += best_zone(problem, zone_out, v)
        if total == np.inf:
            zone_out[:] = UNPLACED
            break
    return total


@kernel
def best_zone(problem, zone, v):
    """What member v adds in the zone where that is least and it fits, which is entered; infinite if it fits nowhere.

    Algorithm 3 line 4 drops a zone when any resource overflows. Ties: the zone whose dominant share is least afterwards, then
    the lowest. The zones of the members before it come first, since traffic often makes them cheapest: of those that cost more
    by themselves than the least so far, traffic is not counted.
    """
    least, chosen, fullest = np.inf, UNPLACED, np.inf
    z_n = problem.cost.shape[1]
    for i in range(v + z_n):
        z = zone[i] if i < v else i - v
        if z == chosen or problem.cost[v, z] > least:
            continue
        zone[v] = UNPLACED
        added = added_cost(problem, zone, v, z)
        if added > least or added == np.inf:
            continue
        share = dominant_share(problem, zone, v, z)
        if share == np.inf or (added == least and (share > fullest or (share == fullest and z > chosen))):
            continue
        zone[v] = z
        if links_fit(problem, zone, v):
            least, chosen, fullest = added, z, share
    zone[v] = chosen
    return least
