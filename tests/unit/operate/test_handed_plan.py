"""A plan that a person hands in: taken by the names of what runs, without what changed since, or out of date."""

import json

import pytest
from tests.builders.operated import operation, talkers
from tests.builders.records import turn

import bayplan as bp
from bayplan.errors import InputError, UsageError
from bayplan.model.record import PlanStatus, TurnVerdict
from bayplan.operate.handed_plan import handed_in, taken
from bayplan.operate.instructions import hand_in, record_time
from bayplan.operate.windows import read_window


def planned(o, folder, **options):
    """The document of a plan that a person makes on what the loop sees now."""
    bp.plan(o.cluster.observe().snapshot, goal="local-traffic", seconds=1, **options).save(folder / "plan.json")
    return json.loads((folder / "plan.json").read_text())


def given(o, document):
    """The plan as it is handed in, at the cluster's time."""
    return o.store.hand_in(handed_in(document, "plan.json", "ann", o.cluster.now()))


@pytest.mark.parametrize("mode", ["manual", "approve", "auto"])
def test_the_loop_carries_out_what_a_person_hands_in(mode, tmp_path):
    o = operation(talkers(), mode=mode)
    handed = given(o, planned(o, tmp_path))
    made = o.loop.turn()
    assert (made.verdict, made.moved) == (TurnVerdict.EXECUTED, len(handed.moves))
    done = o.store.plan(handed.id)
    assert (done.status, done.approved_by, done.turn) == (PlanStatus.DONE, "ann", made.id)
    assert all(move.uid and move.workload for move in done.moves)
    o.expect_safe()
    o.expect_nothing_left_behind()


def test_it_can_be_taken_back(tmp_path):
    o = operation(talkers(), mode="manual")
    before = o.cluster.observe().snapshot.placement.machine_of.tolist()
    handed = given(o, planned(o, tmp_path))
    o.loop.turn()
    o.store.ask_rollback(handed.id, "ann", o.cluster.now())
    o.loop.turn()
    assert o.store.plan(handed.id).status is PlanStatus.ROLLED_BACK
    assert o.cluster.observe().snapshot.placement.machine_of.tolist() == before
    o.expect_safe()


def test_a_loop_that_waits_is_woken_by_it(tmp_path):
    o = operation(talkers(), mode="manual")
    document = planned(o, tmp_path)
    o.after(100, lambda: given(o, document))
    o.loop.run(turns=2)
    assert o.store.turns()[1].started - o.store.turns()[0].started < 300
    assert o.store.turns()[1].moved == len(document["moves"])


def test_a_paused_loop_does_not_take_it(tmp_path):
    o = operation(talkers(), mode="manual")
    handed = given(o, planned(o, tmp_path))
    o.store.pause("bob", o.cluster.now())
    assert o.loop.turn().verdict is TurnVerdict.HELD_OFF
    assert o.store.plan(handed.id).status is PlanStatus.APPROVED
    assert not o.truth.bound


def test_what_is_handed_in_late_is_out_of_date(tmp_path):
    o = operation(talkers(), mode="manual")
    handed = given(o, planned(o, tmp_path))
    o.cluster.wait(3601)
    assert o.loop.turn().verdict is TurnVerdict.PROPOSED
    assert o.store.plan(handed.id).status is PlanStatus.EXPIRED
    assert not o.truth.bound


def document_of(*moves):
    """A plan of moves (container, from, to), each a batch of its own."""
    steps = [
        [{"action": "delete", "container": c, "machine": source}, {"action": "create", "container": c, "machine": target}]
        for c, source, target in moves
    ]
    return {"batches": steps}


def test_what_changed_since_is_left_out_with_the_reason():
    o = operation(talkers(), mode="manual")
    observation = o.cluster.observe()
    runs_on = {state.name: state.machine for state in observation.containers}
    machines = [state.name for state in observation.machines]
    first, *others = sorted(runs_on)
    elsewhere = [machine for machine in machines if machine != runs_on[first]]
    plan = handed_in(
        document_of(
            (first, runs_on[first], elsewhere[0]),
            ("gone-0", machines[0], machines[1]),
            (others[0], "m-99", machines[0]),
            (others[1], next(m for m in machines if m != runs_on[others[1]]), runs_on[others[1]]),
        ),
        "plan.json",
        "ann",
        o.cluster.now(),
    )
    found = taken(plan, turn(), observation)
    assert [move.container for move in found.plan.moves] == [first]
    assert found.left_out["gone-0"] == "is gone"
    assert found.left_out[others[0]] == "would need machine 'm-99', which is not there"
    assert found.left_out[others[1]] == f"runs on '{runs_on[others[1]]}'"
    assert found.out_of_date.startswith("3 of 4 moves left out: the cluster changed since the plan was made")


