"""The timetable of a plan, by hand."""

import numpy as np
import pytest
from tests.builders.tiny_clusters import on, tiny

from bayplan.errors import ModelError
from bayplan.model import Action, Plan, Running, Step, floats
from bayplan.score.duration import StepCosts, duration

CREATE, DELETE = Action.CREATE, Action.DELETE
CLUSTER = tiny([[9], [9]], [[1], [1]], [2, 2])  # containers 0, 1 of workload 0 and 2, 3 of workload 1


def plan(*batches: list[Step]) -> Plan:
    return Plan(batches=tuple(tuple(batch) for batch in batches))


def test_pulls_on_one_machine_wait_for_each_other_and_starts_do_not():
    table = duration(CLUSTER, Running.of(on(0, 0, 0, 0)), plan([Step(CREATE, 0, 1), Step(CREATE, 2, 1)]))
    assert table.begin.tolist() == [0, 20]
    assert table.end.tolist() == [30, 50]
    assert table.seconds == 50


def test_pulls_on_two_machines_run_side_by_side():
    table = duration(CLUSTER, Running.of(on(-1, -1, -1, -1)), plan([Step(CREATE, 0, 0), Step(CREATE, 2, 1)]))
    assert table.end.tolist() == [30, 30]


def test_an_image_is_pulled_once_and_its_second_container_waits_for_it():
    table = duration(CLUSTER, Running.of(on(0, 0, 0, 0)), plan([Step(CREATE, 0, 1), Step(CREATE, 1, 1)]))
    assert table.begin.tolist() == [0, 20]
    assert table.end.tolist() == [30, 30]


def test_an_image_that_ran_at_the_start_or_came_earlier_is_not_pulled():
    there = duration(CLUSTER, Running.of(on(0, 1, 0, 0)), plan([Step(CREATE, 0, 1)]))
    earlier = duration(
        CLUSTER, Running.of(on(0, -1, 0, 0)), plan([Step(CREATE, 0, 1)], [Step(DELETE, 0, 1)], [Step(CREATE, 1, 1)])
    )
    assert there.seconds == 10
    assert earlier.batch_end.tolist() == [30, 35, 45]


def test_a_second_machine_at_the_start_has_the_image():
    twice = Running(machine_of=[0, -1, -1, -1], second=[1, -1, -1, -1])
    assert duration(CLUSTER, twice, plan([Step(CREATE, 1, 1)])).seconds == 10


def test_a_batch_starts_when_the_last_step_of_the_one_before_has_ended():
    table = duration(
        CLUSTER, Running.of(on(0, 0, 0, 0)), plan([Step(CREATE, 0, 1), Step(DELETE, 2, 0)], [], [Step(DELETE, 0, 0)])
    )
    assert table.batch_start.tolist() == [0, 30, 30]
    assert table.batch_end.tolist() == [30, 30, 35]
    assert table.end.tolist() == [30, 5, 35]


def test_costs_may_differ_by_workload():
    costs = StepCosts(pull=floats([1, 2]), start=0.5, stop=floats([3, 4]))
    table = duration(
        CLUSTER, Running.of(on(0, 0, 0, 0)), plan([Step(CREATE, 0, 1), Step(CREATE, 2, 1), Step(DELETE, 3, 0)]), costs
    )
    assert table.end.tolist() == [1.5, 3.5, 4]


def test_a_plan_of_nothing_takes_no_time():
    table = duration(CLUSTER, Running.of(on(0, 0, 0, 0)), plan())
    assert table.seconds == 0
    assert len(table.begin) == len(table.batch_start) == 0


@pytest.mark.parametrize("wrong", [{"pull": -1.0}, {"start": np.inf}, {"stop": floats([[1.0]])}])
def test_costs_that_are_none_are_refused(wrong):
    with pytest.raises(ModelError, match="seconds"):
        StepCosts(**wrong)


def test_costs_of_other_workloads_are_refused():
    with pytest.raises(ModelError, match="3 workloads, not of 2"):
        duration(CLUSTER, Running.of(on(0, 0, 0, 0)), plan(), StepCosts(pull=floats([1, 2, 3])))
