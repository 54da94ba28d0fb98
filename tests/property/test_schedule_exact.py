"""The dynamic program and the integer program against trying all; what cradle-dp guarantees ([Cradle] Theorems IV.7, IV.8)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.builders.timed_problems import problem_of, timed_problems
from tests.naive.schedule_exact import best_value

from bayplan.check import check_schedule
from bayplan.decide.schedule import wide_dynamic_program as dynamic
from bayplan.decide.schedule.configurations import wide_pairs
from bayplan.decide.schedule.cradle import STOPPED, cradle_dp
from bayplan.decide.schedule.ilp import MOST_ENTRIES, ilp
from bayplan.decide.schedule.options import ScheduleOptions
from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.decide.schedule.wide_dynamic_program import best_wide_schedule
from bayplan.model import UNPLACED, Budget, Fleet, Result, Schedule, Status, ints, silent


def nothing(problem: ScheduleProblem) -> np.ndarray:
    return np.full(len(problem.requests.name), UNPLACED)


def instance(scheduler, problem: ScheduleProblem, budget: Budget = Budget()) -> Result[Schedule]:
    return scheduler(problem, ScheduleOptions(), budget=budget, seed=0, progress=silent)


@pytest.mark.parametrize("resources", [1, 2, 3])
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_the_dynamic_programme_is_the_best_of_wide_requests(resources, data):
    problem = data.draw(timed_problems(max_requests=8, resources=resources, only_wide=True))
    found = best_wide_schedule(problem, clock=Budget().clock(), begin=nothing(problem))
    assert found.proven
    assert found.value == pytest.approx(best_value(problem, wide_pairs(problem)), rel=1e-9)
    assert not check_schedule(problem.requests, Schedule(machine_of=found.machine_of), problem.fleet)
    served = np.flatnonzero(found.machine_of != UNPLACED)
    assert wide_pairs(problem)[problem.fleet.kind_of[found.machine_of[served]], served].all()
    assert found.value == pytest.approx(float(problem.requests.value[served].sum()))


@settings(max_examples=30, deadline=None)
@given(timed_problems(max_requests=8))
def test_cradle_dp_is_worth_what_the_theorem_says(problem):
    result = instance(cradle_dp, problem)
    resources, kinds = problem.requests.demand.shape[1], int((problem.fleet.machines > 0).sum())
    assert STOPPED not in result.notes
    assert result.score["value"] * (4 * resources + (1 if kinds <= 1 else 2)) >= best_value(problem) * (1 - 1e-9)


@settings(max_examples=30, deadline=None)
@given(timed_problems(max_requests=7))
def test_the_integer_program_finds_the_best_schedule(problem):
    result = instance(ilp, problem)
    best = best_value(problem)
    assert result.status is Status.OPTIMAL
    assert result.score["value"] == pytest.approx(best, rel=1e-9)
    assert result.bound == pytest.approx(best, rel=1e-9)


def test_wide_requests_of_two_resources_share_a_machine():
    problem = problem_of([(0, 2, 1.0, 9, 2), (0, 2, 1.0, 2, 9), (0, 2, 1.0, 9, 1)])
    assert best_wide_schedule(problem, clock=Budget().clock(), begin=nothing(problem)).value == 2.0


def test_touching_wide_requests_follow_each_other_on_one_machine():
    problem = problem_of([(2, 3, 1.0, 12), (0, 1, 1.0, 12), (1, 2, 1.0, 12)])
    assert best_wide_schedule(problem, clock=Budget().clock(), begin=nothing(problem)).value == 3.0


def test_equal_wide_requests_are_one_state():
    problem = problem_of([(0, 1, 1.0, 12)] * 40, machines=3)
    found = best_wide_schedule(problem, clock=Budget().clock(), begin=nothing(problem))
    assert found.proven and found.value == 3.0


def test_a_programme_that_is_stopped_says_so_and_keeps_what_it_began_with(monkeypatch):
    monkeypatch.setattr(dynamic, "WIDTHS", (1,))
    rng = np.random.default_rng(5)
    start = rng.integers(0, 40, 60)
    rows = [(s, s + int(d), float(w), *demand) for s, d, w, demand in _wide(rng, start)]
    problem = problem_of(rows, machines=2)
    result = instance(cradle_dp, problem)
    assert STOPPED in result.notes and result.status is Status.FEASIBLE
    begin = np.array(result.solution.machine_of)
    again = best_wide_schedule(problem, clock=Budget(seconds=0.0).clock(), begin=begin)
    assert again.value >= result.score["value"] and not again.proven


def _wide(rng, start):
    length, value = rng.integers(1, 12, len(start)), rng.uniform(1, 9, len(start))
    for s, d, w in zip(start.tolist(), length, value, strict=True):
        demand = rng.integers(0, 8, 2)
        demand[rng.integers(2)] = rng.integers(7, 13)
        yield s, d, w, demand.tolist()


def test_wide_on_one_kind_and_narrow_on_another_is_wide_on_the_first_alone():
    fleet = Fleet(kind=("small", "large"), machines=ints([1, 1]), capacity=ints([[12], [24]]))
    problem = problem_of([(0, 1, 1.0, 8)] * 4, fleet=fleet)
    assert wide_pairs(problem).tolist() == [[True] * 4, [False] * 4]
    assert best_wide_schedule(problem, clock=Budget().clock(), begin=nothing(problem)).value == 1.0
    assert instance(ilp, problem).score["value"] == 4.0


def test_a_program_that_is_too_large_is_cradle_plus_with_a_bound():
    rng = np.random.default_rng(0)
    start = rng.uniform(0, 10, 2000)
    problem = problem_of([(s, s + 5, 1.0, 5, 5) for s in start.tolist()], machines=10)
    result = instance(ilp, problem, Budget(seconds=2.0))
    assert result.notes[0].startswith("integer program: ") and f"{MOST_ENTRIES:,}" in result.notes[0]
    assert result.bound is not None and result.bound >= result.score["value"] > 0


@pytest.mark.parametrize("scheduler", [cradle_dp, ilp], ids=["cradle-dp", "ilp"])
def test_nothing_to_serve_or_nowhere_to_serve_it_is_worth_nothing(scheduler):
    rows = [(0, 1, 1.0, 13), (0, 1, 0.0, 4)]
    assert instance(scheduler, problem_of(rows, 2)).score["value"] == 0.0
    assert instance(scheduler, problem_of(rows, 0)).score["value"] == 0.0


@pytest.mark.parametrize("scheduler", [cradle_dp, ilp], ids=["cradle-dp", "ilp"])
def test_more_machines_than_requests_serve_all_that_fit(scheduler):
    rows = [(0, 2, 2.0, 12, 0), (1, 3, 1.5, 7, 7), (1, 2, 1.0, 0, 12), (0, 9, 4.0, 8, 13)]
    assert instance(scheduler, problem_of(rows, 5)).score["value"] == pytest.approx(4.5)
