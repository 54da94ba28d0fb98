"""`greedy`: one member after the other into the zone where it adds least (001 Algorithm 3)."""

import numpy as np

from bayplan.decide.admit.oneshot.case import Case, Placing
from bayplan.decide.admit.oneshot.signature import OneShotOptions
from bayplan.kernels.admit.greedy import greedy as place_greedily


def greedy(case: Case, options: OneShotOptions, *, seed: int) -> Placing:
    """Members in their order; nothing is drawn, nothing is proven. None says that this order failed, not that nothing fits.

    Line 4 of Algorithm 3 is read as: a zone is dropped when any resource overflows. Beyond it: links keep their bandwidth, and
    of equal zones the one that is least full afterwards is taken, since all prices start at zero.
    """
    zone = np.empty(len(case.cost), dtype=np.int64)
    cost = place_greedily(case.cost, case.demand, case.room, case.traffic, case.link, case.pair, case.bandwidth, zone)
    found = cost < np.inf
    return Placing(zone=zone if found else None, cost=cost, complete=found)
