"""The optimum by listing all S^V placements, as the optimal algorithm of [Online clusters] §VI-A does."""

from collections.abc import Sequence
from itertools import product

import numpy as np

from bayplan.decide.admit.one_shot.one_shot_problem import OneShotPlacement, OneShotProblem
from bayplan.model import BoolArray, FloatArray, IntArray, ints

TOGETHER = 7  # members whose placements are listed in one array: 9^7 costs are 38 MB
Zones = Sequence[Sequence[int]]  # for each member those in which it is tried


def listing(problem: OneShotProblem) -> OneShotPlacement:
    """The cheapest of all placements that keep (4a), whole arrays of placements at a time."""
    members, zones = problem.cost.shape
    least, best = np.inf, None
    for head in product(range(zones), repeat=max(0, members - TOGETHER)):
        tried = [*([z] for z in head), *(range(zones) for _ in range(members - len(head)))]
        cost = np.where(_fitting(problem, tried), _costs(problem, tried), np.inf)
        at = np.unravel_index(int(cost.argmin()), cost.shape)
        if cost[at] < least:
            least, best = float(cost[at]), ints([zone[k] for zone, k in zip(tried, at, strict=True)])
    return OneShotPlacement(zone=best, cost=least, bound=least)


def _costs(problem: OneShotProblem, tried: Zones) -> FloatArray:
    """Cost (4) of each placement; axis v has the zones of member v."""
    total = np.zeros([len(zones) for zones in tried])
    for v in range(len(tried)):
        total += _along(problem.cost[v], (v,), tried)
        for w in range(v):
            total += _along(_both(problem, w, v), (w, v), tried)
    return total


def _both(problem: OneShotProblem, v: int, w: int) -> FloatArray:
    """(zone of v, zone of w) the cost of their traffic, both ways."""
    forth = problem.traffic[v, w] * problem.link[problem.pair[v, w]]
    return np.asarray(forth + problem.traffic[w, v] * problem.link[problem.pair[w, v]].T, dtype=np.float64)


def _fitting(problem: OneShotProblem, tried: Zones) -> BoolArray:
    """Does each placement keep (4a)? Where all members fit into one zone, it need not be computed."""
    fits = np.ones([len(zones) for zones in tried], dtype=np.bool_)
    for z, r in np.argwhere(problem.demand.sum(axis=0) > problem.free).tolist():
        load: IntArray = np.zeros(fits.shape, dtype=np.int64)
        for v, amount in enumerate(problem.demand[:, r].tolist()):
            load += _along(amount * (np.arange(len(problem.free)) == z), (v,), tried)
        fits &= load <= problem.free[z, r]
    return fits


def _along(values: FloatArray | IntArray, members: tuple[int, ...], tried: Zones) -> FloatArray | IntArray:
    """An array over all zones of one or two members, in order, as one over the zones that are tried."""
    chosen = values[np.ix_(*(tried[v] for v in members))]
    return chosen.reshape([len(zones) if v in members else 1 for v, zones in enumerate(tried)])


def one_by_one(problem: OneShotProblem) -> OneShotPlacement:
    """The cheapest of all placements that keep (4a), each priced by itself, in a loop of the interpreter."""
    members, zones = problem.cost.shape
    single, pairs = problem.cost.tolist(), [(v, w, _both(problem, v, w).tolist()) for w in range(members) for v in range(w)]
    demand, free = problem.demand.T.tolist(), problem.free.T.tolist()
    least, best = np.inf, None
    for zone in product(range(zones), repeat=members):
        if not all(_keeps(zone, amounts, limits) for amounts, limits in zip(demand, free, strict=True)):
            continue
        cost = sum(single[v][z] for v, z in enumerate(zone)) + sum(both[zone[v]][zone[w]] for v, w, both in pairs)
        if cost < least:
            least, best = cost, zone
    return OneShotPlacement(zone=None if best is None else ints(best), cost=least, bound=least)


def _keeps(zone: Sequence[int], amounts: Sequence[int], limits: Sequence[int]) -> bool:
    """Does no zone get more of a resource than it has?"""
    left = list(limits)
    for z, amount in zip(zone, amounts, strict=True):
        left[z] -= amount
    return min(left) >= 0
