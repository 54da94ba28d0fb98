"""What a change of placement moves, and GMRP's price of it. All exact integers."""

from dataclasses import dataclass

import numpy as np

from bayplan.model import UNPLACED, Cluster, MoveCosts, Objective, Placement
from bayplan.score.counts import workload_counts


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

    container: int = 0  # sum of the moved containers' prices
    service: int = 0  # moved containers of the service that has most of them
    machine: int = 0  # sum of the prices from old to new machine

    @property
    def total(self) -> int:
        """All three together."""
        return self.container + self.service + self.machine


def move_cost(cluster: Cluster, placement: Placement, costs: MoveCosts, before: Placement) -> MoveCost:
    """What GMRP charges for going from `before` to `placement`, container by container.

    A container that lost its machine pays as moved, without a price between machines. One that had none pays nothing.
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
