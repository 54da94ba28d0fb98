"""What the one that acts writes: turns, plans, steps, holds."""

from dataclasses import replace

import pytest
from tests.builders.records import plan, step, turn

from bayplan.model.record import Hold, PlanStatus, StepStatus, TurnVerdict
from bayplan.operate.store import StoreError

CLOSED = [status for status in PlanStatus if not status.is_open]
OPEN = [status for status in PlanStatus if status.is_open]


def test_a_turn_gets_an_id_and_its_end_is_written_over_its_beginning(store, fence):
    first, second = store.begin_turn(turn(1.0), fence), store.begin_turn(turn(2.0), fence)
    assert first == turn(1.0, id=first.id)
    assert first.id < second.id
    ended = replace(first, ended=3.0, verdict=TurnVerdict.EXECUTED, gain=0.25, moved=4)
    store.end_turn(ended, fence)
    assert store.turns() == [ended, second]
    assert store.turns(last=1) == [second]
    assert store.turns(last=0) == []


def test_a_turn_that_was_never_begun_cannot_end(store, fence):
    with pytest.raises(StoreError, match="turn 7 was never begun"):
        store.end_turn(turn(id=7), fence)


def test_a_plan_is_replaced_by_what_it_has_become(store, fence):
    store.save_plan(plan(), fence)
    changed = plan(status=PlanStatus.EXECUTING, changed=5.0, why="the gate is open")
    store.save_plan(changed, fence)
    assert store.plans() == [changed]
    assert store.open_plan() == changed


@pytest.mark.parametrize("first", OPEN)
@pytest.mark.parametrize("second", OPEN)
def test_there_is_at_most_one_open_plan(store, fence, first, second):
    store.save_plan(plan("a", first), fence)
    store.save_plan(plan("b", PlanStatus.APPROVED), fence)
    with pytest.raises(StoreError, match=f"plan 'a' is {first}, so 'b' cannot begin: one plan at a time"):
        store.save_plan(plan("b", second), fence)
    assert store.plan("b").status is PlanStatus.APPROVED
    store.save_plan(plan("a", PlanStatus.STOPPED), fence)
    store.save_plan(plan("b", second), fence)
    assert store.open_plan() == plan("b", second)


def test_plans_that_are_not_open_may_be_many(store, fence):
    for status in CLOSED:
        store.save_plan(plan(status, status), fence)
    assert {p.status for p in store.plans()} == set(CLOSED)
    assert store.open_plan() is None


def test_the_database_itself_keeps_a_second_plan_from_being_open(store, fence, monkeypatch):
    monkeypatch.setattr(type(store), "_expect_no_other_open", lambda *_: None)
    store.save_plan(plan("a", PlanStatus.EXECUTING), fence)
    with pytest.raises(StoreError, match="contradicts what is recorded"):
        store.save_plan(plan("b", PlanStatus.EXECUTING), fence)


def test_a_rejected_plan_cannot_be_begun_by_a_loop_that_read_it_before(store, fence):
    store.save_plan(plan(status=PlanStatus.APPROVED), fence)
    store.reject("plan-1", by="anna", at=2.0, why="sale today")
    with pytest.raises(StoreError, match=r"is expired by now \(rejected by anna: sale today\), and cannot become executing"):
        store.save_plan(plan(status=PlanStatus.EXECUTING), fence)
    assert store.open_plan() is None


def test_an_approval_is_not_undone_by_a_loop_that_read_the_plan_before(store, fence):
    store.save_plan(plan(), fence)
    store.approve("plan-1", by="anna", at=2.0)
    with pytest.raises(StoreError, match="'plan-1' is approved by now"):
        store.save_plan(plan(why="still waiting"), fence)
    assert store.plan("plan-1").approved_by == "anna"


def test_a_plan_of_a_turn_that_does_not_exist_is_refused(store, fence):
    with pytest.raises(StoreError, match="contradicts what is recorded"):
        store.save_plan(plan(turn=99), fence)
    assert store.plans() == []


