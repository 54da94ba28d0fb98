"""A plan batch by batch: what changed meanwhile is given up, and what has begun is brought to its end."""

from dataclasses import replace

import pytest
from tests.builders.operated import Killed, operation, web

import bayplan as bp
from bayplan.operate.simulated import Faults, StepFault
from bayplan.operate.stages.execute import execute
from bayplan.operate.windows import read_window


def moves_of(n):
    return {f"web_{i}": f"m_{i % 3 + 1}" for i in range(n)}


def settled(o):
    o.cluster.wait(7200)
    o.expect_safe()
    o.expect_nothing_left_behind()


def test_all_of_it_is_made_if_nothing_changes():
    o = operation()
    end = execute(o.context, o.plan(**moves_of(4)))
    assert (end.moved, end.given_up, end.stopped) == (4, {}, "")
    settled(o)


def test_a_container_that_was_replaced_meanwhile_is_given_up_and_the_rest_goes_on():
    o = operation()
    plan = o.plan(**moves_of(2))
    o.cluster.live.stop(next(iter(o.cluster.live.by_uid.values())), "user")
    end = execute(o.context, plan)
    assert end.given_up == {"web-0": "it was deleted or replaced meanwhile"}
    assert end.moved == 1
    settled(o)


def test_a_machine_that_is_drained_takes_nothing():
    o = operation()
    plan = o.plan(**moves_of(2))
    o.cluster.live.set_open(o.cluster.live.machines[1], False)
    end = execute(o.context, plan)
    assert end.given_up == {"web-0": "machine 'm-1' takes no containers any more"}
    settled(o)


def test_a_target_machine_that_disappears_between_two_batches_ends_its_moves():
    o = operation(web(replicas=2, machines=3, cpu=2), alive=0.5)
    plan = o.plan(web_0="m_1", web_1="m_1")
    o.after(1, lambda: o.cluster.live.lose(o.cluster.live.machines[1]))
    end = execute(o.context, plan)
    assert end.moved == 0
    assert set(end.given_up) == {"web-0", "web-1"}
    settled(o)


def test_a_rollout_in_the_middle_gives_all_of_its_workload_up():
    o = operation()
    plan = o.plan(**moves_of(3))
    o.after(2, o.cluster.churn.rollouts.begin, 0)
    end = execute(o.context, plan)
    assert "in rollout" in " ".join(end.given_up.values())
    settled(o)


def test_a_batch_whose_end_would_violate_a_rule_by_now_is_not_made():
    builder = bp.ClusterBuilder("apart").machines("m-{}", 3, cpu=4, memory="8Gi")
    builder = builder.workload("web", replicas=1, cpu=1, memory="1Gi", on=["m-0"])
    builder = builder.workload("batch", replicas=1, cpu=1, memory="1Gi", on=["m-1"])
    o = operation(builder.interference("batch", "web", limit=0).build(), alive=0.0)
    plan = o.plan(web_0="m_2")
    plan = replace(plan, batches=((("create", "web-0", "m-2"),),))
    o.cluster.live.set_open(o.cluster.live.machines[0], False)
    o.cluster.live.set_open(o.cluster.live.machines[1], False)
    batch = next(i for i in o.cluster.live.by_uid.values() if i.slot.name == "batch-0")
    o.cluster.live.stop(batch, "user")
    o.cluster.wait(60)
    assert o.where("batch-0") == "m-2"
    end = execute(o.context, plan)
    assert end.moved == 0
    assert "would violate a rule now" in end.given_up["web-0"]
    settled(o)


def test_a_pause_brings_begun_moves_to_their_end_and_begins_no_other():
    o = operation(alive=1.0, max_moves="100%")
    plan = o.plan(**moves_of(4))
    batches = (
        (("create", "web-0", "m-1"),),
        (("delete", "web-0", "m-0"),),
        (("create", "web-1", "m-2"),),
        (("delete", "web-1", "m-0"),),
    )
    o.after(1, lambda: o.store.pause("ann", o.cluster.now()))
    end = execute(o.context, replace(plan, batches=batches))
    assert o.steps() == [("create m-1", "done"), ("delete m-0", "done")]
    assert end.stopped == "paused by ann"
    assert end.given_up["web-1"] == "not begun: paused by ann"
    settled(o)
    o.store.resume("ann", o.cluster.now())
    assert execute(o.context, plan).moved == 4
    settled(o)


