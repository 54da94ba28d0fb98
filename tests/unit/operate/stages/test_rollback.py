"""Verification by what was promised and by load, and the way back."""

from dataclasses import replace

import pytest
from tests.builders.operated import operation, web

from bayplan.model.record import PlanStatus
from bayplan.operate.loop import Loop
from bayplan.operate.simulated import Faults, StepFault
from bayplan.operate.stages.execute import execute
from bayplan.operate.stages.rollback import roll_back
from bayplan.operate.stages.tracking import tracked
from bayplan.operate.stages.verify import verify

HOMES = {"web-0": "m-0", "web-1": "m-0"}


def moved(o, **expected):
    """A plan that was carried out: two containers of `web` to m-1."""
    plan = o.plan(web_0="m_1", web_1="m_1")
    plan = replace(execute(o.context, plan).plan, expected=expected)
    o.store.save_plan(plan, o.context.fence)
    assert (o.where("web-0"), o.where("web-1")) == ("m-1", "m-1")
    return plan


def with_usage(observation, machine, amount):
    """The observation with another usage of a machine, of its first resource."""
    machines = [
        replace(state, usage=(amount, *state.usage[1:])) if state.name == machine else state for state in observation.machines
    ]
    return replace(observation, machines=tuple(machines))


def verified(o, plan, machine="m-1", amount=None, before=None):
    plan = plan if before is None else replace(plan, before=before)
    observation = o.cluster.observe()
    observation = observation if amount is None else with_usage(observation, machine, amount)
    return verify(o.context, plan, tracked(plan, o.store.steps(plan.id)), observation)


def test_a_machine_above_safety_because_of_us_is_skewed_and_one_that_was_so_without_us_is_not():
    o = operation(alive=0.0)
    plan = moved(o)
    safety, ours = 4000.0 + 200.0, 2000.0  # of m-1, with an error of measuring; and what two containers use
    assert "above its safety capacity" in verified(o, plan, amount=safety + 1).skewed["m-1"]
    assert not verified(o, plan, amount=safety).skewed
    assert not verified(o, plan, amount=safety + ours + 1).skewed  # it would be above safety without us
    assert not verified(o, plan, machine="m-3", amount=9 * safety).skewed  # we brought nothing there


def test_a_machine_far_above_what_was_expected_is_skewed():
    o = operation(web(replicas=2, cpu=40), alive=0.0)
    plan = moved(o)
    before = {"usage": {"m-1": [1000.0, 1e12]}, "added": {"m-1": [2000.0, 0.0]}}
    margin = 0.2 * 40000
    assert "far above what was expected" in verified(o, plan, amount=3000 + margin + 1, before=before).skewed["m-1"]
    assert not verified(o, plan, amount=3000 + margin, before=before).skewed
    assert not verified(o, plan, amount=5000 + margin + 1, before=before).skewed  # it would be so without us


def test_a_gain_that_did_not_come_is_found():
    o = operation(web(replicas=4), alive=0.0)
    plan = moved(o, gain=0.5)
    found = verified(o, plan)
    assert "the gain did not come" in found.missing
    assert not found.good
    assert verified(o, replace(plan, expected={"gain": 0.0})).good


def test_the_way_back_leads_to_where_everything_was():
    o = operation(alive=0.0)
    plan = roll_back(o.context, moved(o), "it turned out badly")
    assert plan.status is PlanStatus.ROLLED_BACK
    assert {name: o.where(name) for name in HOMES} == HOMES
    assert all(step.back for step in o.store.steps("plan")[4:])
    o.expect_safe()
    o.expect_nothing_left_behind()


def test_what_made_a_machine_skewed_goes_to_the_default_scheduler_and_is_held_for_three_days():
    o = operation(alive=0.0)
    plan = roll_back(o.context, moved(o), "skewed", ["m-1"])
    assert plan.status is PlanStatus.ROLLED_BACK
    assert "2 left to the orchestrator's scheduler and held" in plan.why
    hold = o.store.holds(o.cluster.now())["web"]
    assert hold.until == pytest.approx(o.cluster.now() + 3 * 86400, abs=3600)
    assert [step.action for step in o.store.steps("plan") if step.back] == ["delete", "delete"]
    o.cluster.wait(600)
    o.expect_safe()
    o.expect_nothing_left_behind()


def test_the_default_scheduler_gets_one_after_the_other_where_replicas_must_be_ready():
    o = operation(web(replicas=4), alive=0.75)
    plan = moved(o)
    roll_back(o.context, plan, "skewed", ["m-1"])
    o.expect_safe()
    assert [step.status for step in o.store.steps("plan") if step.back] == ["done", "done"]


def test_a_pause_in_the_middle_of_the_way_back_keeps_the_rest_for_later():
    o = operation(alive=1.0)
    plan = moved(o)
    o.store.pause("ann", o.cluster.now())
    assert roll_back(o.context, plan, "it turned out badly").status is PlanStatus.ROLLING_BACK
    assert o.where("web-0") == "m-1"
    assert o.loop.turn().verdict == "held-off"
    o.store.resume("ann", o.cluster.now())
    o.loop.turn()
    assert o.store.plan("plan").status is PlanStatus.ROLLED_BACK
    assert {name: o.where(name) for name in HOMES} == HOMES
    o.expect_safe()


def test_a_pause_also_stops_deletes_for_the_default_scheduler():
    o = operation(alive=0.0)
    plan = moved(o)
    o.store.pause("ann", o.cluster.now())
    assert roll_back(o.context, plan, "skewed", ["m-1"]).status is PlanStatus.ROLLING_BACK
    assert not [step for step in o.store.steps("plan") if step.back]


@pytest.mark.parametrize("fault", list(StepFault))
def test_a_fault_on_the_way_back_leaves_a_true_record(fault):
    o = operation(alive=0.75)
    plan = moved(o)
    o.cluster.inject(Faults(step_script={0: fault, 3: fault}))
    roll_back(o.context, plan, "it turned out badly")
    o.cluster.wait(7200)
    o.expect_safe()
    o.expect_nothing_left_behind()


def test_a_rollback_goes_on_after_a_crash():
    o = operation(alive=0.0)
    plan = replace(moved(o), status=PlanStatus.ROLLING_BACK, why="it turned out badly")
    o.store.save_plan(plan, o.context.fence)
    o.cluster.wait(301)
    Loop(o.another()).turn()
    assert o.store.plan("plan").status is PlanStatus.ROLLED_BACK
    assert {name: o.where(name) for name in HOMES} == HOMES
