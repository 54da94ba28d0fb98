"""`nscd`: all members into one zone, the cheapest that holds them (the baseline of 001 section VI)."""

import numpy as np

from bayplan.decide.admit.oneshot.case import Case, Placing
from bayplan.decide.admit.oneshot.signature import OneShotOptions


def nscd(case: Case, options: OneShotOptions, *, seed: int) -> Placing:
    """The zone of least sum of P_vs that has room for all, the lowest of equals. Traffic within it is paid, but not looked at.

    None says that no one zone holds all, not that nothing fits.
    """
    total = case.cost.sum(axis=0)
    able = (case.demand.sum(axis=0) <= case.room).all(axis=1) & np.isfinite(total)
    for z in np.argsort(total, kind="stable").tolist():
        zone = np.full(len(case.cost), z, dtype=np.int64)
        if able[z] and np.isfinite(cost := case.cost_of(zone)):
            return Placing(zone=zone, cost=cost)
    return Placing(zone=None, cost=np.inf, complete=False)