def test_a_window_that_shuts_ends_the_plan_after_the_moves_that_have_begun():
    o = operation(windows=(read_window("00:00-00:01"),))
    o.cluster.wait(50)
    plan = o.plan(**moves_of(1))
    end = execute(o.context, plan)
    assert end.moved == 1
    o.cluster.wait(60)
    again = operation(windows=(read_window("00:00-00:01"),))
    plan = again.plan(**moves_of(1))
    again.cluster.wait(61)
    end = execute(again.context, plan)
    assert (end.moved, end.stopped) == (0, "the window has shut")


def test_too_many_failures_stop_a_plan():
    o = operation(web(replicas=8, cpu=8), faults=Faults(steps={StepFault.REFUSED: 1.0}), alive=0.0, failing=0.1)
    end = execute(o.context, o.plan(**moves_of(8)))
    assert end.moved == 0
    assert o.steps()
    settled(o)


def test_a_plan_that_is_taken_up_again_much_later_is_not_begun():
    o = operation()
    plan = o.plan(**moves_of(2))
    o.cluster.wait(4 * 3600)
    end = execute(o.context, plan)
    assert (end.moved, end.stopped) == (0, "the plan is out of date")


def test_a_machine_that_dies_with_containers_of_the_plan_gives_those_up():
    o = operation(web(replicas=4, machines=5, cpu=4))
    plan = o.plan(**moves_of(2))
    o.after(1, lambda: o.cluster.live.lose(o.cluster.live.machines[0]))
    end = execute(o.context, plan)
    assert set(end.given_up) <= {"web-0", "web-1"}
    settled(o)


def test_a_workload_that_lost_a_replica_meanwhile_is_waited_for_before_another_is_deleted():
    o = operation(web(replicas=4, machines=2, cpu=4), alive=0.75)
    plan = o.plan(web_0="m_1")
    victim = list(o.cluster.live.by_uid.values())[3]
    o.cluster.live.stop(victim, "user", hangs=40.0)
    assert execute(o.context, plan).moved == 1
    settled(o)


@pytest.mark.parametrize("call", ["renew", "begin_steps", "end_steps"])
def test_a_process_that_is_killed_between_two_writes_leaves_nothing_that_cannot_be_found_out(call):
    o = operation()
    plan = o.plan(**moves_of(2))
    real = getattr(o.store, call)

    def kill(*arguments):
        real(*arguments)
        raise Killed

    object.__setattr__(o.store, call, kill)
    with pytest.raises(Killed):
        execute(o.context, plan)
    object.__delattr__(o.store, call)
    assert o.loop.turn().moved == 2
    settled(o)


def test_a_create_waits_for_what_is_stopping_on_its_machine_if_a_rule_counts_both():
    builder = bp.ClusterBuilder("apart").machines("m-{}", 3, cpu=4, memory="8Gi")
    builder = builder.workload("web", replicas=2, cpu=1, memory="1Gi", on=["m-0", "m-1"]).anti_affinity("web")
    o = operation(builder.build(), alive=0.0)
    plan = o.plan(web_0="m_2")
    other = next(i for i in o.cluster.live.by_uid.values() if i.slot.name == "web-1")
    o.cluster.live.set_open(o.cluster.live.machines[0], False)
    o.cluster.live.stop(other, "user")  # its replacement goes to m-2, the only one that is open and free of it
    o.cluster.wait(30)
    assert o.where("web-1") == "m-2"
    o.cluster.live.set_open(o.cluster.live.machines[0], True)
    other = next(i for i in o.cluster.live.by_uid.values() if i.slot.name == "web-1")
    o.cluster.live.stop(other, "user", hangs=100.0)
    o.cluster.wait(1)
    began = o.cluster.time
    assert execute(o.context, plan).moved == 1
    assert o.cluster.time - began > 90
    settled(o)
