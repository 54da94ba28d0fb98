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


def by_exchange(problem: OneShotProblem, starts: int) -> float:
    """The least cost of these starts, each improved by moves of one member, and where none helps of two; infinite if none fits.

    The first start is the cheapest zone for all members. Any other puts one of them into a zone, and the others, large ones
    first, where they cost least. All costs are those of whole placements.
    """
    (v, z), found = problem.cost.shape, [np.inf]
    largest = problem.free.max(axis=0, initial=1)
    order = np.argsort(-(problem.demand / largest).max(axis=1, initial=0.0), kind="stable").tolist()
    zones = np.argsort(problem.cost.sum(axis=0), kind="stable").tolist()
    for i in range(starts):
        first = (i + i // z) % v
        started = in_one_zone(problem) if i == 0 else in_order(problem, order[first:] + order[:first], zones[i % z])
        if started is not None:
            found.append(problem.cost_of(exchanged(problem, started)))
    return min(found)


def in_one_zone(problem: OneShotProblem) -> IntArray | None:
    """All members in the zone where that costs least."""
    v, z = problem.cost.shape
    tried = [np.full(v, at) for at in range(z)]
    return min((zone for zone in tried if fits(problem, zone)), key=problem.cost_of, default=None)


def in_order(problem: OneShotProblem, order: list[int], z: int) -> IntArray | None:
    """The first member in zone z, the others in turn where those placed so far cost least together."""
    at: list[int] = []
    for i in range(len(order)):
        part = part_of(problem, order[: i + 1])
        tried = [np.array([*at, other]) for other in (range(problem.cost.shape[1]) if i else [z])]
        best = min((zone for zone in tried if fits(part, zone)), key=part.cost_of, default=None)
        if best is None:
            return None
        at = best.tolist()
    zone = np.empty(len(order), dtype=np.int64)
    zone[order] = at
    return zone


def exchanged(problem: OneShotProblem, zone: IntArray) -> IntArray:
    """The placement after rounds of moves, as long as a round makes it cheaper."""
    members, before = range(len(zone)), np.inf
    while problem.cost_of(zone) < before:
        before = problem.cost_of(zone)
        for v in members:
            zone = moved(problem, zone, [v])
        if problem.cost_of(zone) < before:
            continue
        for v in members:
            for w in range(v):
                zone = moved(problem, zone, [v, w])
    return zone


def moved(problem: OneShotProblem, zone: IntArray, members: list[int]) -> IntArray:
    """The cheapest placement with these members elsewhere; as before if none is cheaper. Ties: the lowest zones."""
    best = zone
    for at in product(range(problem.cost.shape[1]), repeat=len(members)):
        other = zone.copy()
        other[members] = at
        if fits(problem, other) and problem.cost_of(other) < problem.cost_of(best) - 1e-10:
            best = other
    return best
