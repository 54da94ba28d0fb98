"""Whatever the magnitude of values: optimal means optimal, and no bound is passed by the best answer there is."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from tests.builders.strategies import admissions
from tests.builders.timed_problems import problem_of, timed_problems
from tests.naive.admit_offline import best_value as best_admission
from tests.naive.schedule_exact import best_value as best_schedule

from bayplan.decide.admit.offline import offline, offline_bound
from bayplan.decide.admit.options import AdmitOptions
from bayplan.decide.schedule import SCHEDULERS
from bayplan.decide.schedule.bound import bounded
from bayplan.decide.schedule.options import ScheduleOptions
from bayplan.decide.schedule.problem import schedule_result
from bayplan.errors import InternalError
from bayplan.model import Budget, Result, Status, floats, ints, silent
from bayplan.model.result import OPTIMAL_GAP

NEAR = (1.0, 1 + 1e-5, 1 - 1e-5, 1 + 1e-7, 1 - 1e-7, 2.0, 2 + 2e-7, 0.5, 9.0)  # ties and near ties


@st.composite
def values(draw: DrawFn, n: int) -> list[float]:
    """Values of one magnitude that differ by little, or of many magnitudes."""
    power = st.integers(-10, 12)
    if draw(st.booleans()):
        unit = 10.0 ** draw(power)
        return [unit * draw(st.sampled_from(NEAR)) for _ in range(n)]
    return [10.0 ** draw(power) * draw(st.sampled_from(NEAR)) for _ in range(n)]


def expect_honest(result: Result, best: float) -> None:
    assert result.bound >= best * (1 - 1e-12)
    if result.status is Status.OPTIMAL:
        assert result.score["value"] >= best * (1 - OPTIMAL_GAP)


@pytest.mark.parametrize("method", SCHEDULERS)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_a_schedule_that_is_called_optimal_is(method, data):
    problem = data.draw(timed_problems(max_requests=6, max_machines=2))
    requests = replace(problem.requests, value=floats(data.draw(values(len(problem.requests.name)))))
    problem = replace(problem, requests=requests)
    result = SCHEDULERS[method](problem, ScheduleOptions(), budget=Budget(iterations=100), seed=0, progress=silent)
    if result.bound is None:
        result = bounded(problem, result, clock=Budget().clock(), progress=silent)
    expect_honest(result, best_schedule(problem))


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_the_integer_program_proves_values_of_any_magnitude(data):
    problem = data.draw(timed_problems(max_requests=6, max_machines=2))
    requests = replace(problem.requests, value=floats(data.draw(values(len(problem.requests.name)))))
    problem = replace(problem, requests=requests)
    result = SCHEDULERS["ilp"](problem, ScheduleOptions(), budget=Budget(), seed=0, progress=silent)
    expect_honest(result, best_schedule(problem))
    assert result.status is Status.OPTIMAL


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_an_admission_that_is_called_optimal_is(data):
    stream = data.draw(admissions())
    value = data.draw(values(len(stream.requests)))
    stream = replace(stream, requests=tuple(replace(r, value=v) for r, v in zip(stream.requests, value, strict=True)))
    best = best_admission(stream)
    result = offline(stream, AdmitOptions(), budget=Budget(), seed=0, progress=silent)
    expect_honest(result, best)
    assert result.status is Status.OPTIMAL
    for iterations in (0, 1, 3):
        assert offline_bound(stream, budget=Budget(iterations=iterations)) >= best * (1 - 1e-12)
        expect_honest(offline(stream, AdmitOptions(), budget=Budget(iterations=iterations), seed=0, progress=silent), best)


def test_a_false_bound_of_a_schedule_is_said_and_never_lifted():
    problem = problem_of([(0, 1, 3.0, 1), (0, 1, 4.0, 1)])
    with pytest.raises(InternalError, match="E2101"):
        schedule_result(problem, ints([0, 0]), bound=6.0)
    assert schedule_result(problem, ints([0, -1]), bound=7.0).status is Status.FEASIBLE
