"""What "good" means: weights per term, target ratios, distances, and the costs of GMRP."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np

from bayplan.errors import ModelError
from bayplan.model.arrays import FloatArray, IntArray, floats, ints
from bayplan.model.cluster import Cluster


class Term(StrEnum):
    """The terms of the objective. All are costs, except affinity, which is a gain."""

    UTILISATION = "utilisation"  # U: variance of utilisation ([FreeContainer] (3))
    BALANCE = "balance"  # B: residual balance ([FreeContainer] (5))
    COMMUNICATION = "communication"  # C: traffic times distance ([FreeContainer] (1))
    OVERLOAD = "overload"  # load above safety capacity (GMRP)
    TARGETS = "targets"  # GMRP's one-sided balance of residuals
    AFFINITY = "affinity"  # A: gained affinity ([RASA] (1)-(2)), subtracted
    MOVES = "moves"  # number of moved containers
    MOVE_COST = "move-cost"  # GMRP's process, service and machine move costs


@dataclass(frozen=True, slots=True, kw_only=True)
class BalanceTarget:
    """GMRP: each machine pays weight * max(0, target * A(r1) - A(r2)), A the residual amount."""

    r1: int
    r2: int
    target: int
    weight: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MoveCosts:
    """GMRP's cost of moving: per process, of the most moved service, and between machines."""

    container: IntArray  # (workload,) cost of moving one container of it
    machine: IntArray  # (machine, machine) cost from, to; or (0, 0) for none
    container_weight: int = 1
    service_weight: int = 1
    machine_weight: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "container", ints(self.container))
        object.__setattr__(self, "machine", ints(self.machine))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Objective:
    """A value of its own: the same cluster can be scored by several.

    >>> import bayplan as bp
    >>> shop = bp.generate("boutique")
    >>> local = shop.objective.with_weights({"affinity": 1.0})
    >>> bp.rebalance(shop, objective=local, budget=bp.Budget(iterations=20_000)).goal
    'objective'
    """

    weight: Mapping[Term, float]
    ratio: FloatArray  # (resource, resource) t(r, r') of [FreeContainer] (4); t(r', r) = 1 / t(r, r')
    hop: FloatArray  # (level,) added to the distance of two machines for each level they do not share
    overload_weight: FloatArray  # (resource,) cost of one base unit above safety; GMRP's are whole numbers
    targets: tuple[BalanceTarget, ...] = ()
    move_costs: MoveCosts | None = None
    explicit: bool = field(default=False)  # stated by the user, or the default of [FreeContainer]?

    def __post_init__(self) -> None:
        object.__setattr__(self, "weight", {Term(term): float(value) for term, value in self.weight.items()})
        object.__setattr__(self, "ratio", floats(self.ratio))
        object.__setattr__(self, "hop", floats(self.hop))
        object.__setattr__(self, "overload_weight", floats(self.overload_weight))
        if any(not np.isfinite(value) or value < 0 for value in self.weight.values()):
            raise ModelError("objective weights are finite and not negative")
        if not (np.isfinite(self.hop) & (self.hop >= 0)).all():
            raise ModelError("hops are finite and not negative")
        if not (np.isfinite(self.overload_weight) & (self.overload_weight >= 0)).all():
            raise ModelError("overload weights are finite and not negative")
        if (self.ratio <= 0).any() or not np.allclose(self.ratio * self.ratio.T, 1.0, rtol=1e-9):
            raise ModelError("target ratios are positive and t(r', r) = 1 / t(r, r')")

    def misfits(self, cluster: Cluster) -> list[str]:
        """What of this objective does not fit a cluster."""
        n_r, n_l = len(cluster.resources), len(cluster.levels)
        n_m, n_w = len(cluster.machines.name), len(cluster.workloads.name)
        costs = self.move_costs
        checks = {
            "ratios": self.ratio.shape == (n_r, n_r),
            "hops": self.hop.shape == (n_l,),
            "overload weights": self.overload_weight.shape == (n_r,),
            "balance targets": all(0 <= r < n_r for target in self.targets for r in (target.r1, target.r2)),
            "container move costs": costs is None or costs.container.shape == (n_w,),
            "machine move costs": costs is None or costs.machine.shape in ((0, 0), (n_m, n_m)),
        }
        return [name for name, holds in checks.items() if not holds]

    @classmethod
    def default(cls, cluster: Cluster) -> "Objective":
        """[FreeContainer] §VI-B: weights 1, 1/|H|, 1/|C|^2; every ratio 1; distance 1 off the machine.

        Overload is counted in largest machines: a resource's unit costs 1 / the largest capacity.
        """
        n_r = len(cluster.resources)
        machines, containers = max(1, len(cluster.machines.name)), max(1, len(cluster.containers.name))
        return cls(
            weight={Term.UTILISATION: 1.0, Term.BALANCE: 1.0 / machines, Term.COMMUNICATION: 1.0 / containers**2},
            ratio=floats(np.ones((n_r, n_r))),
            hop=floats([1.0] + [0.0] * (len(cluster.levels) - 1)),
            overload_weight=floats(1.0 / np.maximum(1, cluster.machines.capacity.max(axis=0, initial=0))),
        )

    def with_weights(self, weight: Mapping[Term, float]) -> "Objective":
        """The same objective under other weights."""
        return replace(self, weight=weight, explicit=True)
