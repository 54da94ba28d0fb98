"""Load above safety capacity (GMRP's load cost), exact."""

import numpy as np

from bayplan.model import Cluster, IntArray, Objective, Placement
from bayplan.score.counts import loads


def machine_overload(cluster: Cluster, placement: Placement) -> IntArray:
    """(machine, resource) load above safety capacity, in base units."""
    above: IntArray = np.maximum(0, loads(cluster, placement) - cluster.machines.safety)
    return above


def overload_cost(cluster: Cluster, placement: Placement, objective: Objective) -> int:
    """Sum over resources of `objective.overload_weight` times the overload of all machines."""
    per_resource = machine_overload(cluster, placement).sum(axis=0).tolist()
    return sum(weight * amount for weight, amount in zip(objective.overload_weight.tolist(), per_resource, strict=True))
