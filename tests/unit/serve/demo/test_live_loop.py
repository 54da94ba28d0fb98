"""The loop of the demo: a head start, then proposals that are approved by themselves if no person does."""

import gzip
import json
from dataclasses import replace

import pytest

import bayplan as bp
from bayplan.model.record import PlanStatus
from bayplan.operate.loop import Loop
from bayplan.operate.settings import Mode
from bayplan.operate.store import Store
from bayplan.serve.demo import live_loop
from bayplan.serve.demo.live_loop import LiveLoop


class SeenEnoughError(Exception):
    """The test has seen enough."""


@pytest.fixture
def live(tmp_path, monkeypatch):
    monkeypatch.setattr(live_loop, "HEAD_START", 1800.0)
    monkeypatch.setattr(live_loop, "PATIENCE", 0.0)
    with Store.open(tmp_path / "loop.db") as store:
        made = LiveLoop(store, bp.generate("boutique"))
        made.orchestrator._sleep = lambda seconds: None
        yield made


@pytest.mark.long
def test_a_plan_that_waits_too_long_is_approved_by_the_demo(live):
    seen = []

    def looked():
        live.look()
        seen.extend(plan for plan in live.store.plans(PlanStatus.DONE) if plan.approved_by == "the demo")
        if seen:
            raise SeenEnoughError

    live.orchestrator._looked = looked
    with pytest.raises(SeenEnoughError):
        live.run()
    assert seen[0].moves
    _, content = live.store.observed()
    assert len(json.loads(gzip.decompress(content))["machines"]) == 12


def proposing(live):
    return Loop(live._context(replace(live.settings, mode=Mode.APPROVE, min_gain=0.0)))


def test_while_it_is_paused_the_demo_approves_nothing(live):
    proposing(live).run(turns=1)
    live.store.pause("ann", live.cluster.now())
    live.look()
    live.look()
    assert [plan.approved_by for plan in live.store.plans(PlanStatus.PROPOSED)] == [""]
    live.store.resume("ann", live.cluster.now())
    live.look()
    assert [plan.approved_by for plan in live.store.plans(PlanStatus.APPROVED)] == ["the demo"]


def test_it_is_fast_between_turns_and_slow_while_a_plan_waits(live):
    assert live.pace() == float("inf")
    live.cluster.wait(3600.0)
    assert live.pace() == live_loop.IDLE
    proposing(live).run(turns=1)
    assert live.store.plans(PlanStatus.PROPOSED)
    assert live.pace() == live_loop.ACTING
