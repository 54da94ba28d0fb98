"""Who talks to whom, and how much: a hub-and-leaf graph whose total affinity per service falls by a power law.

004, Assumption 4.1: the s-th service by total affinity has T(s) ~ s^-beta. M3 bends away from a pure power
law at the head, so we use (s + shift)^-beta.
"""

import numpy as np

from bayplan.generate.rasa.settings import (
    ACTIVE_SHARE,
    BETA,
    DEGREE_BETA,
    DEGREE_SHIFT_M3,
    EDGE_SPREAD,
    EDGES_PER_SERVICE,
    NEW_COMPONENT,
    RANK_SHIFT_M3,
    TRAFFIC_DEGREE,
    Settings,
)
from bayplan.model import FloatArray, IntArray, Traffic, floats, ints

FITTINGS = 200  # rounds of proportional fitting
DIGITS = 6  # significant digits of a weight


def make_traffic(settings: Settings, rng: np.random.Generator) -> Traffic:
    """Edges between services that are numbered by falling traffic. The weights sum to 1."""
    active = round(ACTIVE_SHARE * settings.services)
    target = (np.arange(1, active + 1) + settings.rank_shift) ** -BETA
    pull = _pull(active, settings.rank_shift / RANK_SHIFT_M3, rng)
    low, high = _edges(pull, round(EDGES_PER_SERVICE * settings.services), rng)
    weight = _fitted(low, high, floats(target / target.sum()), rng)
    return Traffic(a=low, b=high, weight=weight)


def _pull(n: int, spread: float, rng: np.random.Generator) -> FloatArray:
    """(service,) how much each draws edges: a power law over ranks that agree with the traffic's in part."""
    z = TRAFFIC_DEGREE * np.sort(rng.standard_normal(n))[::-1] + np.sqrt(1 - TRAFFIC_DEGREE**2) * rng.standard_normal(n)
    rank = np.empty(n)
    rank[np.argsort(-z)] = np.arange(1, n + 1)
    return floats((rank + DEGREE_SHIFT_M3 * spread) ** -DEGREE_BETA)


def _edges(pull: FloatArray, count: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """`count` different edges (low, high): each service to one with more traffic, the rest between hubs."""
    n = len(pull)
    reach = np.cumsum(pull)
    parent = np.searchsorted(reach, rng.random(n) * np.r_[0.0, reach[:-1]], side="right")
    opens = rng.random(n) < NEW_COMPONENT  # has no edge to an earlier service; the next one joins it
    opens[0], opens[-1] = True, False
    joins = np.flatnonzero(opens[:-1]) + 1
    opens[joins] = False
    parent[joins] = joins - 1
    child = np.flatnonzero(~opens)
    key = np.unique(parent[child] * n + child)
    while len(key) < count:
        ends = np.sort(np.searchsorted(reach, rng.random((4 * count, 2)) * reach[-1], side="right"), axis=1)
        extra = ends[ends[:, 0] != ends[:, 1]] @ [n, 1]
        _, first = np.unique(extra, return_index=True)
        fresh = extra[np.sort(first)]
        key = np.r_[key, fresh[~np.isin(fresh, key)][: count - len(key)]]
    key.sort()
    return ints(key // n), ints(key % n)


def _fitted(a: IntArray, b: IntArray, target: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Log-normal weights, scaled by their ends until the total of every service is close to its target.

    The fit is exact where the graph allows it; a leaf cannot have more traffic than its hub.
    """
    n = len(target)
    weight = np.sqrt(target[a] * target[b]) * np.exp(EDGE_SPREAD * rng.standard_normal(len(a)))
    for _ in range(FITTINGS):
        total = np.bincount(a, weight, n) + np.bincount(b, weight, n)
        ratio = np.sqrt(target * total.sum() / total)
        weight *= ratio[a] * ratio[b]
        weight /= weight.sum()
    return floats([float(f"{w:.{DIGITS}g}") for w in weight])
