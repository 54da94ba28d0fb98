"""Load above safety capacity (GMRP's load cost), exact."""

import numpy as np

from bayplan.model import Cluster, IntArray, Objective, Placement
from bayplan.score.counts import loads


def machine_overload(cluster: Cluster, placement: Placement) -> IntArray:
    """(machine, resource) load above safety capacity, in base units."""
    above: IntArray = np.maximum(0, loads(cluster, placement) - cluster.machines.safety)
    return above


def overload_cost(cluster: Cluster, placement: Placement, objective: Objective) -> float:
    """The overload of all machines, times `objective.overload_weight` per resource; an exact int if those are whole."""
    amounts: list[int] = machine_overload(cluster, placement).sum(axis=0).tolist()
    weights: list[float] = [int(weight) if weight.is_integer() else weight for weight in objective.overload_weight.tolist()]
    return sum(weight * amount for weight, amount in zip(weights, amounts, strict=True))
