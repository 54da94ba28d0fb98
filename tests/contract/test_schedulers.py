"""Every scheduler keeps its promises, on any requests."""

import numpy as np
import pytest
from hypothesis import given, settings
from tests.builders.schedules import drawn, overloads, problem, problems, solved, timed
from tests.naive.schedule import optimum

from bayplan.decide.schedule import SCHEDULERS, ScheduleProblem
from bayplan.model import UNPLACED, Budget, Fleet, Status

every_scheduler = pytest.mark.parametrize("scheduler", SCHEDULERS.values(), ids=SCHEDULERS)
few = settings(max_examples=15, deadline=None)
ALL = [0, 0, 0]


def served(scheduler, instance):
    return solved(scheduler, instance).solution.machine_of.tolist()


@every_scheduler
@few
@given(instance=problems(max_requests=7, max_machines=2, kinds=2))
def test_no_machine_is_over_capacity_and_the_score_is_what_is_served(scheduler, instance):
    result = solved(scheduler, instance)
    machine_of = result.solution.machine_of
    assert overloads(instance, machine_of) == []
    assert machine_of.max(initial=-1) < instance.fleet.size
    assert result.score["value"] == pytest.approx(instance.requests.value[machine_of != UNPLACED].sum())
    assert result.goal == "value"


@every_scheduler
@few
@given(instance=problems(max_requests=6, max_machines=2, kinds=2))
def test_a_bound_is_never_below_the_best_and_optimal_is_the_best(scheduler, instance):
    result, best = solved(scheduler, instance), optimum(instance)
    assert result.score["value"] <= best + 1e-9
    assert result.bound is None or result.bound >= best - 1e-6
    if result.status is Status.OPTIMAL:
        assert result.score["value"] == pytest.approx(best, abs=1e-4 * max(1.0, best))


@every_scheduler
@few
@given(instance=problems(max_requests=7, max_machines=3))
def test_the_same_seed_and_iterations_give_the_same_answer(scheduler, instance):
    one, two = (solved(scheduler, instance, seed=3, budget=Budget(iterations=20)) for _ in range(2))
    assert one.solution.machine_of.tolist() == two.solution.machine_of.tolist()
    assert one.score == two.score


@every_scheduler
@pytest.mark.parametrize("order", [(1, 2), (2, 1, 2)], ids=str)
def test_one_process_may_ask_with_one_thread_and_with_two(scheduler, order):
    instance = drawn(5, requests=12, machines=2)
    results = [solved(scheduler, instance, budget=Budget(iterations=20, threads=threads)) for threads in order]
    assert all(overloads(instance, result.solution.machine_of) == [] for result in results)


@every_scheduler
@pytest.mark.parametrize("iterations", [0, 1])
def test_hardly_any_budget_still_gives_an_answer(scheduler, iterations):
    instance = problem([(0, 2, [4, 4], 1.0), (1, 3, [4, 4], 2.0), (2, 4, [7, 1], 1.0)], 1)
    result = solved(scheduler, instance, budget=Budget(iterations=iterations))
    assert result.solution is not None
    assert overloads(instance, result.solution.machine_of) == []


@every_scheduler
def test_equal_requests_are_all_served_while_there_is_room(scheduler):
    instance = problem([(0, 1, [5, 5], 1.0)] * 6, 2)
    assert solved(scheduler, instance).score["value"] == 4.0


@every_scheduler
def test_intervals_that_touch_do_not_meet(scheduler):
    instance = problem([(0, 1, [10, 10], 1.0), (1, 2, [10, 10], 1.0), (2, 3, [10, 10], 1.0)], 1)
    assert served(scheduler, instance) == ALL


@every_scheduler
def test_the_order_of_the_file_need_not_be_that_of_time(scheduler):
    instance = problem([(2, 3, [10, 10], 1.0), (0, 1, [10, 10], 1.0), (1, 2, [10, 10], 1.0)], 1)
    assert served(scheduler, instance) == ALL


@every_scheduler
def test_whoever_asks_for_nothing_is_always_served(scheduler):
    instance = problem([(0, 4, [5, 5], 3.0), (1, 2, [0, 0], 1.0), (0, 4, [0, 0], 0.5)], 1)
    assert served(scheduler, instance) == ALL


