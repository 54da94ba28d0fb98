"""Every value comes back as it was written."""

from dataclasses import replace
from itertools import count

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.builders import records
from tests.builders.records import plan, step, turn

from bayplan.errors import ModelError
from bayplan.model.record import Event, Hold, PlanStatus

NUMBERS = count()  # ids that no example had before
one_store = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)


@one_store
@given(begun=records.turns, ended=records.turns)
def test_turns(store, fence, begun, ended):
    begun = store.begin_turn(begun, fence)
    assert store.turns(last=1) == [begun]
    ended = replace(ended, id=begun.id)
    store.end_turn(ended, fence)
    assert store.turns(last=1) == [ended]


@one_store
@given(made=records.plans, later=records.plans)
def test_plans(store, fence, made, later):
    made = replace(made, id=f"{next(NUMBERS)}:{made.id}")
    store.save_plan(made, fence)
    assert store.plan(made.id) == made
    if made.status not in (PlanStatus.EXPIRED, PlanStatus.APPROVED):
        store.save_plan(replace(later, id=made.id), fence)
        assert store.plan(made.id) == replace(later, id=made.id)


@one_store
@given(begun=st.lists(records.steps, max_size=4, unique_by=lambda each: each.number), end=records.steps)
def test_steps(store, fence, begun, end):
    name = f"plan {next(NUMBERS)}"
    store.save_plan(plan(name), fence)
    begun = [replace(each, plan=name, token=f"{next(NUMBERS)}:{each.token}") for each in begun]
    store.begin_steps(begun, fence)
    assert store.steps(name) == sorted(begun, key=lambda each: each.number)
    outcome = {name: getattr(end, name) for name in ("status", "ended", "new_uid", "outcome")}
    ended = [replace(each, **outcome) for each in begun]
    store.end_steps(ended, fence)
    assert store.steps(name) == sorted(ended, key=lambda each: each.number)


@one_store
@given(hold=records.holds, event=records.events)
def test_holds_and_events(store, fence, hold, event):
    hold = replace(hold, workload=f"{next(NUMBERS)}:{hold.workload}")
    store.hold([hold], fence)
    store.log(event)
    history = store.history()
    assert hold in history.holds
    assert event in history.events


def test_numbers_of_numpy_are_numbers(store, fence):
    odd = turn(np.float64(1.5), containers=np.int64(7), moves=np.int32(3), local=np.float32(0.25))
    begun = store.begin_turn(odd, fence)
    assert store.turns() == [turn(1.5, id=begun.id, containers=7, moves=3, local=0.25)]
    loads = {"load": np.array([0.5, 1.0]), "hot": np.int64(2)}
    store.save_plan(plan(before=loads, expected={"gain": np.float64(0.5)}), fence)
    assert store.plan("plan-1").before == {"load": [0.5, 1.0], "hot": 2}
    store.begin_steps([step("a", back=np.bool_(True))], fence)
    assert [type(each.back) for each in store.steps("plan-1")] == [bool]


def test_what_no_database_keeps_in_a_text_is_written_out(store):
    store.log(Event(at=1.0, kind="step", text="half \ud800 and none \0 of it"))
    assert store.history().events == [Event(at=1.0, kind="step", text="half \\ud800 and none \\u0000 of it")]


def test_a_figure_that_is_no_number_is_refused(store, fence):
    with pytest.raises(ModelError, match="not a number"):
        store.begin_turn(turn(local=float("nan")), fence)
    assert store.turns() == []


def test_an_int_that_is_too_large_is_refused(store, fence):
    with pytest.raises(ModelError, match="too large for the record"):
        store.begin_turn(turn(containers=2**63), fence)


def test_what_is_not_data_is_refused(store, fence):
    with pytest.raises(ModelError, match="cannot be written as JSON"):
        store.save_plan(plan(before={"load": object()}), fence)
    assert store.plans() == []


def test_a_hold_until_the_end_of_time_comes_back(store, fence):
    forever = Hold(workload="web", until=float("inf"), why="never again")
    store.hold([forever], fence)
    assert store.holds(now=1e300) == {"web": forever}
