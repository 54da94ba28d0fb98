"""Wishes about confidence become rules and deviates of a problem."""

from dataclasses import replace

import numpy as np
import pytest
from tests.builders.report_clusters import cluster_of

from bayplan.api.pack_figures import figures_of, reserved_of
from bayplan.api.pack_wishes import PackWishes, question_of
from bayplan.decide.pack.result import strictest_ucac as strictest
from bayplan.errors import UsageError
from bayplan.model import NO_LIMIT, Confidence, Placement, Snapshot
from bayplan.score.confidence import deviate, machine_ucac


def uncertain(*rules: Confidence, waiting: int = 10) -> Snapshot:
    """A random cluster whose usage varies; the first containers wait."""
    snapshot = cluster_of(machines=6, services=5, replicas=6)
    workloads = snapshot.cluster.workloads
    cluster = replace(snapshot.cluster, workloads=replace(workloads, usage_std=workloads.usage_mean * 0.3), rules=tuple(rules))
    machine_of = snapshot.placement.machine_of.copy()
    machine_of[:waiting] = -1
    return replace(snapshot, cluster=cluster, placement=Placement(machine_of=machine_of))


def alphas(snapshot: Snapshot) -> dict[int, float]:
    return {rule.resource: rule.alpha for rule in snapshot.cluster.rules if isinstance(rule, Confidence)}


@pytest.mark.parametrize(
    ("rules", "wishes", "expected", "main"),
    [
        ((), PackWishes(confidence=0.9), {0: 0.9}, 0),
        ((), PackWishes(confidence=0.9, resource="memory"), {1: 0.9}, 1),
        ((Confidence(resource=1, alpha=0.95),), PackWishes(), {1: 0.95}, 1),
        ((Confidence(resource=1, alpha=0.95),), PackWishes(confidence=0.99), {1: 0.99}, 1),
        ((Confidence(resource=1, alpha=0.95),), PackWishes(resource="cpu"), {1: 0.95, 0: 0.95}, 0),
        (
            (Confidence(resource=1, alpha=0.95), Confidence(resource=0, alpha=0.9)),
            PackWishes(resource="cpu"),
            {1: 0.95, 0: 0.9},
            0,
        ),
    ],
)
def test_confidence_replaces_that_of_the_rules_or_adds_one(rules, wishes, expected, main):
    question = question_of(uncertain(*rules), wishes)
    assert alphas(question.snapshot) == expected
    assert question.problem.main.resource == main and question.alpha == expected[main]


def test_a_pattern_of_names_asks_for_more_confidence():
    question = question_of(uncertain(), PackWishes(confidence=0.9, confidence_of=["work-[12]=0.99", "svc-3=0.999"]))
    expected = [deviate(alpha) for alpha in (0.9, 0.99, 0.99, 0.999, 0.9)]
    assert question.problem.main.deviate == pytest.approx(expected)


def test_the_strictest_service_of_a_machine_counts():
    snapshot = uncertain()
    question = question_of(snapshot, PackWishes(confidence=0.9, confidence_of=["work-4=0.999"]))
    loose, strict = (machine_ucac(snapshot.cluster, snapshot.placement, 0, alpha=alpha) for alpha in (0.9, 0.999))
    on = np.unique(snapshot.placement.machine_of[-6:][snapshot.placement.machine_of[-6:] >= 0])
    mine = strictest(question.problem, snapshot.placement)
    assert mine[on] == pytest.approx(strict[on])
    others = np.setdiff1d(np.arange(6), on)
    assert mine[others] == pytest.approx(loose[others])


def test_the_same_question_can_be_asked_at_another_confidence():
    question = question_of(uncertain(), PackWishes(confidence=0.9)).at(0.999)
    assert question.alpha == 0.999 and question.problem.main.deviate == pytest.approx([deviate(0.999)] * 5)


def test_a_question_without_a_confidence_is_refused():
    with pytest.raises(UsageError, match="no confidence is stated"):
        question_of(uncertain(), PackWishes())


def test_promises_are_limits_or_else_requests_or_else_none():
    cluster = uncertain().cluster
    by_request = reserved_of(cluster, 0)
    limited = replace(cluster, workloads=replace(cluster.workloads, limit=cluster.workloads.request * 2))
    by_limit = reserved_of(limited, 0)
    nothing = replace(cluster, workloads=replace(cluster.workloads, request=cluster.workloads.request * 0))
    assert (cluster.workloads.limit == NO_LIMIT).all()
    assert by_request is not None and by_request.by == "requests"
    assert by_limit is not None and by_limit.by == "limits" and (by_limit.amount == 2 * by_request.amount).all()
    assert reserved_of(nothing, 0) is None


def test_figures_add_up():
    snapshot = uncertain()
    question = question_of(snapshot, PackWishes(confidence=0.99))
    figures = figures_of(question, snapshot.placement, seed=0)
    runs = snapshot.cluster.containers.workload[snapshot.placement.placed]
    assert figures.containers == len(runs) and figures.mean == snapshot.cluster.workloads.usage_mean[runs, 0].sum()
    assert figures.ucac > figures.mean and figures.reserved == figures.mean  # usage is the request on average
    assert figures.over_commitment == pytest.approx(figures.mean / figures.capacity)
    assert figures.simulated.mean == pytest.approx(figures.predicted.mean, abs=0.01)


def test_nothing_in_use_is_no_division_by_zero():
    snapshot = uncertain(waiting=30)
    figures = figures_of(question_of(snapshot, PackWishes(confidence=0.99)), snapshot.placement, seed=0)
    assert (figures.machines, figures.ucac, figures.predicted.mean, figures.over_commitment) == (0, 0.0, 0.0, None)
