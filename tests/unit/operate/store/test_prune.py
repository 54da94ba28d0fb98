"""What is old is deleted, and nothing that is still needed."""

from dataclasses import replace

import pytest
from tests.builders.records import plan, step, turn

from bayplan.model.record import Event, Hold, PlanStatus, StepStatus

OPEN = [status for status in PlanStatus if status.is_open]


def _turn(store, fence, at):
    ended = replace(store.begin_turn(turn(at), fence), ended=at + 1.0)
    store.end_turn(ended, fence)
    return ended


def test_old_turns_plans_steps_events_and_holds_are_deleted_and_counted(store, fence):
    for at in (10.0, 100.0):
        made = _turn(store, fence, at)
        store.save_plan(plan(f"p{at}", PlanStatus.DONE, at=at, turn=made.id), fence)
        store.begin_steps([step(f"s{at}", plan=f"p{at}", begun=at, ended=at + 1.0, status=StepStatus.DONE)], fence)
        store.log(Event(at=at, kind="gate", text=""))
        store.hold([Hold(workload=f"w{at}", until=at, why="")], fence)
    assert store.prune(before=50.0) == 5
    left = store.history()
    assert [t.started for t in left.turns] == [100.0]
    assert [p.id for p in left.plans] == ["p100.0"]
    assert [s.token for s in left.steps] == ["s100.0"]
    assert [e.at for e in left.events] == [100.0]
    assert [h.until for h in left.holds] == [100.0]
    assert store.prune(before=50.0) == 0


@pytest.mark.parametrize("status", OPEN)
def test_an_open_plan_is_never_deleted_nor_its_steps_nor_its_turn(store, fence, status):
    made = _turn(store, fence, 1.0)
    opened = plan(status=status, turn=made.id)
    store.save_plan(opened, fence)
    store.begin_steps([step("a")], fence)
    assert store.prune(before=1000.0) == 0
    assert (store.open_plan(), store.steps("plan-1"), store.turns()) == (opened, [step("a")], [made])


def test_a_plan_that_changed_or_had_a_step_since_then_is_kept_whole(store, fence):
    store.save_plan(plan("changed", PlanStatus.DONE, at=1.0, changed=60.0), fence)
    store.save_plan(plan("moved", PlanStatus.DONE, at=1.0), fence)
    steps = [step("a", 0, plan="moved", ended=3.0, status=StepStatus.DONE), step("b", 1, plan="moved", begun=70.0)]
    store.begin_steps(steps, fence)
    assert store.prune(before=50.0) == 0
    assert store.steps("moved") == steps
    assert {p.id for p in store.plans()} == {"changed", "moved"}


def test_a_request_to_roll_back_goes_with_its_plan(store, fence):
    store.save_plan(plan(status=PlanStatus.DONE), fence)
    store.ask_rollback("plan-1", by="anna", at=2.0)
    assert store.prune(before=50.0) == 2
    assert not store.rollback_asked("plan-1")


def test_the_lease_the_stop_switch_and_holds_in_force_stay(store, fence):
    store.pause(by="anna", at=2.0)
    store.hold([Hold(workload="web", until=60.0, why="")], fence)
    store.prune(before=50.0)
    assert store.paused() is not None
    assert set(store.holds(now=55.0)) == {"web"}
    store.renew(fence, now=51.0, seconds=10.0)


def test_the_last_turn_stays_because_it_may_still_run(store, fence):
    _turn(store, fence, 1.0)
    running = store.begin_turn(turn(2.0), fence)
    assert store.prune(before=50.0) == 1
    assert store.turns() == [running]
    store.save_plan(plan(turn=running.id), fence)


def test_ids_of_deleted_turns_are_not_given_again(store, fence):
    old = [_turn(store, fence, at).id for at in (1.0, 2.0)]
    assert store.prune(before=50.0) == 1
    assert store.begin_turn(turn(60.0), fence).id > max(old)
