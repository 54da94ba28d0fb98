"""`apply`: one plan, from a file or from the record."""

import json

import pytest
from tests.builders.operated import operation, talkers

import bayplan as bp
from bayplan.errors import BayplanError, UsageError, WorldError
from bayplan.model.record import PlanStatus, TurnVerdict
from bayplan.operate.apply import apply
from bayplan.operate.simulated import Faults, FaultyTime
from bayplan.operate.store import Store


@pytest.fixture
def plan_file(tmp_path):
    path = tmp_path / "plan.json"
    bp.plan(talkers(), budget=bp.Budget(iterations=200), threads=1, max_moves=4).save(path)
    return str(path)


def test_a_dry_run_changes_nothing(plan_file):
    o = operation(talkers())
    answer = apply(o.context, plan_file)
    assert answer.succeeded
    assert "Nothing was changed" in answer.headline
    assert (o.store.turns(), o.store.plans(), o.store.lease()) == ([], [], None)
    assert not o.truth.bound


def test_a_dry_run_does_not_touch_a_plan_that_was_cut_off(plan_file):
    o = operation(talkers())
    o.plan(web_0="m_1")
    with pytest.raises(WorldError, match="only one plan at a time"):
        apply(o.another(), plan_file)
    assert o.store.lease().holder == o.context.holder


def test_a_plan_is_carried_out_and_the_lease_is_free_afterwards(plan_file):
    o = operation(talkers())
    answer = apply(o.context, plan_file, yes=True)
    assert answer.succeeded, answer.headline
    assert answer.plan.status is PlanStatus.DONE
    assert o.store.lease() is None
    o.expect_safe()
    o.expect_nothing_left_behind()


def test_a_file_made_for_another_state_is_refused_and_the_lease_is_free_afterwards(plan_file):
    o = operation(talkers())
    victim = next(iter(o.cluster.live.by_uid.values()))
    o.cluster.live.set_open(o.cluster.live.machines[victim.machine], False)
    o.cluster.live.stop(victim, "user")
    o.cluster.wait(60)
    with pytest.raises(BayplanError, match="E1521"):
        apply(o.context, plan_file, yes=True)
    assert o.store.lease() is None
    assert o.store.turns() == []


def test_a_plan_of_the_record_is_applied_by_its_id_and_only_once():
    o = operation(talkers(), mode="manual")
    o.loop.run(turns=1)
    (plan,) = o.store.plans()
    assert apply(o.another(), plan.id, yes=True).succeeded
    with pytest.raises(UsageError, match="is done"):
        apply(o.another(), plan.id, yes=True)


def test_a_plan_that_would_violate_a_rule_by_now_is_not_safe():
    o = operation(talkers(), mode="manual")
    o.loop.run(turns=1)
    (plan,) = o.store.plans()
    o.cluster.live.set_open(o.cluster.live.machine_named(plan.moves[0].target), False)
    answer = apply(o.another(), plan.id, yes=True)
    assert not answer.succeeded
    assert "takes no containers" in answer.verdict
    assert not o.truth.bound


def test_nothing_is_applied_while_it_is_paused(plan_file):
    o = operation(talkers())
    o.store.pause("ann", o.cluster.now())
    answer = apply(o.context, plan_file, yes=True)
    assert answer.verdict == "paused by ann"
    assert not o.store.plans()


def test_another_process_that_acts_keeps_it_out(plan_file):
    o = operation(talkers())
    assert o.another().acquire()
    with pytest.raises(WorldError, match="another process acts"):
        apply(o.context, plan_file, yes=True)


def test_an_unknown_plan_is_refused():
    o = operation(talkers())
    with pytest.raises(UsageError, match="no plan 'nothing'"):
        apply(o.context, "nothing")


def test_the_answer_is_plain_json(plan_file):
    o = operation(talkers())
    assert json.loads(json.dumps(apply(o.context, plan_file).to_dict()))["done"] is None
    assert isinstance(o.store, Store)


def test_a_plan_goes_on_after_an_orchestrator_did_not_answer_for_long(plan_file):
    o = operation(talkers(), faults=Faults(outages=(FaultyTime(10, 700),)))
    answer = apply(o.context, plan_file, yes=True)
    assert answer.succeeded, answer.headline
    o.expect_safe()
    o.expect_nothing_left_behind()


def test_a_plan_that_cannot_go_on_is_said_not_to_be_at_its_end(plan_file):
    o = operation(talkers(), faults=Faults(outages=(FaultyTime(10, 1e6),)))
    answer = apply(o.context, plan_file, yes=True)
    assert not answer.succeeded
    assert "is not at its end, bayplan run goes on with it" in answer.headline
    assert o.store.open_plan().status is PlanStatus.EXECUTING
    assert o.store.turns()[-1].verdict is TurnVerdict.FAILED
