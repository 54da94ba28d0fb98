"""The objective of the Google Machine Reassignment Problem (ROADEF/EURO 2012), exact to the unit."""

from dataclasses import dataclass

import numpy as np

from bayplan.model import BalanceTarget, Cluster, Objective, Placement
from bayplan.score.churn import MoveCost, objective_move_cost
from bayplan.score.counts import loads
from bayplan.score.overload import overload_cost


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
