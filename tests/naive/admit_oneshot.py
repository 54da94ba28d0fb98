"""The one-shot methods of 001, slow and obvious."""

from itertools import product

import numpy as np
from tests.builders.oneshot_cases import fits

from bayplan.decide.admit.oneshot.case import Case
from bayplan.model import IntArray


def cheapest(case: Case) -> float:
    """(4) by trying all placements; infinite if none fits."""
    v, z = case.cost.shape
    tried = (np.array(zone) for zone in product(range(z), repeat=v))
    return min((case.cost_of(zone) for zone in tried if fits(case, zone)), default=np.inf)


def part_of(case: Case, members: list[int]) -> Case:
    """The case of these members alone."""
    square = np.ix_(members, members)
    return Case(
        cost=case.cost[members],
        demand=case.demand[members],
        room=case.room,
        traffic=case.traffic[square],
        link=case.link,
        pair=case.pair[square],
        bandwidth=case.bandwidth,
    )


def greedily(case: Case) -> IntArray | None:
    """Algorithm 3: each member where all placed so far cost least together; then least full, then lowest."""
    zone: list[int] = []
    for v in range(len(case.cost)):
        part = part_of(case, list(range(v + 1)))
        before = part_of(case, list(range(v))).cost_of(np.array(zone)) if v else 0.0
        options = [(z, np.array([*zone, z])) for z in range(case.cost.shape[1])]
        able = [(part.cost_of(at) - before, fullness(part, at, z), z) for z, at in options if fits(part, at)]
        if not able:
            return None
        least = min(able)[0]
        zone.append(min((full, z) for more, full, z in able if more <= least + 1e-12)[1])
    return np.array(zone)


def fullness(case: Case, zone: IntArray, z: int) -> float:
    """The largest share of any resource that zone z gives."""
    used = case.demand[zone == z].sum(axis=0)
    return max((float(u / r) for u, r in zip(used, case.room[z], strict=True) if u), default=0.0)
