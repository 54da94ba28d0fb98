"""No schedule is worth more than the bound, whatever the budget; and the bound is that of the paper's linear program."""

import numpy as np
import pytest
from hypothesis import given, settings
from tests.builders.timed_problems import problem_of, timed_problems
from tests.naive.schedule_exact import best_value, bound_of

from bayplan.decide.schedule.bound import bounded, prices, upper_bound
from bayplan.decide.schedule.price_descent import descend, steps_for
from bayplan.decide.schedule.priced_requests import critical_times, priced_requests
from bayplan.decide.schedule.prices import best_prices, proven
from bayplan.decide.schedule.problem import schedule_result
from bayplan.model import UNPLACED, Budget, Status, silent


@settings(max_examples=30, deadline=None)
@given(timed_problems())
def test_the_bound_is_never_below_the_best_schedule(problem):
    best = best_value(problem)
    for seconds in (0.0, None):
        assert upper_bound(problem, clock=Budget(seconds=seconds).clock(), progress=silent) >= best * (1 - 1e-12)


@settings(max_examples=30, deadline=None)
@given(timed_problems())
def test_prices_prove_their_bound_and_its_growth(problem):
    table = prices(problem, clock=Budget().clock(), progress=silent)
    assert (table.price >= 0).all()
    assert table.bound >= best_value(problem) * (1 - 1e-12)
    assert table.bound <= bound_of(problem, table.time.tolist(), table.price) * (1 + 1e-9) + 1e-9
    for q, machines in enumerate(problem.fleet.machines.tolist()):
        if machines:
            costs = table.costs(problem, q)
            assert (np.isinf(costs) == ~problem.fits(q)).all()


@settings(max_examples=25, deadline=None)
@given(timed_problems(max_requests=12))
def test_descent_never_passes_the_linear_program(problem):
    priced = priced_requests(problem)
    exact = best_prices(priced, seconds=None)
    if exact is not None:
        assert descend(priced, Budget().clock(), silent)[0] >= proven(priced, exact) * (1 - 1e-7)


def test_descent_comes_near_the_linear_program():
    """Not always: where a few equal requests compete for one instant it may stay at the value of all of them."""
    rng, near = np.random.default_rng(7), []
    for _ in range(40):
        start, length = rng.integers(0, 6, 12), rng.integers(1, 5, 12)
        rows = zip(start, start + length, rng.integers(1, 9, 12), rng.integers(1, 13, 12), strict=True)
        priced = priced_requests(problem_of([tuple(row) for row in rows]))
        least, found = proven(priced, best_prices(priced, seconds=None)), descend(priced, Budget().clock(), silent)[0]
        near.append(least * (1 - 1e-7) <= found <= 1.05 * least + 1.0)
    assert all(near)


def test_the_bound_of_one_resource_full_requests_is_their_best_schedule():
    """At most one runs at a time: intervals on a line, whose linear program is whole."""
    rng = np.random.default_rng(4)
    start = rng.integers(0, 60, 40)
    length, value = rng.integers(1, 9, 40), rng.uniform(1, 9, 40)
    problem = problem_of([(s, s + d, w, 12) for s, d, w in zip(start, length, value, strict=True)])
    order = np.argsort(problem.requests.end)
    best = [0.0]
    for done, j in enumerate(order.tolist()):
        before = int(np.searchsorted(problem.requests.end[order[:done]], problem.requests.start[j], side="right"))
        best.append(max(best[-1], best[before] + float(problem.requests.value[j])))
    assert upper_bound(problem, clock=Budget().clock(), progress=silent) == pytest.approx(best[-1], rel=1e-9)


def test_a_bound_that_is_met_makes_the_answer_optimal():
    problem = problem_of([(0, 2, 3.0, 7), (1, 3, 2.0, 7), (2, 4, 1.0, 7)])
    found = bounded(problem, schedule_result(problem, np.array([0, UNPLACED, 0])), clock=Budget().clock(), progress=silent)
    assert found.status is Status.OPTIMAL and found.bound == pytest.approx(4.0)
    poor = bounded(problem, schedule_result(problem, np.array([UNPLACED, 0, UNPLACED])), clock=Budget().clock(), progress=silent)
    assert poor.status is Status.FEASIBLE and poor.bound == pytest.approx(4.0)


def test_only_instants_where_as_many_run_as_nowhere_near_are_looked_at():
    start, end = np.array([0.0, 1.0, 1.0, 3.0, 5.0]), np.array([4.0, 3.0, 2.0, 6.0, 7.0])
    critical = critical_times(start, end)
    assert critical.time.tolist() == [1.0, 3.0, 5.0]
    assert critical.first.tolist() == [0, 0, 0, 1, 2]
    assert critical.past.tolist() == [2, 1, 1, 3, 3]


def test_the_last_steps_have_a_price_for_each_instant_if_there_are_few():
    assert steps_for(1000, 700, 2)[-1].cells == 700
    assert steps_for(1_000_000, 450_000, 2)[-1].cells <= 8192
    assert all(step.every == 1 for step in steps_for(1_000_000, 450_000, 2)[-2:])
