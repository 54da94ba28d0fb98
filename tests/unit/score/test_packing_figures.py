"""A packing in numbers."""

from dataclasses import replace

import pytest
from tests.builders.packings import uncertain

from bayplan.decide.pack.instance import UsageModel, pack_instance
from bayplan.model import NO_LIMIT, Snapshot
from bayplan.score.packing import PackFigures, pack_figures, reservation_of


def figures_of(snapshot: Snapshot) -> PackFigures:
    """At a confidence of 99 %."""
    instance = pack_instance(snapshot, confidence=0.99, usage=UsageModel())
    return pack_figures(snapshot.cluster, snapshot.placement, instance.problem.main, alpha=0.99)


def test_reservations_are_limits_or_else_requests_or_else_none():
    cluster = uncertain().cluster
    by_request = reservation_of(cluster, 0)
    limited = replace(cluster, workloads=replace(cluster.workloads, limit=cluster.workloads.request * 2))
    by_limit = reservation_of(limited, 0)
    nothing = replace(cluster, workloads=replace(cluster.workloads, request=cluster.workloads.request * 0))
    assert (cluster.workloads.limit == NO_LIMIT).all()
    assert by_request is not None and by_request.by == "requests"
    assert by_limit is not None and by_limit.by == "limits" and (by_limit.amount == 2 * by_request.amount).all()
    assert reservation_of(nothing, 0) is None


def test_figures_add_up():
    snapshot = uncertain()
    figures = figures_of(snapshot)
    runs = snapshot.cluster.containers.workload[snapshot.placement.placed]
    assert figures.containers == len(runs) and figures.mean == snapshot.cluster.workloads.usage_mean[runs, 0].sum()
    assert figures.ucac > figures.mean and figures.reserved == figures.mean  # usage is the request on average
    assert figures.over_commitment == pytest.approx(figures.mean / figures.capacity)
    assert figures.simulated.mean == pytest.approx(figures.predicted.mean, abs=0.01)


def test_nothing_in_use_is_no_division_by_zero():
    figures = figures_of(uncertain(unplaced=30))
    assert (figures.machines, figures.ucac, figures.predicted.mean, figures.over_commitment) == (0, 0.0, 0.0, None)
