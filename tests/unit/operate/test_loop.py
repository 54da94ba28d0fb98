"""The loop: modes, approvals, budgets, cooldown, and an orchestrator that does not answer."""

import pytest
from tests.builders.operated import operation, talkers

from bayplan.errors import InternalError
from bayplan.model.record import Hold, PlanStatus, TurnVerdict
from bayplan.operate.loop import Loop
from bayplan.operate.simulated import Faults, FaultyTime, ObservationFault, StepFault
from bayplan.operate.stages.decide import moves_left
from bayplan.operate.windows import read_window


def status(o, plan):
    return o.store.plan(plan).status


def test_auto_carries_out_what_passes_the_gate():
    o = operation(talkers())
    turn = o.loop.turn()
    assert (turn.verdict, turn.moved) == (TurnVerdict.EXECUTED, 2)
    assert [plan.status for plan in o.store.plans()] == [PlanStatus.DONE]
    o.expect_safe()
    o.expect_nothing_left_behind()


def test_manual_only_proposes_and_a_newer_plan_replaces_an_older_one():
    o = operation(talkers(), mode="manual")
    for _ in range(2):
        turn = o.loop.turn()
        assert (turn.verdict, turn.moved) == (TurnVerdict.PROPOSED, 0)
        o.cluster.wait(60)
    assert [plan.status for plan in o.store.plans()] == [PlanStatus.EXPIRED, PlanStatus.PROPOSED]
    assert not o.truth.bound


def test_approve_waits_for_a_person_and_then_acts():
    o = operation(talkers(), mode="approve")
    o.loop.turn()
    (plan,) = o.store.plans()
    o.store.approve(plan.id, "ann", o.cluster.now())
    assert o.loop.turn().moved == 2
    assert status(o, plan.id) is PlanStatus.DONE


def test_an_approval_that_comes_too_late_is_not_followed():
    o = operation(talkers(), mode="approve")
    o.loop.turn()
    (plan,) = o.store.plans()
    o.cluster.wait(3601)
    o.store.approve(plan.id, "ann", o.cluster.now())
    turn = o.loop.turn()
    assert (turn.verdict, status(o, plan.id)) == (TurnVerdict.PROPOSED, PlanStatus.EXPIRED)  # a new one is made
    assert not o.truth.bound


def test_a_loop_that_waits_is_woken_by_an_approval():
    o = operation(talkers(), mode="approve")
    o.after(100, lambda: o.store.approve(o.store.plans()[0].id, "ann", o.cluster.now()))
    o.loop.run(turns=2)
    assert o.store.turns()[1].started - o.store.turns()[0].started < 300


def test_a_paused_loop_plans_nothing_and_rolls_nothing_back():
    o = operation(talkers())
    o.loop.turn()
    (plan,) = o.store.plans()
    o.store.ask_rollback(plan.id, "ann", o.cluster.now())
    o.store.pause("bob", o.cluster.now(), "release night")
    turn = o.loop.turn()
    assert (turn.verdict, turn.why) == (TurnVerdict.HELD_OFF, "paused by bob: release night")
    assert status(o, plan.id) is PlanStatus.DONE
    o.store.resume("bob", o.cluster.now())
    o.loop.turn()
    assert status(o, plan.id) is PlanStatus.ROLLED_BACK


def test_a_pause_in_the_middle_of_a_plan_and_a_resume_bring_it_to_its_end():
    o = operation(talkers(), alive=1.0)
    o.after(4, lambda: o.store.pause("ann", o.cluster.now()))
    first = o.loop.turn()
    assert "paused" in first.why
    assert o.store.open_plan() is not None
    assert o.loop.turn().verdict is TurnVerdict.HELD_OFF
    o.store.resume("ann", o.cluster.now())
    o.loop.turn()
    assert o.store.open_plan() is None
    o.cluster.wait(7200)
    o.expect_safe()
    o.expect_nothing_left_behind()


def test_a_pause_between_the_last_step_and_the_verification_keeps_the_plan_open():
    o = operation(talkers(), settle=600.0)
    o.after(300, lambda: o.store.pause("ann", o.cluster.now()))
    o.loop.turn()
    assert o.store.open_plan().status is PlanStatus.SETTLING
    o.store.resume("ann", o.cluster.now())
    o.loop.turn()
    assert o.store.open_plan() is None


def test_a_rollback_that_is_asked_for_in_the_middle_takes_back_what_was_moved():
    o = operation(talkers())
    o.after(8, lambda: o.store.ask_rollback(o.store.open_plan().id, "ann", o.cluster.now()))
    o.loop.turn()
    (plan,) = o.store.plans()
    assert plan.status is PlanStatus.ROLLED_BACK
    assert [o.where(name) for name in ("web-0", "web-1", "api-0", "api-1")] == ["m-0", "m-0", "m-1", "m-1"]
    o.expect_safe()


def test_the_moves_of_an_hour_are_a_limit():
    o = operation(talkers(), moves_per_hour="2", max_moves="2")
    assert moves_left(o.context, o.cluster.observe()) == 2
    o.loop.turn()
    assert moves_left(o.context, o.cluster.observe()) == 0
    assert o.loop.turn().verdict is TurnVerdict.HELD_OFF
    o.cluster.wait(3700)
    assert moves_left(o.context, o.cluster.observe()) == 2


