r"""`exact`: the cheapest placement, by branch and bound.

    min  sum_v P_v,z(v) + sum_{v != w} P_v,w,z(v),z(w)                          (4)
    s.t. sum of a_vk over the v in zone z <= B_kz          every k, z           (4a)

The start is the answer of `local`. Each node is bounded by moving costs from pairs onto members (`kernels.admit.messages`); zones
that cannot beat the best are struck out, and the member with the fewest zones left is placed next. Room only strikes out zones
that are too small for a member by itself, so that the search is longest where traffic within a zone is free and room is short.
"""

import numpy as np

from bayplan.decide.admit.oneshot.case import Case, Placing
from bayplan.decide.admit.oneshot.greedy import greedy
from bayplan.decide.admit.oneshot.local import STARTS, climbed
from bayplan.decide.admit.oneshot.signature import OneShotOptions
from bayplan.decide.admit.oneshot.tables import question_of, tables_of, tree_of
from bayplan.kernels.admit.branch import branch

NODES = 1_000_000  # about ten seconds with 9 zones


def exact(case: Case, options: OneShotOptions, *, seed: int) -> Placing:
    """The least cost, up to rounding; nothing is drawn. Out of nodes: the best so far, and a bound from the nodes left."""
    question = question_of(case)
    tables = tables_of(question)
    if tables is None:
        first = greedy(case, options, seed=seed)
        bound = min(first.cost, float(case.cost.min(axis=1).sum()))
        return Placing(zone=first.zone, cost=first.cost, bound=bound, complete=False)
    zone, cost = climbed(question, tables, STARTS)
    best = np.array([cost, 0.0])
    nodes = NODES if options.nodes is None else options.nodes
    branch(question, tables, tree_of(question), nodes, best, zone)
    cost, bound = best.tolist()
    return Placing(zone=zone if cost < np.inf else None, cost=cost, bound=bound, complete=bound >= cost)
