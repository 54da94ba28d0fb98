"""Placements in one pass: `greedy` ([Online clusters] Algorithm 3), and `nscd`, the baseline of its §VI."""

import numpy as np

from bayplan.decide.admit.one_shot.one_shot_problem import OneShotOptions, OneShotPlacement, OneShotProblem
from bayplan.kernels.admit.greedy import greedy as place_greedily


def greedy(problem: OneShotProblem, options: OneShotOptions, *, seed: int) -> OneShotPlacement:
    """Each member in turn into the zone where it adds least. No placement means that this order failed, not that nothing fits.

    Line 4 of Algorithm 3 is read as: a zone is dropped when any resource overflows. Beyond it: links keep their bandwidth, and
    of equal zones the one that is least full afterwards is taken, since all prices start at zero. It draws no random numbers.
    """
    zone = np.empty(len(problem.cost), dtype=np.int64)
    traffic = problem.traffic, problem.link, problem.pair, problem.bandwidth
    cost = place_greedily(problem.cost, problem.demand, problem.free, *traffic, zone)
    fits = cost < np.inf
    return OneShotPlacement(zone=zone if fits else None, cost=cost, complete=fits)


def nscd(problem: OneShotProblem, options: OneShotOptions, *, seed: int) -> OneShotPlacement:
    """All members into the cheapest zone, by the sum of P_vs, that holds them all; of equal ones the first.

    Traffic within the zone is paid but does not influence the choice. No placement means that no single zone holds all.
    """
    total = problem.cost.sum(axis=0)
    able = (problem.demand.sum(axis=0) <= problem.free).all(axis=1) & np.isfinite(total)
    for z in np.argsort(total, kind="stable").tolist():
        zone = np.full(len(problem.cost), z, dtype=np.int64)
        if able[z] and np.isfinite(cost := problem.cost_of(zone)):
            return OneShotPlacement(zone=zone, cost=cost)
    return OneShotPlacement(zone=None, cost=np.inf, complete=False)
