"""What people write: approvals, the stop switch, requests to roll back, lines of the log."""

from dataclasses import replace

import pytest
from tests.builders.records import plan

from bayplan.errors import UsageError
from bayplan.model.record import Event, Pause, PlanStatus
from bayplan.operate.store.failures import LostLeaseError

NOT_PROPOSED = [status for status in PlanStatus if status is not PlanStatus.PROPOSED]
STARTED = [PlanStatus.EXECUTING, PlanStatus.SETTLING, PlanStatus.ROLLING_BACK, PlanStatus.DONE, PlanStatus.STOPPED]
NOT_STARTED = [status for status in PlanStatus if status not in STARTED]


def test_an_approval_says_who_and_when(store, fence):
    store.save_plan(plan(), fence)
    approved = store.approve("plan-1", by="anna", at=5.0)
    assert approved == plan(status=PlanStatus.APPROVED, changed=5.0, why="approved by anna", approved_by="anna")
    assert store.plan("plan-1") == approved
    assert store.history().events == [Event(at=5.0, kind="approve", text="approved by anna", plan="plan-1")]


@pytest.mark.parametrize("status", NOT_PROPOSED)
def test_only_a_proposed_plan_can_be_approved(store, fence, status):
    store.save_plan(plan(status=status), fence)
    words = f"cannot approve plan 'plan-1': it is {status}; expected one that is proposed"
    with pytest.raises(UsageError, match=words):
        store.approve("plan-1", by="anna", at=5.0)
    assert store.plans() == [plan(status=status)]
    assert store.history().events == []


def test_a_plan_that_is_handed_in_is_approved_and_one_with_the_same_steps_is_not_added(store):
    batches = ((("delete", "web-0", "m-0"), ("create", "web-0", "m-1")),)
    handed = plan("handed-1", PlanStatus.APPROVED, batches=batches, approved_by="anna")
    assert store.hand_in(handed) == handed
    assert store.hand_in(replace(handed, id="handed-2")) == handed
    assert store.plans() == [handed]
    assert store.history().events == [Event(at=1.0, kind="approve", text="handed in by anna", plan="handed-1")]


def test_the_newest_observation_replaces_the_last(store, fence):
    assert store.observed() is None and store.observed_at() is None
    store.keep_observed(1.0, b"first", fence)
    store.keep_observed(2.5, bytes(range(256)), fence)
    assert store.observed() == (2.5, bytes(range(256)))
    assert store.observed_at() == 2.5
    with pytest.raises(LostLeaseError):
        store.keep_observed(3.0, b"late", fence + 1)


@pytest.mark.parametrize("status", [PlanStatus.PROPOSED, PlanStatus.APPROVED])
def test_a_rejected_plan_has_expired_and_says_why(store, fence, status):
    store.save_plan(plan(status=status), fence)
    rejected = store.reject("plan-1", by="anna", at=5.0, why="sale today")
    assert rejected == plan(status=PlanStatus.EXPIRED, changed=5.0, why="rejected by anna: sale today")
    assert store.history().events == [Event(at=5.0, kind="reject", text="rejected by anna: sale today", plan="plan-1")]


def test_a_plan_that_runs_cannot_be_rejected(store, fence):
    store.save_plan(plan(status=PlanStatus.EXECUTING), fence)
    with pytest.raises(
        UsageError, match="cannot reject plan 'plan-1': it is executing; expected one that is proposed or approved"
    ):
        store.reject("plan-1", by="anna", at=5.0)


def test_an_approval_by_a_person_without_a_name_is_still_an_approval(store, fence):
    store.save_plan(plan(), fence)
    assert store.approve("plan-1", by="", at=5.0).status is PlanStatus.APPROVED


def test_the_beginning_of_an_id_is_enough_to_decide(store, fence):
    store.save_plan(plan("2026-a"), fence)
    store.save_plan(plan("2026-b"), fence)
    assert store.approve("2026-a", by="anna", at=5.0).id == "2026-a"
    assert store.reject("2026-b", by="anna", at=5.0).id == "2026-b"
    with pytest.raises(UsageError, match="more than one plan begins with '2026': 2026-a, 2026-b"):
        store.approve("2026", by="anna", at=5.0)


def test_the_stop_switch_says_who_when_and_why(store):
    assert store.paused() is None
    store.pause(by="anna", at=5.0, why="sale today")
    assert store.paused() == Pause(by="anna", at=5.0, why="sale today")
    store.pause(by="ben", at=6.0)
    assert store.paused() == Pause(by="ben", at=6.0)
    store.resume(by="anna", at=7.0)
    assert store.paused() is None
    assert [event.text for event in store.history().events] == ["paused by anna: sale today", "paused by ben", "resumed by anna"]


def test_to_resume_what_is_not_paused_is_no_event(store):
    store.resume(by="anna", at=7.0)
    assert store.history().events == []


@pytest.mark.parametrize("status", STARTED)
def test_a_rollback_can_be_asked_for_once_something_was_done(store, fence, status):
    store.save_plan(plan(status=status), fence)
    assert not store.rollback_asked("plan-1")
    store.ask_rollback("plan", by="anna", at=5.0)
    store.ask_rollback("plan", by="ben", at=6.0)
    assert store.rollback_asked("plan-1")
    assert store.plan("plan-1") == plan(status=status)
    assert [event.text for event in store.history().events] == ["asked for by anna", "asked for by ben"]


@pytest.mark.parametrize("status", NOT_STARTED)
def test_there_is_nothing_to_roll_back_of_a_plan_that_never_ran(store, fence, status):
    store.save_plan(plan(status=status), fence)
    with pytest.raises(UsageError, match=f"plan 'plan-1' is {status}: there is nothing of it to take back"):
        store.ask_rollback("plan-1", by="anna", at=5.0)
    assert not store.rollback_asked("plan-1")


def test_a_rollback_of_an_unknown_plan_is_refused(store):
    with pytest.raises(UsageError, match="no plan 'plan-1' in the record"):
        store.ask_rollback("plan-1", by="anna", at=5.0)


def test_a_request_to_roll_back_stays_when_the_plan_is_written_again(store, fence):
    store.save_plan(plan(status=PlanStatus.EXECUTING), fence)
    store.ask_rollback("plan-1", by="anna", at=5.0)
    store.save_plan(plan(status=PlanStatus.SETTLING), fence)
    assert store.rollback_asked("plan-1")


def test_the_log_keeps_the_order_of_lines_of_one_time(store):
    lines = [Event(at=1.0, kind="step", text=f"line {number}") for number in range(12)]
    for line in lines:
        store.log(line)
    store.log(replace(lines[0], at=0.5))
    assert store.history().events == [replace(lines[0], at=0.5), *lines]