def test_a_plan_of_which_most_cannot_be_made_expires_with_the_reason():
    o = operation(talkers(), mode="manual")
    handed = given(o, document_of(("gone-0", "m-0", "m-1")))
    made = o.loop.turn()
    assert made.verdict is TurnVerdict.HELD_OFF and "gone-0 is gone" in made.why
    expired = o.store.plan(handed.id)
    assert expired.status is PlanStatus.EXPIRED and "gone-0 is gone" in expired.why
    assert not o.truth.bound


def test_a_goal_of_a_persons_own_is_verified_by_that_of_the_loop(tmp_path):
    o = operation(talkers(), mode="manual")
    handed = given(o, planned(o, tmp_path) | {"goal": "mine"})
    assert o.loop.turn().moved == len(handed.moves)
    assert o.store.plan(handed.id).status is PlanStatus.DONE


def test_what_cannot_be_verified_ends_and_the_loop_goes_on(tmp_path, monkeypatch):
    o = operation(talkers(), mode="manual")
    handed = given(o, planned(o, tmp_path))

    def refused(*_):
        raise UsageError("no such goal")

    monkeypatch.setattr("bayplan.operate.loop.verify", refused)
    o.loop.turn()
    ended = o.store.plan(handed.id)
    assert ended.status is PlanStatus.STOPPED and "it cannot be verified: no such goal" in ended.why
    o.store.ask_rollback(handed.id, "ann", o.cluster.now())
    o.loop.turn()
    assert o.store.plan(handed.id).status is PlanStatus.ROLLED_BACK


def test_a_rollback_is_not_kept_waiting_by_a_verification(tmp_path):
    o = operation(talkers(), mode="manual", settle=600.0)
    handed = given(o, planned(o, tmp_path))
    o.after(120, lambda: o.store.pause("bob", o.cluster.now()))
    o.loop.turn()
    assert o.store.plan(handed.id).status is PlanStatus.SETTLING
    o.store.ask_rollback(handed.id, "ann", o.cluster.now())
    o.store.resume("bob", o.cluster.now())
    o.loop.turn()
    assert o.store.plan(handed.id).status is PlanStatus.ROLLED_BACK


def test_outside_of_its_windows_a_loop_is_not_woken_and_the_plan_expires(tmp_path):
    o = operation(talkers(), mode="manual", windows=(read_window("tue 01:00-02:00"),))  # its time begins on a Monday
    handed = given(o, planned(o, tmp_path))
    began = o.cluster.now()
    o.loop.run(until=began + 2 * 3600)
    assert len(o.store.turns()) <= 5  # one every half hour
    assert o.store.plan(handed.id).status is PlanStatus.EXPIRED


def test_what_is_frozen_is_not_moved_by_a_plan_of_a_person(tmp_path):
    o = operation(talkers(), mode="manual", freeze=("*",))
    handed = given(o, planned(o, tmp_path))
    assert "is frozen" in o.loop.turn().why
    assert o.store.plan(handed.id).status is PlanStatus.EXPIRED
    assert not o.truth.bound


def test_steps_that_contradict_each_other_end_the_plan():
    o = operation(talkers(), mode="manual")
    state = o.cluster.observe().containers[0]
    other = next(machine.name for machine in o.cluster.observe().machines if machine.name != state.machine)
    document = document_of((state.name, state.machine, other))
    document["batches"].append([{"action": "delete", "container": state.name, "machine": state.machine}])
    handed = given(o, document)
    o.loop.turn()
    assert o.store.plan(handed.id).status is PlanStatus.EXPIRED


def test_a_clock_that_is_ahead_of_a_loop_that_lives_does_not_stop_it(monkeypatch):
    o = operation(talkers(), mode="manual")
    o.loop.turn()
    monkeypatch.setattr("bayplan.operate.instructions.time.time", lambda: o.cluster.now() + 300.0)
    assert record_time(o.store) <= o.cluster.now() + 30.0


def test_a_plan_without_moves_and_a_broken_file_are_refused():
    o = operation(talkers(), mode="manual")
    with pytest.raises(UsageError, match="moves no container that runs"):
        hand_in(o.store, {"batches": [[{"action": "create", "container": "a-0", "machine": "m-0"}]]}, "plan.json", "ann")
    for broken in ({}, [], {"batches": [[{"action": "shift", "container": "a-0", "machine": "m-0"}]]}):
        with pytest.raises(InputError, match=r"plan\.json"):
            hand_in(o.store, broken, "plan.json", "ann")
    assert o.store.plans() == []


def test_the_loop_writes_down_what_it_sees_now_and_then():
    o = operation(talkers(), mode="manual")
    o.loop.turn()
    first = o.store.observed_at()
    assert first is not None
    o.cluster.wait(60)
    o.loop.turn()
    assert o.store.observed_at() == first  # the clock of this process has hardly gone on
    o.context.shown = 0.0
    o.loop.turn()
    assert o.store.observed_at() > first