@every_scheduler
def test_what_is_larger_than_every_machine_is_refused_with_its_reason(scheduler):
    instance = problem([(0, 1, [11, 1], 9.0), (0, 1, [10, 10], 1.0)], 2)
    result = solved(scheduler, instance)
    assert result.solution.machine_of[0] == UNPLACED
    assert result.score["value"] == 1.0
    assert "q0: larger than every machine in cpu" in [str(reason) for reason in result.left_out]


@every_scheduler
def test_what_is_worth_nothing_takes_no_room_from_others(scheduler):
    instance = problem([(0, 2, [10, 10], 1.0), (1, 2, [10, 10], 0.0), (0, 1, [10, 10], 0.0)], 1)
    assert served(scheduler, instance)[0] == 0


@every_scheduler
def test_with_a_machine_for_everybody_all_are_served(scheduler):
    rows = [(0, 4, [9, 2], 1.0), (1, 3, [2, 9], 2.0), (0, 4, [8, 8], 3.99), (2, 3, [1, 1], 0.01)]
    assert solved(scheduler, problem(rows, 4)).score["value"] == 7.0


@every_scheduler
def test_without_machines_nobody_is_served(scheduler):
    result = solved(scheduler, problem([(0, 1, [1, 1], 1.0), (0, 1, [0, 0], 1.0)], 0))
    assert result.solution.machine_of.tolist() == [UNPLACED, UNPLACED]
    assert [str(reason) for reason in result.left_out] == ["q0: there are no machines", "q1: there are no machines"]


@every_scheduler
@pytest.mark.parametrize("machines", [0, 3])
def test_without_requests_there_is_nothing_to_serve(scheduler, machines):
    result = solved(scheduler, problem([], machines))
    assert len(result.solution.machine_of) == 0
    assert result.score["value"] == 0.0


@every_scheduler
@pytest.mark.parametrize("resources", [1, 3])
def test_any_number_of_resources(scheduler, resources):
    rows = [(0, 1, [6] * resources, 1.0), (0, 1, [6] + [0] * (resources - 1), 1.0), (0, 1, [4] * resources, 1.0)]
    instance = problem(rows, 2, capacity=[10] * resources)
    result = solved(scheduler, instance)
    assert overloads(instance, result.solution.machine_of) == []
    assert result.score["value"] >= 3.0 / (6 * resources)


@every_scheduler
def test_machines_without_capacity_serve_only_who_asks_for_nothing(scheduler):
    instance = problem([(0, 1, [0, 0], 1.0), (0, 1, [1, 0], 1.0)], 2, capacity=[0, 0])
    machine_of = served(scheduler, instance)
    assert machine_of[0] != UNPLACED
    assert machine_of[1] == UNPLACED


@every_scheduler
def test_machines_of_two_kinds_both_serve(scheduler):
    requests = timed([(0, 2, [9, 9], 5.0), (0, 2, [2, 2], 1.0), (0, 2, [3, 1], 1.0)], (4, 4))
    fleet = Fleet(kind=("small", "none", "large"), machines=[1, 0, 1], capacity=[[4, 4], [99, 99], [10, 10]])
    instance = ScheduleProblem(requests=requests, fleet=fleet)
    result = solved(scheduler, instance)
    assert overloads(instance, result.solution.machine_of) == []
    assert result.solution.machine_of[0] in (1, UNPLACED)
    assert result.score["value"] >= 7.0 / 13


@every_scheduler
@pytest.mark.parametrize("huge", [2**62, 2**63 - 2])
def test_amounts_near_the_largest_integer_do_not_overflow(scheduler, huge):
    rows = [(0, 2, [huge, 1], 1.0), (1, 3, [huge, 1], 1.0), (1, 2, [huge, 1], 1.0)]
    instance = ScheduleProblem.alike(timed(rows, (2**63 - 1, 10)), 1)
    result = solved(scheduler, instance)
    assert overloads(instance, result.solution.machine_of) == []
    assert (np.asarray(result.solution.machine_of) != UNPLACED).sum() == 1
