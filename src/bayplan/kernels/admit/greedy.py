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
    return greedy_in_order(problem, range(len(cost)), zone_out)


@kernel
def greedy_in_order(problem, order, zone_out):
    """The same with the members in any order. Ties: the zone whose dominant share is least afterwards, then the lowest."""
    zone_out[:] = UNPLACED
    total = 0.0
    for v in order:
        least = best_zone(problem, zone_out, v)
        if least == np.inf:
            zone_out[:] = UNPLACED
            return np.inf
        total += least
    return total


@kernel
def best_zone(problem, zone, v):
    """What member v adds in the zone where that is least and it fits, which is entered; infinite if it fits nowhere.

    Algorithm 3 line 4 drops a zone when any resource overflows. Only a zone that would be chosen is tested.
    """
    least, chosen, fullest = np.inf, UNPLACED, np.inf
    for z in range(problem.cost.shape[1]):
        zone[v] = UNPLACED
        added = added_cost(problem, zone, v, z)
        if added > least or added == np.inf:
            continue
        share = dominant_share(problem, zone, v, z)
        if share == np.inf or (added == least and share >= fullest):
            continue
        zone[v] = z
        if links_fit(problem, zone, v):
            least, chosen, fullest = added, z, share
    zone[v] = chosen
    return least
