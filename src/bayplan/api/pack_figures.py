"""What a packing takes and how often its machines overflow, in numbers."""

from typing import NamedTuple

import numpy as np

from bayplan.api.pack_wishes import Question
from bayplan.decide.pack.result import strictest_ucac
from bayplan.model import NO_LIMIT, UNPLACED, Cluster, FloatArray, IntArray, Placement, floats, ints
from bayplan.report.answers.pack_tables import OverflowOdds, PackedMachine, PackFigures
from bayplan.score.confidence import usage, violation_probability
from bayplan.score.counts import containers_on
from bayplan.score.monte_carlo import violation_rates
from bayplan.score.pooled import violation_rates_of_samples

NUMBERS = 20_000_000  # drawn for all machines together: about half a second
FEWEST, MOST = 200, 10_000  # draws for each machine
SHOWN = 20  # machines in a table
CLOSELY = 20_000  # draws for each of these


class Reserved(NamedTuple):
    """What containers were promised."""

    by: str  # "limits" or "requests"
    amount: IntArray  # (workload,)


def reserved_of(cluster: Cluster, resource: int) -> Reserved | None:
    """The limits if all workloads state one, else the requests if all state one."""
    limit, request = cluster.workloads.limit[:, resource], cluster.workloads.request[:, resource]
    if len(limit) and (limit != NO_LIMIT).all():
        return Reserved("limits", limit)
    return Reserved("requests", request) if len(request) and (request > 0).all() else None


def figures_of(question: Question, placement: Placement, seed: int) -> PackFigures:
    """The numbers of one placement. Usage is drawn as the input states it, whatever the packer assumed."""
    cluster, r = question.snapshot.cluster, question.problem.main.resource
    busy, reserved = containers_on(cluster, placement) > 0, reserved_of(cluster, r)
    workload = cluster.containers.workload[placement.placed]
    draws = int(np.clip(NUMBERS // max(1, len(workload)), FEWEST, MOST))
    return PackFigures(
        resource=question.resource,
        alpha=question.alpha,
        machines=int(busy.sum()),
        containers=len(workload),
        capacity=float(cluster.machines.capacity[busy, r].sum()),
        ucac=float(strictest_ucac(question.problem, placement).sum()),
        mean=float(cluster.workloads.usage_mean[workload, r].sum()),
        reserved=None if reserved is None else float(reserved.amount[workload].sum()),
        reserved_by="" if reserved is None else reserved.by,
        predicted=_odds(violation_probability(cluster, placement, r)[busy]),
        simulated=_odds(_rates(question, placement, draws, seed)[busy]),
        draws=draws,
    )


def machine_rows(question: Question, placement: Placement, seed: int) -> list[PackedMachine]:
    """The machines that are most probable to overflow, each simulated with many draws."""
    cluster, r = question.snapshot.cluster, question.problem.main.resource
    running, predicted = containers_on(cluster, placement), violation_probability(cluster, placement, r)
    order = np.argsort(np.where(running > 0, -predicted, 1.0), kind="stable")[: min(SHOWN, int((running > 0).sum()))]
    some = np.isin(placement.machine_of, order)
    only = Placement(machine_of=ints(np.where(some, placement.machine_of, UNPLACED)))
    simulated = _rates(question, only, CLOSELY, seed)
    ucac, (mean, _), reserved = strictest_ucac(question.problem, placement), usage(cluster, placement, r), reserved_of(cluster, r)
    promised = None if reserved is None else _sums(cluster, placement, floats(reserved.amount))
    return [
        PackedMachine(
            machine=cluster.machines.name[m],
            containers=int(running[m]),
            capacity=float(cluster.machines.capacity[m, r]),
            mean=float(mean[m]),
            ucac=float(ucac[m]),
            reserved=None if promised is None else float(promised[m]),
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


def _rates(question: Question, placement: Placement, draws: int, seed: int) -> FloatArray:
    """(machine,) how often usage exceeds capacity if it is drawn: from the samples, if there are some."""
    cluster, r = question.snapshot.cluster, question.problem.main.resource
    if question.samples:
        return violation_rates_of_samples(cluster, placement, r, question.samples, draws, seed)
    return violation_rates(cluster, placement, r, draws=draws, seed=seed)


def _odds(probability: FloatArray) -> OverflowOdds:
    if not len(probability):
        return OverflowOdds(largest=0.0, mean=0.0)
    return OverflowOdds(largest=float(probability.max()), mean=float(probability.mean()))