def test_nothing_is_done_outside_of_the_windows():
    o = operation(talkers(), windows=(read_window("05:00-06:00"),))
    assert o.loop.turn().verdict is TurnVerdict.HELD_OFF
    o.cluster.wait(5 * 3600)
    assert o.loop.turn().moved == 2


def test_an_orchestrator_that_does_not_answer_ends_the_turn_and_the_next_one_goes_on():
    o = operation(talkers(), faults=Faults(outages=(FaultyTime(3, 1200),)))
    turn = o.loop.turn()
    assert turn.verdict is TurnVerdict.FAILED
    assert "does not answer" in turn.why
    o.loop.run(turns=4)
    assert o.store.open_plan() is None
    o.cluster.wait(7200)
    o.expect_safe()
    o.expect_nothing_left_behind()


def test_a_plan_that_was_cut_off_is_gone_on_with_soon():
    o = operation(talkers(), faults=Faults(outages=(FaultyTime(3, 900),)))
    o.loop.run(turns=3)
    first, second = o.store.turns()[:2]
    assert first.verdict is TurnVerdict.FAILED
    assert second.started - first.ended == pytest.approx(60.0)


def test_an_unsound_turn_does_nothing():
    o = operation(talkers(), faults=Faults(observations={ObservationFault.EMPTY: 1.0}))
    assert o.loop.turn().verdict is TurnVerdict.UNSOUND
    assert not o.store.plans()
    assert not o.truth.bound


def test_a_clock_that_goes_back_in_the_middle_of_a_plan_stops_it_until_it_catches_up():
    o = operation(talkers(), faults=Faults(slow_clocks=(FaultyTime(6, 900, by=7200),)))
    turn = o.loop.turn()
    assert (turn.verdict, "the clock went back" in turn.why) == (TurnVerdict.UNSOUND, True)
    o.cluster.wait(900)
    o.loop.turn()
    assert o.store.open_plan() is None
    o.cluster.wait(7200)
    o.expect_safe()
    o.expect_nothing_left_behind()


def test_the_lease_is_kept_between_turns_and_free_when_the_loop_ends():
    o = operation(talkers(), mode="manual")
    other, tried = o.another(), []
    for minutes in range(5, 60, 5):
        o.after(60 * minutes, lambda: tried.append(other.acquire()))
    Loop(o.context, poll=1800.0).run(turns=3)
    assert tried
    assert not any(tried)
    assert other.acquire()


def test_a_held_workload_is_not_planned():
    o = operation(talkers())
    assert o.context.acquire()
    holds = [Hold(workload=name, until=o.cluster.now() + 86400, why="skewed") for name in ("web", "api")]
    o.store.hold(holds, o.context.fence)
    assert o.loop.turn().verdict is TurnVerdict.NOTHING
    o.cluster.wait(86401)
    assert o.loop.turn().moved == 2


def test_a_pause_that_is_over_before_the_begun_moves_have_ended_keeps_the_rest_of_the_plan():
    o = operation(talkers(), alive=1.0)
    o.after(4, lambda: o.store.pause("ann", o.cluster.now()))
    o.after(6, lambda: o.store.resume("ann", o.cluster.now()))
    o.loop.run(turns=2)
    assert o.store.open_plan() is None
    o.expect_safe()


def test_a_process_that_is_asked_to_end_in_the_middle_ends_when_nothing_is_half_moved_and_another_goes_on():
    o = operation(talkers(), alive=1.0, faults=Faults(step_script={1: StepFault.SAYS_DONE}))
    o.context.stop = lambda: o.cluster.time > o.cluster._faults.start + 3
    assert o.loop.run() == 1
    assert o.store.lease() is None
    o.context.stop = lambda: False
    o.loop.run(turns=2)
    assert o.store.open_plan() is None
    o.cluster.wait(7200)
    o.expect_safe()
    o.expect_nothing_left_behind()


def test_a_rollback_during_which_the_process_is_asked_to_end_goes_on_with_the_next_process():
    o = operation(talkers())
    o.loop.run(turns=1)
    (plan,) = o.store.plans()
    o.store.ask_rollback(plan.id, "ann", o.cluster.now())
    o.after(1, lambda: setattr(o.context, "stop", lambda: True))
    o.loop.run(turns=1)
    assert status(o, plan.id) is PlanStatus.ROLLING_BACK
    o.context.stop = lambda: False
    o.loop.run(turns=1)
    assert status(o, plan.id) is PlanStatus.ROLLED_BACK
    assert [o.where(name) for name in ("web-0", "web-1", "api-0", "api-1")] == ["m-0", "m-0", "m-1", "m-1"]


def test_a_fault_of_a_planner_ends_the_turn_and_not_the_loop(monkeypatch):
    o = operation(talkers())

    def broken(*arguments):
        raise InternalError("E2101", "no bound")

    with monkeypatch.context() as patched:
        patched.setattr("bayplan.operate.loop.decided", broken)
        turn = o.loop.turn()
    assert turn.verdict is TurnVerdict.FAILED
    assert "no bound" in turn.why
    assert o.loop.turn().moved == 2
