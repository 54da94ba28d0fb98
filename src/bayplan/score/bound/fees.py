"""What a move costs, container by container."""

import numpy as np

from bayplan.model import UNPLACED, Cluster, FloatArray, Objective, Term
from bayplan.score.bound.reach import Reach


def fees(cluster: Cluster, objective: Objective, within: Reach) -> FloatArray:
    """(kind, machine) what a move there costs. Nothing for new containers, nor for the service that moves most."""
    fee = np.zeros((len(within.home), len(cluster.machines.name)))
    ran = within.home != UNPLACED
    costs, weight = objective.move_costs, objective.weight.get(Term.MOVE_COST, 0.0)
    priced = costs is not None and weight > 0
    if costs is not None and priced:
        fee[ran] += weight * costs.container_weight * costs.container[within.workload[ran], None]
        if costs.machine.size:
            fee[ran] += weight * costs.machine_weight * costs.machine[within.home[ran]]
    # Replicas are interchangeable, so each that leaves is a move once the best names are given: but prices ask who it is.
    counts = ran & ((cluster.replicas[within.workload] == 1) | (not priced))
    fee[counts] += objective.weight.get(Term.MOVES, 0.0)
    return fee