def test_steps_come_back_in_the_order_of_their_numbers(store, fence):
    store.save_plan(plan(status=PlanStatus.EXECUTING), fence)
    late, early = step("a", 11), step("b", 2)
    store.begin_steps([late, early], fence)
    assert store.steps("plan-1") == [early, late]
    assert store.steps("plan-2") == []


def test_the_end_of_a_step_keeps_what_was_written_before_it_was_sent(store, fence):
    store.save_plan(plan(status=PlanStatus.EXECUTING), fence)
    begun = step("a")
    store.begin_steps([begun], fence)
    end = {"status": StepStatus.DONE, "ended": 4.0, "new_uid": "u9", "outcome": "ready"}
    store.end_steps([replace(begun, machine="elsewhere", uid="another", **end)], fence)
    assert store.steps("plan-1") == [replace(begun, **end)]


def test_a_known_token_is_refused_with_all_steps_beside_it(store, fence):
    store.save_plan(plan(status=PlanStatus.EXECUTING), fence)
    store.begin_steps([step("a")], fence)
    with pytest.raises(StoreError, match="step 'a' was begun before"):
        store.begin_steps([step("b", 1), step("a", 2)], fence)
    assert store.steps("plan-1") == [step("a")]


def test_a_token_twice_in_one_call_is_refused(store, fence):
    store.save_plan(plan(status=PlanStatus.EXECUTING), fence)
    with pytest.raises(StoreError, match="contradicts"):
        store.begin_steps([step("a", 0), step("a", 1)], fence)
    assert store.steps("plan-1") == []


def test_a_number_twice_in_one_plan_is_refused(store, fence):
    store.save_plan(plan(status=PlanStatus.EXECUTING), fence)
    store.begin_steps([step("a", 0)], fence)
    with pytest.raises(StoreError, match="contradicts"):
        store.begin_steps([step("b", 0)], fence)


def test_a_known_token_is_found_among_thousands(store, fence):
    store.save_plan(plan(status=PlanStatus.EXECUTING), fence)
    store.begin_steps([step(f"t{number}", number) for number in range(1200)], fence)
    assert len(store.steps("plan-1")) == 1200
    with pytest.raises(StoreError, match="step 't1199' was begun before"):
        store.begin_steps([step(f"t{number}", number) for number in range(1199, 2400)], fence)


def test_a_step_of_an_unknown_plan_is_refused(store, fence):
    with pytest.raises(StoreError, match="contradicts"):
        store.begin_steps([step("a", plan="nowhere")], fence)


def test_one_unknown_token_keeps_all_steps_of_the_call_from_ending(store, fence):
    store.save_plan(plan(status=PlanStatus.EXECUTING), fence)
    store.begin_steps([step("a")], fence)
    with pytest.raises(StoreError, match="step 'b' was never begun"):
        store.end_steps([step("a", status=StepStatus.DONE, ended=3.0), step("b", 1)], fence)
    assert store.steps("plan-1") == [step("a")]


def test_no_steps_are_no_write(store, fence):
    store.begin_steps([], fence)
    store.end_steps([], fence)
    store.hold([], fence)
    assert store.history().steps == []


def test_of_two_holds_of_a_workload_the_later_one_wins(store, fence):
    short, long = (Hold(workload="web", until=until, why=f"until {until}") for until in (10.0, 20.0))
    other = Hold(workload="db", until=15.0, why="")
    store.hold([short, other], fence)
    store.hold([long], fence)
    store.hold([short], fence)
    assert store.holds(now=5.0) == {"db": other, "web": long}
    assert store.holds(now=15.0) == {"web": long}
    assert store.holds(now=20.0) == {}


def test_two_holds_of_one_workload_may_come_in_one_call(store, fence):
    holds = [Hold(workload="web", until=until, why="") for until in (10.0, 30.0, 20.0)]
    store.hold(holds, fence)
    assert store.holds(now=0.0) == {"web": holds[1]}


def test_a_released_hold_is_gone(store, fence):
    store.hold([Hold(workload="web", until=10.0, why="")], fence)
    assert store.release_hold("web")
    assert not store.release_hold("web")
    assert store.holds(now=0.0) == {}
