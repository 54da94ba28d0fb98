"""What is read: plans by id, what moved, the latest time, the history of a span."""

from dataclasses import replace

import pytest
from tests.builders.records import plan, step, turn

from bayplan.errors import UsageError
from bayplan.model.plan import Action
from bayplan.model.record import Event, History, Hold, PlanStatus, StepStatus
from bayplan.operate.store import Store


def test_a_plan_is_found_by_its_id_or_the_only_one_that_begins_so(store, fence):
    for name in ("ab", "abc", "abd", "Xy"):
        store.save_plan(plan(name), fence)
    assert store.plan("ab").id == "ab"
    assert store.plan("abc").id == "abc"
    assert store.plan("X").id == "Xy"


def test_a_plan_that_is_not_there_is_said_with_what_was_probably_meant(store, fence):
    store.save_plan(plan("plan-11-17"), fence)
    with pytest.raises(UsageError, match=r"no plan 'plam-11-17' in the record; did you mean 'plan-11-17'\?"):
        store.plan("plam-11-17")
    for odd in ("", "x", "plan_", "plan%", "PLAN", "plan-11-17\0"):
        with pytest.raises(UsageError, match="no plan"):
            store.plan(odd)


def test_many_plans_that_begin_alike_are_not_all_named(store, fence):
    for number in range(9):
        store.save_plan(plan(f"p{number}"), fence)
    with pytest.raises(UsageError, match=r"begins with 'p': p0, p1, p2, p3, p4, \.\.\.; write more of it"):
        store.plan("p")


def test_plans_are_the_oldest_first_by_status_and_the_last_ones(store, fence):
    made = [plan(f"p{number}", PlanStatus.DONE if number % 2 else PlanStatus.STOPPED, at=10.0 - number) for number in range(4)]
    for each in made:
        store.save_plan(each, fence)
    assert store.plans() == made[::-1]
    assert store.plans(PlanStatus.DONE) == [made[3], made[1]]
    assert store.plans(last=2) == [made[1], made[0]]
    assert store.plans(PlanStatus.STOPPED, last=1) == [made[0]]
    assert store.plans(PlanStatus.EXECUTING) == []


def _with_steps(store, fence):
    store.save_plan(plan(status=PlanStatus.EXECUTING), fence)
    done = {"status": StepStatus.DONE}
    steps = [
        step("a", 0, ended=10.0, workload="web", **done),
        step("b", 1, ended=12.0, workload="web", action=Action.DELETE, **done),
        step("c", 2, ended=14.0, workload="db", **done),
        step("d", 3, ended=20.0, workload="db", status=StepStatus.FAILED),
        step("e", 4, begun=30.0, workload="db"),
        step("f", 5, ended=16.0, workload="api", back=True, **done),
    ]
    store.begin_steps([replace(each, status=StepStatus.BEGUN, ended=None) for each in steps], fence)
    store.end_steps([each for each in steps if each.ended], fence)
    return steps


def test_last_moved_is_when_a_done_step_touched_a_workload(store, fence):
    _with_steps(store, fence)
    assert store.last_moved(since=0.0) == {"web": 12.0, "db": 14.0, "api": 16.0}
    assert store.last_moved(since=14.0) == {"db": 14.0, "api": 16.0}
    assert store.last_moved(since=17.0) == {}


def test_moved_since_counts_done_creates_that_are_not_of_the_way_back(store, fence):
    _with_steps(store, fence)
    assert [store.moved_since(at) for at in (0.0, 10.0, 10.5, 14.0, 14.5)] == [2, 2, 1, 1, 0]


def test_a_done_step_without_an_end_counts_from_its_beginning(store, fence):
    store.save_plan(plan(status=PlanStatus.EXECUTING), fence)
    store.begin_steps([step("a", begun=7.0, status=StepStatus.DONE)], fence)
    assert (store.moved_since(7.0), store.last_moved(7.0)) == (1, {"web": 7.0})


def test_executions_count_from_when_a_plan_was_first_open(store, fence):
    store.save_plan(plan("never"), fence)
    for status, changed in (
        (PlanStatus.PROPOSED, 1.0),
        (PlanStatus.EXECUTING, 5.0),
        (PlanStatus.SETTLING, 8.0),
        (PlanStatus.DONE, 9.0),
    ):
        store.save_plan(plan(status=status, changed=changed), fence)
    store.save_plan(plan(status=PlanStatus.ROLLING_BACK, changed=20.0), fence)
    assert [store.executions_since(at) for at in (0.0, 5.0, 5.1, 20.0)] == [1, 1, 0, 0]


def test_an_empty_store_has_no_time(store):
    assert store.last_time() is None


TIMES = {
    "lease": lambda store, fence: store.renew(fence, now=50.0, seconds=1000.0),
    "turn": lambda store, fence: store.begin_turn(turn(50.0), fence),
    "end of a turn": lambda store, fence: store.end_turn(replace(store.begin_turn(turn(1.0), fence), ended=50.0), fence),
    "plan": lambda store, fence: store.save_plan(plan(at=50.0), fence),
    "change of a plan": lambda store, fence: store.save_plan(plan(changed=50.0), fence),
    "step": lambda store, fence: _one_step(store, fence, begun=50.0),
    "end of a step": lambda store, fence: _one_step(store, fence, ended=50.0),
    "event": lambda store, _: store.log(Event(at=50.0, kind="gate", text="")),
    "pause": lambda store, _: store.pause(by="anna", at=50.0),
    "rollback": lambda store, fence: (
        store.save_plan(plan(status=PlanStatus.DONE), fence),
        store.ask_rollback("plan-1", by="anna", at=50.0),
    ),
}


