"""U, B and C between their bounds: 0 at the lower, 1 at the upper ([FreeContainer] §VI-A1).

The paper defines bounds for C alone. For U and B they are what the placed requests leave possible when containers
could be split at will. Every valid placement lies inside; `docs/scores.md` derives the formulas.
"""

from collections.abc import Mapping

import numpy as np

from bayplan.model import Cluster, IntArray, Objective, Placement, Term
from bayplan.score.balance import balance_cost, communication_cost, utilisation_cost
from bayplan.score.bound.communication_bounds import Bounds, capped_resources, communication_bounds
from bayplan.score.counts import loads

NARROW = 1e-9  # share of the bounds: if they are closer, there is no choice, and so far a value may be beyond one by rounding


def normalised(cluster: Cluster, placement: Placement, objective: Objective) -> Mapping[str, float]:
    """U, B and C as 0 (best) .. 1 (worst); nan where an invalid placement is beyond a bound."""
    value = {
        Term.UTILISATION: utilisation_cost(cluster, placement),
        Term.BALANCE: balance_cost(cluster, placement, objective),
        Term.COMMUNICATION: communication_cost(cluster, placement, objective),
    }
    limits = bounds(cluster, placement, objective)
    return {term.value: _between(value[term], limits[term]) for term in value}


def bounds(cluster: Cluster, placement: Placement, objective: Objective) -> Mapping[Term, Bounds]:
    """The bounds of U, B and C over all valid placements of the containers that `placement` places."""
    return {
        Term.UTILISATION: utilisation_bounds(cluster, placement),
        Term.BALANCE: balance_bounds(cluster, placement, objective),
        Term.COMMUNICATION: communication_bounds(cluster, placement, objective),
    }


def _between(value: float, limits: Bounds) -> float:
    width, rounding = limits.upper - limits.lower, 1e-12 + NARROW * max(abs(limits.lower), abs(limits.upper))
    if not limits.lower - rounding <= value <= limits.upper + rounding:
        return float("nan")
    return float(np.clip((value - limits.lower) / width, 0.0, 1.0)) if width > rounding else 0.0


def utilisation_bounds(cluster: Cluster, placement: Placement) -> Bounds:
    """0, and per resource the variance when the load fills as few machines as possible."""
    load = loads(cluster, placement).sum(axis=0)
    capped = set(capped_resources(cluster).tolist())
    upper = 0.0
    for r in range(len(cluster.resources)):
        capacity = cluster.machines.capacity[cluster.machines.capacity[:, r] > 0, r]
        if capacity.size:
            upper += _packed(capacity, int(load[r])) if r in capped else _stacked(capacity, int(load[r]))
    return Bounds(0.0, upper)


def _packed(capacity: IntArray, load: int) -> float:
    """mean (1 - mean): no values in 0..1 with that mean vary more, and those that do are all 0 or 1.

    With unlike machines the mean utilisation is not fixed: the worst one within its range counts.
    """
    largest_first = np.sort(capacity)[::-1]
    low, high = _machines_filled(largest_first, load), _machines_filled(largest_first[::-1], load)
    worst = min(max(0.5, low), high)
    return worst * (1 - worst)


def _machines_filled(capacity: IntArray, load: int) -> float:
    """The share of machines that the load fills, in the given order, the last one in part."""
    filled = np.clip((load - (np.cumsum(capacity) - capacity)) / capacity, 0.0, 1.0)
    return float(filled.mean())


def _stacked(capacity: IntArray, load: int) -> float:
    """Without a capacity rule everything may run on the smallest machine."""
    n = len(capacity)
    return float((load / capacity.min()) ** 2 * (n - 1) / n**2)


def balance_bounds(cluster: Cluster, placement: Placement, objective: Objective) -> Bounds:
    """Sums over ordered pairs of resources of what the total free amounts allow."""
    lower = upper = 0.0
    for i in range(len(cluster.resources)):
        for j in range(len(cluster.resources)):
            if i != j:
                part = _pair_bounds(cluster, placement, (i, j), float(objective.ratio[i, j]))
                lower, upper = lower + part.lower, upper + part.upper
    return Bounds(lower, upper)


def _pair_bounds(cluster: Cluster, placement: Placement, pair: tuple[int, int], ratio: float) -> Bounds:
    """Bounds of sum over machines of max(0, A_i - t A_j), with A = a - load and a the relative capacity.

    Below: the positive parts are no less than the sum. Above: at most sum A_i, where A_j cannot be negative;
    and at most sum max(0, a_i - t a_j) + t load_j, since loads are not negative.
    """
    both = (cluster.machines.capacity[:, pair] > 0).all(axis=1)
    if not both.any():
        return Bounds(0.0, 0.0)
    capped = set(capped_resources(cluster).tolist())
    capacity = cluster.machines.capacity[:, pair] / cluster.machines.capacity[:, pair].max(axis=0)
    load = loads(cluster, placement)[:, pair].sum(axis=0) / cluster.machines.capacity[:, pair].max(axis=0)
    inside, outside = capacity[both].sum(axis=0), capacity[~both].sum(axis=0)
    limited = np.array([r in capped for r in pair])
    least = np.where(limited, np.maximum(0.0, load - outside), load if both.all() else 0.0)  # load on these machines
    most = np.where(limited, np.minimum(load, inside), load)
    lower = max(0.0, (inside[0] - most[0]) - ratio * (inside[1] - least[1]))
    upper = np.maximum(0.0, capacity[both, 0] - ratio * capacity[both, 1]).sum() + ratio * most[1]
    if limited[1]:
        upper = min(upper, inside[0] - (least[0] if limited[0] else 0.0))
    return Bounds(float(lower), float(upper))
