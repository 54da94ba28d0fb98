"""`local`: greedy from many starts, each made cheaper by exchange."""

import numpy as np

from bayplan.decide.admit.oneshot.case import Case, Placing
from bayplan.decide.admit.oneshot.greedy import greedy
from bayplan.decide.admit.oneshot.signature import OneShotOptions
from bayplan.decide.admit.oneshot.tables import question_of, standing_of, tables_of, tree_of
from bayplan.kernels.admit.branch import Tables, branch
from bayplan.kernels.admit.climb import search
from bayplan.kernels.admit.question import Question
from bayplan.model import IntArray

STARTS = 24  # at 8 members and 42 zones about a millisecond
SMALL = 36  # members x zones
LOOKS = 2_000  # nodes of a tree search


def local(case: Case, options: OneShotOptions, *, seed: int) -> Placing:
    """No move of one or two members makes the placement cheaper. Nothing is drawn. `options.nodes`: starts.

    Where the case is small, or no start finds room for all, a short tree search goes on from there: it finds a better placement,
    or proves that there is none, or gives up.
    """
    question = question_of(case)
    tables = tables_of(question)
    if tables is None:
        return greedy(case, options, seed=seed)
    zone, cost = climbed(question, tables, STARTS if options.nodes is None else options.nodes)
    if cost < np.inf and case.cost.size > SMALL:
        return Placing(zone=zone, cost=cost)
    best = np.array([cost, 0.0])
    branch(question, tables, tree_of(question), LOOKS, best, zone)
    cost, bound = best.tolist()
    return Placing(zone=zone if cost < np.inf else None, cost=cost, bound=bound, complete=cost < np.inf or bound == np.inf)


def climbed(question: Question, tables: Tables, starts: int) -> tuple[IntArray, float]:
    """The zones of the best of so many starts, and their cost; infinite if none fits. Large members go first."""
    zone = np.empty(len(question.cost), dtype=np.int64)
    largest = question.room.max(axis=0, initial=1)
    order = np.argsort(-(question.demand / largest).max(axis=1, initial=0.0), kind="stable")
    zones = np.argsort(question.cost.sum(axis=0), kind="stable")
    cost = search(question, tables, order, zones, starts, standing_of(question), zone)
    return zone, cost
