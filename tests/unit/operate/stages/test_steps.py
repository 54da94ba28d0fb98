"""The steps of a plan with each single fault: made once or never, and the record says which."""

from dataclasses import replace

import pytest
from tests.builders.operated import operation

from bayplan.model import Action
from bayplan.model.record import StepStatus
from bayplan.operate.orchestrator import StepOrder, StepReport, StepState
from bayplan.operate.simulated import Faults, FaultyTime, ObservationFault, StepFault
from bayplan.operate.stages.execute import execute
from bayplan.operate.stages.steps import last_outcome, outcome

HARMLESS = (StepFault.FAILS, StepFault.TWICE, StepFault.DELAYED, StepFault.NO_ANSWER, StepFault.LATE, StepFault.SAYS_READY)
SURGE = 1.0  # the alive share with which a create comes first


@pytest.mark.parametrize("alive", [SURGE, 0.75], ids=["create-first", "delete-first"])
@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("fault", list(StepFault))
def test_a_fault_of_one_step_leaves_a_true_record_and_a_safe_cluster(fault, number, alive):
    o = operation(faults=Faults(step_script={number: fault}), alive=alive)
    end = execute(o.context, o.plan(web_0="m_1"))
    o.cluster.wait(7200)
    o.expect_safe()
    o.expect_nothing_left_behind()
    assert end.moved or fault not in HARMLESS
    assert o.where("web-0") == "m-1" or not end.moved


@pytest.mark.parametrize("fault", [StepFault.FAILS, StepFault.DELAYED])
def test_a_step_without_an_answer_is_cancelled_and_tried_again_as_a_new_one(fault):
    o = operation(faults=Faults(step_script={0: fault}), alive=SURGE)
    execute(o.context, o.plan(web_0="m_1"))
    assert o.steps() == [("create m-1", "failed"), ("create m-1", "done"), ("delete m-0", "done")]
    assert len({step.token for step in o.store.steps("plan")}) == 3


def test_a_step_that_was_begun_although_no_answer_came_is_not_cancelled():
    o = operation(faults=Faults(step_script={0: StepFault.NO_ANSWER}), alive=SURGE)
    execute(o.context, o.plan(web_0="m_1"))
    assert o.steps() == [("create m-1", "done"), ("delete m-0", "done")]


def test_a_container_is_given_up_after_several_steps_without_an_answer():
    o = operation(faults=Faults(step_script=dict.fromkeys(range(9), StepFault.FAILS)), alive=SURGE)
    end = execute(o.context, o.plan(web_0="m_1"))
    assert o.steps() == [("create m-1", "failed")] * 4
    assert "timed out" in end.given_up["web-0"]


@pytest.mark.parametrize("fault", list(ObservationFault))
def test_a_wrong_observation_in_the_middle_of_a_batch_does_no_harm(fault):
    o = operation(faults=Faults(observation_script={2: fault, 5: fault}))
    assert execute(o.context, o.plan(web_0="m_1", web_1="m_2")).moved == 2
    o.expect_safe()


def test_an_orchestrator_that_does_not_answer_for_a_while_delays_the_steps():
    o = operation(faults=Faults(outages=(FaultyTime(3, 120),)))
    assert execute(o.context, o.plan(web_0="m_1")).moved == 1
    o.expect_safe()


def test_a_target_machine_that_dies_while_a_container_starts_there_ends_its_move():
    o = operation()
    plan = o.plan(web_0="m_1", web_1="m_2")
    o.after(3, lambda: o.cluster.live.lose(o.cluster.live.machines[1]))
    end = execute(o.context, plan)
    assert end.moved == 1
    assert "m-1" in end.given_up["web-0"]
    o.cluster.wait(600)
    o.expect_safe()
    o.expect_nothing_left_behind()
    assert o.where("web-0") == "m-0"


def test_what_was_made_and_is_gone_again_is_recorded_as_made():
    o = operation(alive=SURGE)
    plan = o.plan(web_0="m_1")

    def lose_it_when_ready(instant):
        if instant.kind == "ready":
            o.after(1, lambda: o.cluster.live.stop(o.cluster.live.by_uid[instant.uid], "user"))

    o.cluster.listeners.append(lose_it_when_ready)
    execute(o.context, plan)
    o.expect_safe()
    assert o.steps()[0] == ("create m-1", "done")


def order(o, action, **fields):
    state = o.cluster.observe().containers[0]
    known = {"token": "t", "workload": "web", "machine": "m-0", "machine_uid": "m-0.1", "uid": state.uid}
    return StepOrder(action=action, **(known | fields))


def test_a_container_that_is_not_shown_is_only_gone_if_all_others_of_its_workload_are_shown():
    o = operation()
    seen = o.cluster.observe()
    gone = order(o, Action.DELETE, uid="another")
    assert outcome(gone, seen).status is StepStatus.DONE
    partial = replace(seen, replicas={"web": 5})
    assert outcome(gone, partial).status is StepStatus.BEGUN
    said = StepReport(token="t", state=StepState.FAILED)
    assert last_outcome(gone, partial, said, "cancelled").status is StepStatus.FAILED


def test_of_a_cancelled_delete_whose_container_still_runs_the_answer_does_not_count():
    o = operation()
    done = StepReport(token="t", state=StepState.DONE)
    assert last_outcome(order(o, Action.DELETE), o.cluster.observe(), done, "cancelled").status is StepStatus.FAILED


def test_what_the_orchestrator_brought_to_another_machine_is_a_create_that_failed():
    o = operation()
    o.cluster.wait(60)
    observation = o.cluster.observe()
    there = replace(observation.containers[0], token="plan/7")
    seen = replace(observation, containers=(there, *observation.containers[1:]))
    order = StepOrder(token="plan/7", action=Action.CREATE, workload="web", machine="m-9", machine_uid="", uid="old")
    assert outcome(order, seen).text == f"missed: it is on machine '{there.machine}'"
    assert outcome(order, seen).status is StepStatus.FAILED
    assert outcome(replace(order, machine=there.machine), seen).status is StepStatus.DONE


def test_where_containers_are_replaced_none_is_created_before_it_is_deleted():
    o = operation(alive=0.0)
    o.context.settings = replace(o.context.settings, way="replace")
    execute(o.context, o.plan(web_0="m_1"))
    assert o.steps() == [("delete m-0", "done"), ("create m-1", "done")]
