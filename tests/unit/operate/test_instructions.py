"""What people say to a running loop is written into its record, with a time that never goes back."""

import time

import pytest
from tests.builders.records import plan, turn

from bayplan.errors import UsageError
from bayplan.model.record import PlanStatus
from bayplan.operate import instructions
from bayplan.operate.store import Store


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "loop.db") as opened:
        yield opened


def test_only_a_loop_begins_a_record(tmp_path):
    with pytest.raises(UsageError, match="expected one that bayplan run or bayplan apply has begun"):
        instructions.open_record(str(tmp_path / "none.db"))
    assert not (tmp_path / "none.db").exists()


def test_the_time_is_the_clock_unless_the_record_has_one_of_its_own(store):
    assert instructions.record_time(store) == pytest.approx(time.time(), abs=60)
    store.pause("ann", 1000.0)
    assert instructions.record_time(store) == 1000.0


def test_latest_is_the_newest_plan(store):
    with pytest.raises(UsageError, match="there is no plan in the record yet"):
        instructions.plan_named(store, "latest")
    fence = store.acquire("loop", now=1.0, seconds=60)
    store.begin_turn(turn(), fence)
    store.save_plan(plan("p-1", PlanStatus.PROPOSED, at=1.0), fence)
    store.save_plan(plan("p-2", PlanStatus.PROPOSED, at=2.0), fence)
    assert instructions.plan_named(store, "latest") == "p-2"
    assert instructions.plan_named(store, "p-1") == "p-1"


def test_to_resume_with_trust_says_so_in_the_log(store):
    store.pause("ann", 1000.0)
    instructions.resume(store, "ann", trust=True)
    assert store.paused() is None
    assert [event.kind for event in store.events(3)] == ["pause", "resume", "trust"]
