"""`sampling`: guess the traffic from a sample of the members, solve, round, repair (001 Algorithms 1 and 2)."""

import numpy as np

from bayplan.decide.admit.oneshot.case import Case, Placing
from bayplan.decide.admit.oneshot.estimates import PLACEMENTS, can_hold, candidates, estimate_of, placements
from bayplan.decide.admit.oneshot.greedy import greedy
from bayplan.decide.admit.oneshot.signature import OneShotOptions
from bayplan.decide.admit.oneshot.tables import question_of, standing_of, tables_of
from bayplan.kernels.admit.repair import repair


def sampling(case: Case, options: OneShotOptions, *, seed: int) -> Placing:
    """The best of all placements of a sample of n members, each completed by a linear program and a rounding.

    A rounding that overfills a zone or a link is repaired by moves of least cost, or refused. `options.nodes`: placements of the
    sample, drawn if there are more. None says that all were refused, not that nothing fits.
    """
    question = question_of(case)
    tables = tables_of(question)
    if tables is None:
        return greedy(case, options, seed=seed)
    if not can_hold(case).any(axis=1).all():
        return Placing(zone=None, cost=np.inf, bound=np.inf)  # a member fits nowhere
    rng = np.random.default_rng(seed)
    estimate = estimate_of(case, options, rng)
    most = PLACEMENTS if options.nodes is None else options.nodes
    placement, complete = placements(case.cost.shape[1], len(estimate.sample), most, rng)
    best, least, standing = None, np.inf, standing_of(question)
    for zone in candidates(estimate, placement):  # line 3
        cost = repair(question, tables, standing, zone)
        if cost < least and cost < tables.barred[0]:  # line 10
            best, least = zone.copy(), cost
    return Placing(zone=best, cost=float(least), complete=complete and best is not None)
