"""One member after the other into the zone where it adds least (001 Algorithm 3)."""

import numpy as np

from bayplan.kernels.admit.question import UNPLACED, Question, increase, passes, share
from bayplan.kernels.search.compiled import kernel


@kernel
def greedy(cost, demand, room, traffic, link, pair, bandwidth, zone_out):
    """(4) of the placement in `zone_out`, members in their order; infinite, and no member has a zone, if one fits nowhere.

    The arrays are those of a `Question`; each as an argument, since a tuple of arrays costs more to hand over.
    """
    question = Question(cost, demand, room, traffic, link, pair, bandwidth)
    return greedy_in_order(question, range(len(cost)), zone_out)


@kernel
def greedy_in_order(question, order, zone_out):
    """The same with the members in any order. Ties: the zone whose dominant share is least afterwards, then the lowest."""
    zone_out[:] = UNPLACED
    total = 0.0
    for v in order:
        least = best_zone(question, zone_out, v)
        if least == np.inf:
            zone_out[:] = UNPLACED
            return np.inf
        total += least
    return total


@kernel
def best_zone(question, zone, v):
    """What member v adds in the zone where that is least and it fits, which is entered; infinite if it fits nowhere.

    Algorithm 3 line 4 drops a zone when any resource overflows. Only a zone that would be taken is asked whether it holds.
    """
    least, chosen, fullest = np.inf, UNPLACED, np.inf
    for z in range(question.cost.shape[1]):
        zone[v] = UNPLACED
        added = increase(question, zone, v, z)
        if added > least or added == np.inf:
            continue
        full = share(question, zone, v, z)
        if full == np.inf or (added == least and full >= fullest):
            continue
        zone[v] = z
        if passes(question, zone, v):
            least, chosen, fullest = added, z, full
    zone[v] = chosen
    return least
