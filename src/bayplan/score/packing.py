"""A packing in numbers: what it takes of one resource, and how often its machines overflow. Amounts are floats in base units."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from bayplan.model import NO_LIMIT, UNPLACED, Cluster, FloatArray, IntArray, Placement, Resource, floats, ints
from bayplan.score.confidence import usage, violation_probability
from bayplan.score.counts import containers_on
from bayplan.score.empirical import sampled_draws
from bayplan.score.monte_carlo import OverflowDraws, normal_draws, rates_in_turn

NUMBERS = 20_000_000  # drawn for all machines together: about half a second
FEWEST_DRAWS, MOST_DRAWS = 200, 10_000  # for each machine
SHOWN = 20  # machines in a table
CLOSELY = 20_000  # draws for each of these


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChanceConstraint:
    """One resource whose usage stays within capacity with a stated probability: mean + d sqrt(variance) <= capacity.

    [UCaC] (2), with d = D(alpha).
    """

    resource: int
    mean: FloatArray  # (workload,)
    variance: FloatArray  # (workload,)
    deviate: FloatArray  # (workload,) d; on a machine the largest of those that run there counts
    capacity: FloatArray  # (machine,)


def strictest_ucac(cluster: Cluster, placement: Placement, constraint: ChanceConstraint) -> FloatArray:
    """(machine,) UCaC in base units, with the deviate of the strictest workload on each machine."""
    machine, w = placement.machine_of[placement.placed], cluster.containers.workload[placement.placed]
    d = np.zeros(len(constraint.capacity))
    np.maximum.at(d, machine, constraint.deviate[w])
    mean = np.bincount(machine, weights=constraint.mean[w], minlength=len(d))
    uncertain: FloatArray = d * np.sqrt(np.bincount(machine, weights=constraint.variance[w], minlength=len(d)))
    return mean + uncertain


def ucac_of_counts(constraint: ChanceConstraint, count: IntArray) -> FloatArray:
    """(machine,) UCaC in base units of `count` (machine, workload) containers, with the deviate of the strictest workload."""
    d = np.where(count > 0, constraint.deviate, 0.0).max(axis=1, initial=0.0)
    return floats(count @ constraint.mean + d * np.sqrt(count @ constraint.variance))


@dataclass(frozen=True, slots=True, kw_only=True)
class OverflowOdds:
    """How probable it is that a machine uses more than it has."""

    largest: float  # of all machines
    mean: float  # over the machines that run something


@dataclass(frozen=True, slots=True, kw_only=True)
class PackFigures:
    """What one placement takes of the resource that counts."""

    resource: Resource
    alpha: float
    machines: int  # that run something
    containers: int
    capacity: float  # of these machines
    ucac: float
    mean: float
    reserved: float | None  # the sum of the limits, or of the requests where no limits are stated; None if neither is
    reserved_by: str  # "limits" or "requests"
    predicted: OverflowOdds
    simulated: OverflowOdds
    draws: int  # for each machine

    @property
    def over_commitment(self) -> float | None:
        """What is reserved, in times of the capacity in use; None if nothing is reserved."""
        return self.reserved / self.capacity if self.reserved is not None and self.capacity else None


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedMachine:
    """What one machine runs, and how often it overflows."""

    machine: str
    containers: int
    capacity: float
    mean: float
    ucac: float
    reserved: float | None
    predicted: float
    simulated: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceLevel:
    """The same containers packed at another confidence, by a quick method."""

    alpha: float | None  # None: by limits or requests, as if all were used at once
    by: str  # "limits", "requests" or "" for a confidence
    machines: int
    ucac: float  # at this confidence; by limits: what is reserved
    left_out: int
    saved: int | None  # machines fewer than by limits; None if there are none to compare with
    at_least: bool = False  # by limits some are left out, so more would be saved


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reservation:
    """What is reserved for containers."""

    by: str  # "limits" or "requests"
    amount: IntArray  # (workload,)


def reservation_of(cluster: Cluster, resource: int) -> Reservation | None:
    """The limits if all workloads state one, else the requests if all state one."""
    limit, request = cluster.workloads.limit[:, resource], cluster.workloads.request[:, resource]
    if len(limit) and (limit != NO_LIMIT).all():
        return Reservation(by="limits", amount=limit)
    return Reservation(by="requests", amount=request) if len(request) and (request > 0).all() else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Simulation:
    """How usage is drawn: from samples by workload, if there are some, and where."""

    samples: Mapping[int, FloatArray] = field(default_factory=dict)
    seed: int = 0
    draw: Callable[[OverflowDraws], FloatArray] = rates_in_turn  # or what draws blocks elsewhere: the rates are the same

    def rates_of(self, cluster: Cluster, placement: Placement, resource: int, draws: int) -> FloatArray:
        """(machine,) how often usage exceeds capacity if it is drawn."""
        if self.samples:
            return self.draw(sampled_draws(cluster, placement, resource, self.samples, draws, self.seed))
        return self.draw(normal_draws(cluster, placement, resource, draws=draws, seed=self.seed))


SIMULATION = Simulation()


def pack_figures(
    cluster: Cluster,
    placement: Placement,
    constraint: ChanceConstraint,
    *,
    alpha: float,
    simulation: Simulation = SIMULATION,
    most_draws: int = MOST_DRAWS,
) -> PackFigures:
    """The numbers of one placement. Usage is drawn as the cluster or the samples state it, whatever the constraint assumes."""
    r = constraint.resource
    busy, reservation = containers_on(cluster, placement) > 0, reservation_of(cluster, r)
    workload = cluster.containers.workload[placement.placed]
    draws = int(np.clip(NUMBERS // max(1, len(workload)), FEWEST_DRAWS, most_draws))
    return PackFigures(
        resource=cluster.resources[r],
        alpha=alpha,
        machines=int(busy.sum()),
        containers=len(workload),
        capacity=float(cluster.machines.capacity[busy, r].sum()),
        ucac=float(strictest_ucac(cluster, placement, constraint).sum()),
        mean=float(cluster.workloads.usage_mean[workload, r].sum()),
        reserved=None if reservation is None else float(reservation.amount[workload].sum()),
        reserved_by="" if reservation is None else reservation.by,
        predicted=_odds(violation_probability(cluster, placement, r)[busy]),
        simulated=_odds(simulation.rates_of(cluster, placement, r, draws)[busy]),
        draws=draws,
    )


def packed_machines(
    cluster: Cluster, placement: Placement, constraint: ChanceConstraint, *, simulation: Simulation = SIMULATION
) -> list[PackedMachine]:
    """The machines that are most likely to overflow, each simulated with more draws."""
    r = constraint.resource
    running, predicted = containers_on(cluster, placement), violation_probability(cluster, placement, r)
    order = np.argsort(np.where(running > 0, -predicted, 1.0), kind="stable")[: min(SHOWN, int((running > 0).sum()))]
    there = np.isin(placement.machine_of, order)
    only = Placement(machine_of=ints(np.where(there, placement.machine_of, UNPLACED)))
    simulated = simulation.rates_of(cluster, only, r, CLOSELY)
    ucac, (mean, _) = strictest_ucac(cluster, placement, constraint), usage(cluster, placement, r)
    reservation = reservation_of(cluster, r)
    reserved = None if reservation is None else _sums(cluster, placement, floats(reservation.amount))
    return [
        PackedMachine(
            machine=cluster.machines.name[m],
            containers=int(running[m]),
            capacity=float(cluster.machines.capacity[m, r]),
            mean=float(mean[m]),
            ucac=float(ucac[m]),
            reserved=None if reserved is None else float(reserved[m]),
            predicted=float(predicted[m]),
            simulated=float(simulated[m]),
        )
        for m in order.tolist()
    ]


def _sums(cluster: Cluster, placement: Placement, amount: FloatArray) -> FloatArray:
    """(machine,) the sum of an amount per workload over what runs there."""
    placed = placement.placed
    weights = amount[cluster.containers.workload[placed]]
    return floats(np.bincount(placement.machine_of[placed], weights=weights, minlength=len(cluster.machines.name)))


def _odds(probability: FloatArray) -> OverflowOdds:
    if not len(probability):
        return OverflowOdds(largest=0.0, mean=0.0)
    return OverflowOdds(largest=float(probability.max()), mean=float(probability.mean()))
