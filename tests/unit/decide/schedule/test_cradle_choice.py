"""Cradle and best effort on examples worked out by hand."""

import numpy as np
from tests.builders.schedules import problem, solved, timed

from bayplan.decide.schedule import SCHEDULERS, ScheduleProblem
from bayplan.decide.schedule.best_effort import MOST_CELLS, best_effort, best_effort_order, cells_for, profile_of
from bayplan.decide.schedule.cradle import cradle_choice
from bayplan.model import UNPLACED, Fleet


def test_a_heavy_request_takes_its_weight_from_a_light_one_that_it_meets():
    rows = [(0, 2, [5, 5], 4.0), (1, 3, [5, 5], 1.0), (2, 4, [5, 5], 1.0)]
    # the first leaves 1 - 4 * 1 / (2 - 1) < 0 to the second, and nothing of the third, which it only touches
    assert cradle_choice(problem(rows, 1)).tolist() == [0, UNPLACED, 0]


def test_the_last_to_finish_gets_the_first_machine():
    rows = [(0, 1, [4, 4], 1.0), (0, 2, [4, 4], 1.0), (0, 3, [4, 4], 1.0)]
    assert cradle_choice(problem(rows, 2)).tolist() == [1, 0, 0]


def test_one_class_is_served_and_the_better_one():
    rows = [(0, 1, [6, 1], 1.0), (0, 1, [1, 6], 1.5), (0, 1, [3, 3], 1.2), (0, 1, [3, 3], 0.1)]
    assert cradle_choice(problem(rows, 1)).tolist() == [UNPLACED, 0, UNPLACED, UNPLACED]


def test_what_exactly_half_a_machine_holds_is_narrow():
    rows = [(0, 1, [5, 2], 1.0), (0, 1, [5, 2], 1.0)]  # the first leaves 1 - 0.7 / (2 - 0.7) > 0 to the second
    assert cradle_choice(problem(rows, 1)).tolist() == [0, 0]


def test_of_equal_classes_the_narrow_one_is_served():
    rows = [(0, 1, [9, 9], 1.0), (0, 1, [4, 4], 1.0)]
    assert cradle_choice(problem(rows, 1)).tolist() == [UNPLACED, 0]


def test_a_later_kind_of_machine_takes_what_the_first_left():
    requests = timed([(0, 1, [3], 1.0), (0, 1, [3], 2.0), (0, 1, [7], 3.0), (0, 1, [7], 2.0)], (4,))
    fleet = Fleet(kind=("small", "large"), machines=[1, 1], capacity=[[4], [10]])
    assert cradle_choice(ScheduleProblem(requests=requests, fleet=fleet)).tolist() == [UNPLACED, 0, 1, UNPLACED]


def test_best_effort_tries_the_heavy_first_then_the_small_then_as_given():
    rows = [(0, 2, [2, 2], 1.0), (0, 1, [2, 2], 1.0), (0, 4, [1, 1], 1.0), (0, 9, [9, 9], 2.0), (0, 1, [0, 0], 0.0)]
    unplaced = np.full(5, UNPLACED)
    assert best_effort_order(problem(rows, 1), unplaced).tolist() == [3, 1, 0, 2, 4]


def test_best_effort_tries_neither_who_is_served_nor_who_is_too_large():
    rows = [(0, 1, [1, 1], 1.0), (0, 1, [11, 1], 1.0), (0, 1, [1, 1], 1.0)]
    assert best_effort_order(problem(rows, 1), np.array([UNPLACED, UNPLACED, 0])).tolist() == [0]


def test_best_effort_follows_an_order_that_is_given():
    instance = problem([(0, 1, [10, 10], 5.0), (0, 1, [10, 10], 1.0)], 1)
    assert best_effort(instance, np.full(2, UNPLACED), order=np.array([1, 0])).tolist() == [UNPLACED, 0]


def test_who_is_worth_nothing_is_served_by_best_effort_only():
    instance = problem([(0, 1, [2, 2], 0.0), (0, 1, [2, 2], 1.0)], 1)
    served = [solved(SCHEDULERS[name], instance).solution.machine_of.tolist() for name in ("cradle", "cradle+")]
    assert served == [[UNPLACED, 0], [0, 0]]


def test_the_schedule_given_is_not_written_to():
    given = np.full(1, UNPLACED)
    best_effort(problem([(0, 1, [1, 1], 1.0)], 1), given)
    assert given.tolist() == [UNPLACED]


def test_cells_are_few_for_few_and_long_requests_and_limited_for_many_short_ones():
    assert cells_for(np.full(10, 20), 5) == 4
    assert cells_for(np.full(100_000, 3), 5) == MOST_CELLS
    assert cells_for(np.full(100_000, 3), 5_000) < 128
    assert cells_for(np.zeros(0, dtype=np.int64), 0) >= 1


def test_a_profile_of_no_requests_or_no_machines_can_be_made():
    assert profile_of(problem([], 2)).base.shape[0] == 2
    assert profile_of(problem([(0, 1, [1, 1], 1.0)], 0)).base.shape[0] == 0
