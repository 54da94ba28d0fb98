"""`local`, greedy from many starts improved by exchange, and `exact`, branch and bound from there on.

    min  sum_v P_v,z(v) + sum_{v != w} P_v,w,z(v),z(w)                          (4)
    s.t. sum of a_vk over the v in zone z <= B_kz          every k, z           (4a)

Each node is bounded by moving costs from pairs onto members (`kernels.admit.message_bound`); zones that cannot beat the
incumbent are removed, and the member with the fewest zones left is placed next. Capacity only removes zones that are too small
for a member by itself, so the search is longest where traffic within a zone costs nothing and capacity is scarce.
"""

import numpy as np

from bayplan.decide.admit.one_shot.greedy import greedy
from bayplan.decide.admit.one_shot.kernel_tables import question_of, standing_of, tables_of, tree_of
from bayplan.decide.admit.one_shot.one_shot_problem import OneShotOptions, OneShotPlacement, OneShotProblem
from bayplan.kernels.admit.branch import branch
from bayplan.kernels.admit.cost_tables import CostTables
from bayplan.kernels.admit.local_search import local_search
from bayplan.kernels.admit.zone_problem import ZoneProblem
from bayplan.model import IntArray

STARTS = 24  # about a millisecond with 8 members and 42 zones
PASSED = 4  # placements of each start that are remembered: no start passes them again
SMALL = 36  # members x zones: up to here `local` always adds a tree search
LOCAL_NODES = 2_000  # nodes of the short tree search of `local`
EXACT_NODES = 1_000_000  # about ten seconds with 9 zones


def local(problem: OneShotProblem, options: OneShotOptions, *, seed: int) -> OneShotPlacement:
    """A placement that no move of one or two members makes cheaper. `options.nodes`: the number of starts.

    Where the problem is small, or no start fits all members, a short tree search follows: it finds a better placement, or proves
    that there is none, or gives up. It draws no random numbers.
    """
    question = question_of(problem)
    tables = tables_of(question)
    if tables is None:
        return greedy(problem, options, seed=seed)
    zone, cost = best_of_starts(question, tables, STARTS if options.nodes is None else options.nodes)
    if cost < np.inf and problem.cost.size > SMALL:
        return OneShotPlacement(zone=zone, cost=cost)
    best = np.array([cost, 0.0])
    branch(question, tables, tree_of(question), LOCAL_NODES, best, zone)
    cost, bound = best.tolist()
    return OneShotPlacement(
        zone=zone if cost < np.inf else None, cost=cost, bound=bound, complete=cost < np.inf or bound == np.inf
    )


def best_of_starts(question: ZoneProblem, tables: CostTables, starts: int) -> tuple[IntArray, float]:
    """The zones of the best start, improved, and their cost; infinite if none fits. Large members go first."""
    zone = np.empty(len(question.cost), dtype=np.int64)
    largest = question.available.max(axis=0, initial=1)
    order = np.argsort(-(question.demand / largest).max(axis=1, initial=0.0), kind="stable")
    zones = np.argsort(question.cost.sum(axis=0), kind="stable")
    seen = np.empty((PASSED * starts, len(zone)), dtype=np.int64)
    cost = local_search(question, tables, order, zones, starts, standing_of(question), seen, zone)
    return zone, cost


def exact(problem: OneShotProblem, options: OneShotOptions, *, seed: int) -> OneShotPlacement:
    """The cheapest placement, up to rounding. Out of nodes: the best so far, and a bound from the open nodes."""
    question = question_of(problem)
    tables = tables_of(question)
    if tables is None:
        first = greedy(problem, options, seed=seed)
        bound = min(first.cost, float(problem.cost.min(axis=1).sum()))
        return OneShotPlacement(zone=first.zone, cost=first.cost, bound=bound, complete=False)
    zone, cost = best_of_starts(question, tables, STARTS)
    best = np.array([cost, 0.0])
    nodes = EXACT_NODES if options.nodes is None else options.nodes
    branch(question, tables, tree_of(question), nodes, best, zone)
    cost, bound = best.tolist()
    return OneShotPlacement(zone=zone if cost < np.inf else None, cost=cost, bound=bound, complete=bound >= cost)
