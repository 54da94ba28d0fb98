"""`bp.simulate`: a plan that was carried out, as an answer."""

import pytest
from tests.builders.plan_builders import create, delete, plan
from tests.builders.tiny_clusters import on, tiny

import bayplan as bp
from bayplan.formats import read_placement
from bayplan.model import Capacity
from bayplan.operate.plan_simulation.simulate import InjectedFailures

CLUSTER = tiny([[4], [4], [4]], [[1], [2]], [4, 2], rules=(Capacity(resources=(0,)),))
SHOP = bp.Snapshot(cluster=CLUSTER, placement=on(0, 0, 0, 1, 1, -1), objective=bp.Objective.default(CLUSTER))
PLAN = plan([create(0, 2), create(5, 2)], [delete(0, 0)])
TARGET = on(2, 0, 0, 1, 1, 2)


def test_a_plan_that_is_safe_and_carried_out_succeeds():
    answer = bp.simulate(SHOP, PLAN, TARGET)
    assert answer.succeeded and answer.arrived and (answer.moved, answer.placed) == (1, 1)
    assert answer.headline == "safe: no rule is violated on the way; carried out"
    assert answer.details()["done"] == 3 and "least alive" in answer.summary()


def test_without_a_target_it_is_where_the_plan_ends():
    assert bp.simulate(SHOP, plan([delete(0, 0)]), alive=0.5).arrived
    assert not bp.simulate(SHOP, plan([delete(0, 0)]), SHOP.placement, alive=0.5).arrived


def test_failures_are_injected_by_name_and_what_does_not_arrive_says_where_it_runs():
    answer = bp.simulate(SHOP, PLAN, TARGET, failures=InjectedFailures(delete=["w0-0"], kill=[("m1", 2)]))
    assert not answer.succeeded and answer.execution.stopped == 1
    assert {reason.subject: reason.text for reason in answer.left_out} == {
        "w0-0": "runs on 'm0' and 'm2', is to run on 'm2'",
        "w0-3": "is down, is to run on 'm1'",
        "w1-0": "is down, is to run on 'm1'",
    }
    assert answer.details()["down"] == ["w0-3", "w1-0"]


def test_an_unsafe_plan_does_not_succeed_though_it_is_carried_out():
    answer = bp.simulate(SHOP, plan([delete(0, 0), delete(1, 0)], [create(0, 2), create(1, 0)]), on(2, 0, 0, 1, 1, -1))
    assert not answer.succeeded and answer.execution.stopped is None
    assert answer.still_violated == ("batch 1: 2 containers of 'w0' would run while its steps do, at least 3 needed",)
    assert answer.details()["violations"][0]["rule"] == "alive"


def test_the_end_of_a_run_and_its_page_are_written(tmp_path):
    answer = bp.simulate(SHOP, PLAN, TARGET)
    answer.save(tmp_path / "end.json")
    answer.report(tmp_path / "end.html")
    assert read_placement(tmp_path / "end.json", CLUSTER).machine_of.tolist() == TARGET.machine_of.tolist()
    assert (tmp_path / "end.html").exists()


@pytest.mark.parametrize(
    ("failures", "message"),
    [
        (InjectedFailures(kill=[("m1", 3)]), "machine 'm1' dies in batch 3: expected a batch from 1 to 2"),
        (InjectedFailures(kill=[("m9", 1)]), "no machine 'm9'"),
        (InjectedFailures(create=["w0-9"]), "w0-9"),
    ],
)
def test_a_failure_that_cannot_be_is_named(failures, message):
    with pytest.raises(bp.UsageError, match=message):
        bp.simulate(SHOP, PLAN, TARGET, failures=failures)
