"""How little the utilisations of machines can vary when a part of the load cannot move ([FreeContainer] (3))."""

import numpy as np

from bayplan.model import Cluster, FloatArray
from bayplan.score.bound.overload_bound import ROUNDING
from bayplan.score.bound.reachable import Reachable

ROUNDS, HALVINGS = 15, 40


def utilisation_bound(cluster: Cluster, within: Reachable) -> float:
    """The least U if the load that can move could be split at will; 0 for a resource that a machine lacks but may need."""
    bound = 0.0
    for r in range(len(cluster.resources)):
        has = cluster.machines.capacity[:, r] > 0
        if has.any() and not within.most[~has, r].any():
            capacity = cluster.machines.capacity[has, r].astype(np.float64)
            low, high = within.least[has, r] / capacity, within.most[has, r] / capacity
            bound += least_variance(capacity, low, high, float(within.total[r]))
    return bound


def least_variance(capacity: FloatArray, low: FloatArray, high: FloatArray, load: float) -> float:
    """A lower bound of the variance of values between `low` and `high` whose sum with weights `capacity` is `load`.

    For every y that adds up to 0, n variance(u) >= 2 y.u - y.y. With y = u - mean(u) of the least varying u, equality holds;
    with another y it is a bound nevertheless, for the u that makes y.u smallest.
    """
    level = load / capacity.sum()
    if (low <= level).all() and (level <= high).all():
        return 0.0
    u = _least_varying(capacity, low, high, load)
    y = u - u.mean()
    y -= y.mean()
    smallest = float(y @ (_cheapest(y / capacity, capacity * low, capacity * high, load) / capacity))
    lost = ROUNDING * float(abs(y) @ high)
    return max(0.0, (2 * smallest - float(y @ y) - lost) / len(y))


def _least_varying(capacity: FloatArray, low: FloatArray, high: FloatArray, load: float) -> FloatArray:
    """About the u of least variance: in turn the best u around a centre (centre + slope * capacity, clipped) and its mean."""
    u = np.clip(np.full_like(capacity, load / capacity.sum()), low, high)
    for _ in range(ROUNDS):
        centre, reach = u.mean(), float(high.max()) + 1.0
        below, above = -reach / capacity.min(), reach / capacity.min()
        for _ in range(HALVINGS):
            slope = (below + above) / 2
            u = np.clip(centre + slope * capacity, low, high)
            below, above = (below, slope) if capacity @ u > load else (slope, above)
    return u


def _cheapest(price: FloatArray, low: FloatArray, high: FloatArray, load: float) -> FloatArray:
    """Loads between `low` and `high` that add up to `load` and cost least: the cheapest machines are filled first."""
    order = np.argsort(price, kind="stable")
    free = (high - low)[order]
    filled = np.clip(load - low.sum() - (np.cumsum(free) - free), 0.0, free)
    loads = low.copy()
    loads[order] += filled
    return loads
