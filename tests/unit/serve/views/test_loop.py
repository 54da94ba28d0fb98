"""The loop of a record: its status, the progress of its plan, its history; what people say to it is in the record."""

import pytest
from tests.builders.records import plan, step, turn

from bayplan.errors import UsageError
from bayplan.model.plan import Action
from bayplan.model.record import PlannedMove, PlanStatus, StepStatus
from bayplan.operate.store import Store
from bayplan.serve.views.loop import LoopRecord, plan_progress

MOVES = tuple(
    PlannedMove(container=f"web-{k}", uid=f"u{k}", workload="web", source="m-0", target="m-1", why="closer") for k in range(4)
)
BATCHES = ((("create", "web-0", "m-1"), ("create", "web-1", "m-1")), (("delete", "web-0", "m-0"),))


@pytest.fixture
def record(tmp_path):
    where = str(tmp_path / "loop.db")
    with Store.open(where) as store:
        fence = store.acquire("loop", now=1.0, seconds=1e9)
        store.begin_turn(turn(), fence)
        store.save_plan(plan("plan-1", PlanStatus.PROPOSED, moves=MOVES, batches=BATCHES), fence)
    loop = LoopRecord(where)
    yield loop
    loop.close()


def test_a_record_that_no_loop_has_begun_is_said_to_be_missing(tmp_path):
    with pytest.raises(UsageError, match="no record"):
        LoopRecord(str(tmp_path / "none.db")).status()


def test_the_status_has_the_plan_that_waits(record):
    status = record.status()
    assert status["waiting"] == ["plan-1"]
    assert status["plan"]["proposed"] and not status["plan"]["open"]
    assert [move["state"] for move in status["plan"]["moves"]] == ["waits"] * 4
    assert len(status["turns"]) == 1


def test_approve_pause_resume_and_rollback_are_written_down(record):
    assert record.approve("latest", "ann").startswith("approved plan plan-1")
    assert record.store.plan("plan-1").approved_by == "ann"
    record.pause("ann", "release night")
    assert record.status()["paused"]["why"] == "release night"
    record.resume("ann")
    assert record.status()["paused"] is None
    with pytest.raises(UsageError, match="nothing of it to take back"):
        record.rollback("latest", "ann")
    kinds = [event["kind"] for event in record.status()["events"]]
    assert kinds == ["approve", "pause", "resume"]


def test_a_rollback_of_a_plan_under_way_is_asked_for(record):
    record.approve("plan-1", "ann")
    fence = record.store.lease().fence
    record.store.save_plan(plan("plan-1", PlanStatus.EXECUTING, moves=MOVES, batches=BATCHES), fence)
    assert "will be taken back" in record.rollback("plan-1", "ann")
    assert record.store.rollback_asked("plan-1")


def test_the_history_is_a_page_and_an_object(record):
    assert record.history()["summary"]["turns"] == 1
    assert record.report().startswith("<!DOCTYPE html>")
    assert record.history(last=3600.0)["turns"] == record.history()["turns"]


def test_every_move_has_the_state_of_its_last_step():
    steps = [
        step("a", 0, status=StepStatus.DONE),
        step("b", 1, status=StepStatus.BEGUN),
        step("c", 2, action=Action.DELETE, status=StepStatus.DONE, batch=1),
        step("d", 3, status=StepStatus.FAILED, batch=1),
    ]
    progress = plan_progress(plan(moves=MOVES, batches=BATCHES), steps)
    assert [move["state"] for move in progress["moves"]] == ["arrived", "under way", "under way", "given up"]
    assert progress["arrived"] == 1
    assert progress["batches"] == [
        {"planned": 2, "begun": 1, "done": 1, "failed": 0},
        {"planned": 1, "begun": 0, "done": 1, "failed": 1},
    ]


def test_a_move_that_was_taken_back_is_said_to_be():
    steps = [step("a", 0, status=StepStatus.DONE), step("b", 0, back=True, status=StepStatus.DONE, machine="m-0")]
    progress = plan_progress(plan(moves=MOVES[:1], batches=BATCHES), steps)
    assert progress["moves"][0]["state"] == "taken back"
    assert progress["batches"][0]["done"] == 1
