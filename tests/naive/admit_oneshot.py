"""The one-shot methods of [Online clusters], slow and obvious."""

from itertools import product

import numpy as np
from tests.builders.one_shot_problems import fits

from bayplan.decide.admit.one_shot.one_shot_problem import OneShotProblem
from bayplan.model import IntArray


def cheapest(problem: OneShotProblem) -> float:
    """(4) by trying all placements; infinite if none fits."""
    v, z = problem.cost.shape
    tried = (np.array(zone) for zone in product(range(z), repeat=v))
    return min((problem.cost_of(zone) for zone in tried if fits(problem, zone)), default=np.inf)


def part_of(problem: OneShotProblem, members: list[int]) -> OneShotProblem:
    """The problem of these members alone."""
    square = np.ix_(members, members)
    return OneShotProblem(
        cost=problem.cost[members],
        demand=problem.demand[members],
        free=problem.free,
        traffic=problem.traffic[square],
        link=problem.link,
        pair=problem.pair[square],
        bandwidth=problem.bandwidth,
    )


def greedily(problem: OneShotProblem) -> IntArray | None:
    """Algorithm 3: each member where all placed so far cost least together; then least full, then lowest."""
    zone: list[int] = []
    for v in range(len(problem.cost)):
        part = part_of(problem, list(range(v + 1)))
        before = part_of(problem, list(range(v))).cost_of(np.array(zone)) if v else 0.0
        options = [(z, np.array([*zone, z])) for z in range(problem.cost.shape[1])]
        able = [(part.cost_of(at) - before, fullness(part, at, z), z) for z, at in options if fits(part, at)]
        if not able:
            return None
        least = min(able)[0]
        zone.append(min((full, z) for more, full, z in able if more <= least + 1e-12)[1])
    return np.array(zone)


def fullness(problem: OneShotProblem, zone: IntArray, z: int) -> float:
    """The largest share of any resource that zone z gives."""
    used = problem.demand[zone == z].sum(axis=0)
    return max((float(u / r) for u, r in zip(used, problem.free[z], strict=True) if u), default=0.0)
