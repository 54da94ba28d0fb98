"""A proven lower bound of the objective: no valid placement of all containers costs less. `docs/scores.md` has the formulas."""

import math

import numpy as np

from bayplan.model import UNPLACED, BoolArray, Cluster, FloatArray, Objective, Placement, Term, ints
from bayplan.score.affinity import total_affinity
from bayplan.score.bound.communication_bounds import communication_bounds
from bayplan.score.bound.overload_bound import ROUNDING, hinges, in_total
from bayplan.score.bound.price_bound import CELLS, FEWEST_STEPS, best_bound, priced_problem
from bayplan.score.bound.reachable import Reachable, reachable
from bayplan.score.bound.variance_bound import utilisation_bound


def move_fees(cluster: Cluster, objective: Objective, within: Reachable) -> FloatArray:
    """(kind, machine) what a move there costs. Nothing for new containers, nor for the service that moves most."""
    fee = np.zeros((len(within.home), len(cluster.machines.name)))
    ran = within.home != UNPLACED
    costs, weight = objective.move_costs, objective.weight.get(Term.MOVE_COST, 0.0)
    priced = costs is not None and weight > 0
    if costs is not None and priced:
        fee[ran] += weight * costs.container_weight * costs.container[within.workload[ran], None]
        if costs.machine.size:
            fee[ran] += weight * costs.machine_weight * costs.machine[within.home[ran]]
    # Replicas are interchangeable, so each that leaves is a move under the best renaming; but move costs depend on which it is.
    counts = ran & ((cluster.replicas[within.workload] == 1) | (not priced))
    fee[counts] += objective.weight.get(Term.MOVES, 0.0)
    return fee


def lower_bound(cluster: Cluster, objective: Objective, before: Placement, movable: BoolArray | None = None) -> float | None:
    """A lower bound of `weighted` over all placements that have a machine for every container and keep every rule.

    Containers that run in `before` and that `movable` (container,) does not mark stay where they are. None if nothing can be
    proven: there is no such placement, or a cost is negative. An invalid or incomplete placement may cost less.
    """
    within = reachable(cluster, before, movable) if _costs_are_positive(objective) else None
    if within is None:
        return None
    weight = {term: objective.weight.get(term, 0.0) for term in Term}
    bound = _loads_and_moves(cluster, objective, within)
    if weight[Term.UTILISATION]:
        bound += weight[Term.UTILISATION] * utilisation_bound(cluster, within)
    if weight[Term.COMMUNICATION]:
        everything = Placement(machine_of=ints(np.zeros(len(cluster.containers.name))))
        least = communication_bounds(cluster, everything, objective).lower
        bound += weight[Term.COMMUNICATION] * least * (1 - ROUNDING)
    if total_affinity(cluster) > 0:
        bound -= weight[Term.AFFINITY]  # all of the affinity is 1
    return float(math.ceil(bound)) if _is_whole(objective) else bound


def _costs_are_positive(objective: Objective) -> bool:
    costs = objective.move_costs
    factors = [target.weight for target in objective.targets]
    if costs is not None:
        factors += [costs.container_weight, costs.machine_weight, costs.service_weight]
        factors += [int(costs.container.min(initial=0)), int(costs.machine.min(initial=0))]
    return min(factors, default=0) >= 0


def _is_whole(objective: Objective) -> bool:
    """Is every cost a whole number, so that a bound may be rounded up?"""
    whole = (Term.OVERLOAD, Term.TARGETS, Term.MOVES, Term.MOVE_COST)
    terms_are = all(value.is_integer() and (term in whole or not value) for term, value in objective.weight.items())
    return terms_are and not (objective.overload_weight % 1).any()


def _loads_and_moves(cluster: Cluster, objective: Objective, within: Reachable) -> float:
    """A bound of overload, targets, residual balance and the cost of moves, all together."""
    shapes = hinges(cluster, objective, within)
    total = in_total(shapes, within)
    if within.can is None or not within.can.size or within.can.size * FEWEST_STEPS > CELLS:
        return total.bound
    problem = priced_problem(cluster, within, within.can, shapes, move_fees(cluster, objective, within))
    return max(total.bound, best_bound(problem, total.share))
