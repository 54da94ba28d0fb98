"""`local`, greedy from many starts improved by exchange, and `exact`, branch and bound from there on.

    min  sum_v P_v,z(v) + sum_{v != w} P_v,w,z(v),z(w)                          (4)
    s.t. sum of a_vk over the v in zone z <= B_kz          every k, z           (4a)

Each node is bounded by moving costs from pairs onto members (`kernels.admit.message_bound`); zones that cannot beat the
incumbent are removed, and the member with the fewest zones left is placed next. Capacity only removes zones that are too small
for a member by itself, so the search is longest where traffic within a zone costs nothing and capacity is scarce.
"""

import numpy as np

from bayplan.decide.admit.one_shot.greedy import greedy
from bayplan.decide.admit.one_shot.kernel_tables import LocalScratch, is_too_large, local_scratch, question_of, tables_of, tree_of
from bayplan.decide.admit.one_shot.one_shot_problem import OneShotOptions, OneShotPlacement, OneShotProblem
from bayplan.kernels.admit.branch import branch
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
    if is_too_large(*question.cost.shape):
        return greedy(problem, options, seed=seed)
    return search_locally(question, starts_scratch(question, options))


def starts_scratch(question: ZoneProblem, options: OneShotOptions) -> LocalScratch:
    """Work arrays for as many starts as the options ask for."""
    return local_scratch(question, PASSED * (STARTS if options.nodes is None else options.nodes))


def search_locally(question: ZoneProblem, scratch: LocalScratch) -> OneShotPlacement:
    """`local` for a problem that is not too large, as arrays."""
    zone, cost = best_of_starts(question, scratch)
    if cost < np.inf and question.cost.size > SMALL:
        return OneShotPlacement(zone=zone, cost=cost)
    best = np.array([cost, 0.0])
    branch(question, tables_of(question, scratch.costs), tree_of(question), LOCAL_NODES, best, zone)
    cost, bound = best.tolist()
    return OneShotPlacement(
        zone=zone if cost < np.inf else None, cost=cost, bound=bound, complete=cost < np.inf or bound == np.inf
    )


def best_of_starts(question: ZoneProblem, scratch: LocalScratch) -> tuple[IntArray, float]:
    """The zones of the best start, improved, and their cost; infinite if none fits. Large members go first."""
    zone = np.empty(len(question.cost), dtype=np.int64)
    return zone, local_search(question, *scratch, len(scratch.lists.seen) // PASSED, zone)


def exact(problem: OneShotProblem, options: OneShotOptions, *, seed: int) -> OneShotPlacement:
    """The cheapest placement, up to rounding. Out of nodes: the best so far, and a bound from the open nodes."""
    question = question_of(problem)
    if is_too_large(*question.cost.shape):
        first = greedy(problem, options, seed=seed)
        bound = min(first.cost, float(problem.cost.min(axis=1).sum()))
        return OneShotPlacement(zone=first.zone, cost=first.cost, bound=bound, complete=False)
    scratch = local_scratch(question, PASSED * STARTS)
    zone, cost = best_of_starts(question, scratch)
    best = np.array([cost, 0.0])
    nodes = EXACT_NODES if options.nodes is None else options.nodes
    branch(question, tables_of(question, scratch.costs), tree_of(question), nodes, best, zone)
    cost, bound = best.tolist()
    return OneShotPlacement(zone=zone if cost < np.inf else None, cost=cost, bound=bound, complete=bound >= cost)
