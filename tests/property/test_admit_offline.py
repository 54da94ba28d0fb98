"""The offline optimum is the one that trying everything finds, and no bound is below it."""

import pytest
from hypothesis import given, settings
from tests.builders.strategies import admissions
from tests.naive.admit_offline import best_value

from bayplan.check import check_admission
from bayplan.decide.admit.offline import offline, offline_bound
from bayplan.decide.admit.options import AdmitOptions
from bayplan.model import Budget, Status, silent

some = settings(max_examples=30, deadline=None)


def solved(stream, **limits):
    return offline(stream, AdmitOptions(), budget=Budget(**limits), seed=0, progress=silent)


@some
@given(stream=admissions())
def test_small_streams_are_solved_to_the_optimum(stream):
    result = solved(stream)
    assert result.score["value"] == pytest.approx(best_value(stream))
    assert result.status is Status.OPTIMAL
    assert check_admission(stream, result.solution) == ()


@some
@given(stream=admissions())
def test_no_bound_is_below_the_optimum(stream):
    best = best_value(stream)
    for iterations in (0, 1, 3):
        assert offline_bound(stream, budget=Budget(iterations=iterations)) >= best - 1e-9
        assert solved(stream, iterations=iterations).bound >= best - 1e-9


@some
@given(stream=admissions(max_requests=8))
def test_a_number_of_iterations_gives_the_same_answer(stream):
    one, other = (solved(stream, iterations=2) for _ in range(2))
    assert one.score == other.score
    assert one.bound == other.bound


@some
@given(stream=admissions(max_requests=8))
def test_who_is_refused_has_a_reason_and_nobody_else(stream):
    result = solved(stream, iterations=2)
    refused = {r.name for r, zone in zip(stream.requests, result.solution.zone_of, strict=True) if zone is None}
    assert {reason.subject for reason in result.left_out} == refused
    assert len(result.left_out) == len(refused)
