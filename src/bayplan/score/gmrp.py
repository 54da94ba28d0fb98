"""Overload, balance targets and moves, as the Google Machine Reassignment Problem counts them (ROADEF/EURO 2012).

All of it is exact to the unit where the weights are whole numbers.
"""

from dataclasses import dataclass

import numpy as np

from bayplan.model import UNPLACED, BalanceTarget, Cluster, IntArray, MoveCosts, Objective, Placement
from bayplan.score.counts import loads, workload_counts


def machine_overload(cluster: Cluster, placement: Placement) -> IntArray:
    """(machine, resource) load above safety capacity, in base units."""
    above: IntArray = np.maximum(0, loads(cluster, placement) - cluster.machines.safety)
    return above


def overload_cost(cluster: Cluster, placement: Placement, objective: Objective) -> float:
    """The overload of all machines, times `objective.overload_weight` per resource; an exact int if those are whole."""
    amounts: list[int] = machine_overload(cluster, placement).sum(axis=0).tolist()
    weights: list[float] = [int(weight) if weight.is_integer() else weight for weight in objective.overload_weight.tolist()]
    return sum(weight * amount for weight, amount in zip(weights, amounts, strict=True))


def moved(placement: Placement, before: Placement) -> int:
    """Containers, by name, that left the machine they ran on."""
    return len(placement.moved_from(before))


def moves(cluster: Cluster, placement: Placement, before: Placement) -> int:
    """Containers that must leave a machine when replicas of a workload are interchangeable.

    Sum over (workload, machine) of max(0, count before - count now). Never above `moved`, and equal
    to it once the placement is `relabelled`.
    """
    gone = workload_counts(cluster, before) - workload_counts(cluster, placement)
    return int(gone.data[gone.data > 0].sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveCost:
    """GMRP's three move costs, each already times its weight."""

    container: int = 0  # sum over the moved containers
    service: int = 0  # moved containers of the service that has most of them
    machine: int = 0  # sum of the costs from old to new machine

    @property
    def total(self) -> int:
        """All three together."""
        return self.container + self.service + self.machine


def move_cost(cluster: Cluster, placement: Placement, costs: MoveCosts, before: Placement) -> MoveCost:
    """What GMRP charges for going from `before` to `placement`, container by container.

    A container that lost its machine counts as moved, without a cost between machines. One that had none costs nothing.
    """
    gone = placement.moved_from(before)
    workload = cluster.containers.workload[gone]
    per_service = np.bincount(cluster.workloads.service[workload], minlength=1)
    return MoveCost(
        container=costs.container_weight * sum(costs.container[workload].tolist()),
        service=costs.service_weight * int(per_service.max()),
        machine=costs.machine_weight * _between_machines(placement, costs, before),
    )


def _between_machines(placement: Placement, costs: MoveCosts, before: Placement) -> int:
    if not costs.machine.size:
        return 0
    gone = placement.moved_from(before)
    gone = gone[placement.machine_of[gone] != UNPLACED]
    return sum(costs.machine[before.machine_of[gone], placement.machine_of[gone]].tolist())


def objective_move_cost(cluster: Cluster, placement: Placement, objective: Objective, before: Placement | None) -> MoveCost:
    """`move_cost` under an objective; nothing if it prices no moves or there is no `before`."""
    if objective.move_costs is None or before is None:
        return MoveCost()
    return move_cost(cluster, placement, objective.move_costs, before)


@dataclass(frozen=True, slots=True, kw_only=True)
class GmrpCost:
    """The parts of GMRP's objective, each already times its weight."""

    load: float  # above safety capacity; an int for the whole weights of GMRP
    balance: int  # free amounts below their targets
    moves: MoveCost

    @property
    def total(self) -> float:
        """What GMRP minimises."""
        return self.load + self.balance + self.moves.total


def gmrp_cost(cluster: Cluster, placement: Placement, objective: Objective, before: Placement | None = None) -> GmrpCost:
    """The cost of a placement reached from `before`; without `before`, as if nothing had moved."""
    return GmrpCost(
        load=overload_cost(cluster, placement, objective),
        balance=target_cost(cluster, placement, objective.targets),
        moves=objective_move_cost(cluster, placement, objective, before),
    )


def target_cost(cluster: Cluster, placement: Placement, targets: tuple[BalanceTarget, ...]) -> int:
    """Sum over targets and machines of weight * max(0, target * A(r1) - A(r2)), A the free amount."""
    free = (cluster.machines.capacity - loads(cluster, placement)).astype(object)  # Python ints: a product may pass 2^63
    return sum(t.weight * int(np.maximum(0, t.target * free[:, t.r1] - free[:, t.r2]).sum()) for t in targets)