def _one_step(store, fence, **times):
    store.save_plan(plan(), fence)
    store.begin_steps([step("a", **times)], fence)


@pytest.mark.parametrize("write", TIMES.values(), ids=TIMES)
def test_the_latest_time_is_found_wherever_it_was_written(store, fence, write):
    assert store.last_time() == 0.0
    store.hold([Hold(workload="web", until=1000.0, why="lies ahead")], fence)
    write(store, fence)
    assert store.last_time() == 50.0


def test_a_history_is_all_there_is_the_oldest_first(store, fence):
    first, second = store.begin_turn(turn(1.0), fence), store.begin_turn(turn(2.0), fence)
    steps = _with_steps(store, fence)
    hold, event = Hold(workload="web", until=9.0, why=""), Event(at=3.0, kind="gate", text="open")
    store.hold([hold], fence)
    store.log(event)
    by_time = sorted(steps, key=lambda each: (each.begun, each.number))
    whole = History(turns=[first, second], plans=store.plans(), steps=by_time, holds=[hold], events=[event])
    assert store.history() == whole
    assert store.history(0.0, 100.0) == whole


def test_a_history_has_what_began_before_the_end_of_a_span_and_had_not_ended_at_its_start(store, fence):
    turns = [replace(store.begin_turn(turn(at), fence), ended=at + 5.0) for at in (0.0, 10.0, 20.0)]
    for each in turns:
        store.end_turn(each, fence)
    plans = [plan(f"p{at}", PlanStatus.DONE, at=at, changed=at + 5.0) for at in (0.0, 10.0, 20.0)]
    for each in plans:
        store.save_plan(each, fence)
    store.begin_steps([step(f"s{n}", n, plan="p0.0", begun=10.0 * n, ended=10.0 * n + 5.0) for n in range(3)], fence)
    for at in (0.0, 10.0, 20.0):
        store.log(Event(at=at, kind="gate", text=""))
        store.hold([Hold(workload=f"w{at}", until=at, why="")], fence)

    def shape(start, end):
        history = store.history(start, end)
        return [len(part) for part in (history.turns, history.plans, history.steps, history.holds, history.events)]

    assert shape(None, None) == [3, 3, 3, 3, 3]
    assert shape(5.0, 10.0) == [2, 2, 2, 2, 1]
    assert shape(6.0, 9.0) == [0, 0, 0, 2, 0]
    assert shape(12.0, None) == [2, 2, 2, 1, 1]
    assert shape(None, 12.0) == [2, 2, 2, 3, 2]
    assert store.history(6.0, 12.0).turns == [turns[1]]


def test_an_open_plan_belongs_to_every_later_span(store, fence):
    store.save_plan(plan(status=PlanStatus.EXECUTING, at=1.0), fence)
    assert len(store.history(100.0, 200.0).plans) == 1
    assert store.history(0.0, 0.5).plans == []


def test_the_newest_plan_that_is_to_be_taken_back_and_has_not_been_is_found(store, fence):
    assert store.requested_rollback() is None
    for at, status in enumerate((PlanStatus.DONE, PlanStatus.STOPPED, PlanStatus.DONE)):
        store.save_plan(plan(f"p{at}", status, at=float(at)), fence)
    assert store.requested_rollback() is None
    for name in ("p1", "p0"):
        store.ask_rollback(name, by="anna", at=9.0)
    assert store.requested_rollback() == store.plan("p1")
    store.save_plan(plan("p1", PlanStatus.ROLLING_BACK), fence)
    assert store.requested_rollback() == store.plan("p0")
    store.save_plan(plan("p1", PlanStatus.ROLLED_BACK), fence)
    assert store.requested_rollback() == store.plan("p0")


def test_the_last_events_come_in_the_order_of_their_time(store):
    for at in (3.0, 1.0, 2.0):
        store.log(Event(at=at, kind="gate", text=f"at {at:g}"))
    assert [event.text for event in store.events(2)] == ["at 2", "at 3"]
    assert store.events(10) == list(store.history().events)


def test_the_last_event_of_a_kind_is_the_one_that_was_written_last(store):
    assert store.last_event("gate") is None
    lines = [Event(at=at, kind=kind, text="") for at, kind in ((5.0, "gate"), (2.0, "gate"), (9.0, "step"))]
    for line in lines:
        store.log(line)
    assert store.last_event("gate") == lines[1]
    assert store.last_event("step") == lines[2]


def test_one_store_reads_what_another_has_written(where):
    with Store.open(where) as writer, Store.open(where) as reader:
        assert reader.turns() == []
        fence = writer.acquire("a", now=0.0, seconds=10.0)
        first = writer.begin_turn(turn(), fence)
        assert reader.turns() == [first]
        reader.pause(by="anna", at=1.0)
        assert writer.paused() == reader.paused()


def test_the_record_is_there_when_the_store_is_opened_again(where):
    with Store.open(where) as store:
        fence = store.acquire("a", now=0.0, seconds=10.0)
        store.save_plan(plan(status=PlanStatus.EXECUTING), fence)
        store.begin_steps([step("a")], fence)
    with Store.open(where) as store:
        assert store.open_plan() == plan(status=PlanStatus.EXECUTING)
        assert store.steps("plan-1") == [step("a")]
        store.renew(fence, now=1.0, seconds=10.0)
