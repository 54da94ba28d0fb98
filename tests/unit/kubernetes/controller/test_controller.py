"""A controller: acts with the lease only, ends in order, and tells the cluster what it does."""

import json
import urllib.error
import urllib.request

import pytest
from tests.builders.controlled import ANY_PORT, LEASE, controlled, wait_for
from tests.builders.operated import operation, talkers
from tests.builders.stored_objects import StoredObjects

from bayplan.errors import UsageError
from bayplan.kubernetes.client import RefusedError, UnavailableError
from bayplan.kubernetes.controller.controller import ControllerSettings
from bayplan.model.record import PlanStatus
from bayplan.operate.settings import LoopSettings

ACTS = ("prepare", "execute", "release", "cancel")


def ended(controlled_, seconds=300.0):  # kernels may have to be compiled first
    controlled_.thread.join(seconds)
    assert not controlled_.thread.is_alive(), "the controller did not end"
    return controlled_


def test_a_turn_moves_what_pays_tells_it_everywhere_and_gives_the_lease_back():
    o = operation(talkers())
    c = ended(controlled(o, turns=1).start())
    assert c.turns == [1]
    o.expect_safe()
    o.expect_nothing_left_behind()
    reasons = sorted({(each["reason"], each["regarding"]["kind"], each["type"]) for each in c.events()})
    assert reasons == [
        ("MoveCompleted", "Deployment", "Normal"),
        ("MoveCompleted", "Pod", "Normal"),
        ("MoveStarted", "Deployment", "Normal"),
        ("MoveStarted", "Pod", "Normal"),
        ("PlanComputed", "Deployment", "Normal"),
    ]
    assert c.metric("bayplan_turns_total", verdict="executed") == 1
    assert c.metric("bayplan_moves_total", outcome="started") == c.metric("bayplan_moves_total", outcome="completed") == 2
    assert c.metric("bayplan_steps_total", action="create", outcome="done") == 2
    assert c.metric("bayplan_plans_total", status="done") == 1
    assert c.metric("bayplan_lease_acquired_total") == 1 and c.metric("bayplan_lease_lost_total") == 0
    assert "holderIdentity" not in c.server.objects[LEASE]["spec"]
    assert [line["message"] for line in c.lines("turn")] == [o.store.history().events[-1].text]
    assert all(line["controller"] == "one" and line["time"].endswith("Z") for line in c.lines())


def test_nothing_is_done_while_another_one_holds_the_lease():
    o, server = operation(talkers()), StoredObjects()
    _hold_as(server, "another")
    c = controlled(o, server=server).start()
    wait_for(lambda: c.controller.election.holder == "another")
    assert c.controller.ready().facts == {"role": "standby", "leader": "another", "connected": True, "problem": ""}
    c.stop()
    assert c.cluster.calls == [] and o.store.turns() == []
    assert server.objects[LEASE]["spec"]["holderIdentity"] == "another"


def test_no_step_is_begun_after_the_lease_is_lost_and_the_plan_is_finished_when_it_is_back():
    o, swept = operation(talkers()), []
    c = controlled(o, turns=2, sweep_hook=lambda: swept.append(1) or [])
    lost, after = [], []

    def steal(name):
        if name == "execute" and not lost:
            _hold_as(c.server, "thief")
            wait_for(lambda: not c.controller.election.term)
            lost.append(len(c.cluster.calls))
            before = c.controller._term_began

            def began(term):
                after.append(len(c.cluster.calls))
                before(term)

            object.__setattr__(c.controller.election.listener, "began", began)

    c.cluster.before = steal
    c.start()
    wait_for(lambda: c.lines("lease-lost"))
    assert o.store.open_plan() is not None
    _hold_as(c.server, "")
    ended(c)
    assert after[0] - lost[0] <= 1  # the call that was on its way when the lease was lost
    assert c.metric("bayplan_lease_lost_total") == 1
    assert len(swept) >= 2  # when it began to act, and when the lease was lost
    assert [plan.status for plan in o.store.plans()] == [PlanStatus.DONE]
    o.expect_safe()
    o.expect_nothing_left_behind()


def test_asked_to_end_it_brings_the_batch_to_its_end_and_leaves_the_rest_to_the_next_one():
    o = operation(talkers())
    c = controlled(o, grace=30.0)
    c.cluster.before = lambda name: c.controller.ending.ask() if name == "execute" else None
    ended(c.start())
    assert all(step.status == "done" for plan in o.store.plans() for step in o.store.steps(plan.id))
    o.expect_nothing_left_behind()
    assert "holderIdentity" not in c.server.objects[LEASE]["spec"]
    ended(controlled(o, turns=1).start())
    assert [plan.status for plan in o.store.plans()] == [PlanStatus.DONE]
    o.expect_safe()


def test_when_its_grace_is_over_steps_are_cancelled_and_reservations_ended():
    o = operation(talkers())
    c = controlled(o, grace=0.0)
    c.cluster.before = lambda name: c.controller.ending.ask() if name == "execute" else None
    ended(c.start())
    executed = len(c.cluster.calls) - 1 - c.cluster.calls[::-1].index("execute")
    assert set(c.cluster.calls[executed + 1 :]) == {"cancel", "release"}
    o.expect_nothing_left_behind()
    assert "holderIdentity" not in c.server.objects[LEASE]["spec"]
    o.cluster.wait(3600)
    ended(controlled(o, turns=1).start())
    o.expect_safe()


def test_the_next_controller_acts_at_once_although_the_record_names_one_that_was_killed():
    o = operation(talkers())
    dead = controlled(o, "dead")
    context = dead.controller._context(1)
    assert o.store.acquire(context.holder, o.cluster.now(), 1e6) == 1
    c = ended(controlled(o, "alive", turns=1).start())
    assert c.turns == [1]


def test_events_that_cannot_be_written_do_not_stop_the_loop():
    o = operation(talkers())
    c = controlled(o, turns=1)

    def forbidden(method, path):
        if "/events" in path:
            raise RefusedError("events are forbidden", status=403, reason="Forbidden")

    c.server.fail = forbidden
    ended(c.start())
    assert o.store.plans()[0].status is PlanStatus.DONE
    assert c.metric("bayplan_events_total", reason="MoveStarted", result="failed") > 0
    assert c.metric("bayplan_background_failures_total") > 0
    assert "events are forbidden" in {line["message"] for line in c.lines("problem")}


def test_a_lease_that_cannot_be_had_is_said_once_and_makes_it_unready():
    o = operation(talkers())
    c = controlled(o)

    def unreachable(method, path):
        raise UnavailableError("the API server does not answer", status=0)

    c.server.fail = unreachable
    c.start()
    wait_for(lambda: len(c.server.calls) > 5)
    assert not c.controller.ready().well
    assert c.controller.alive().well
    c.stop()
    assert len(c.lines("problem")) == 1


def test_overdue_reservations_are_counted_and_named():
    o = operation(talkers())
    c = ended(controlled(o, turns=1, sweep_hook=lambda: ["plan-7"]).start())
    assert c.metric("bayplan_overdue_reservations_total") >= 1
    assert "plan-7" in c.lines("problem")[0]["message"]


def test_probes_and_metrics_are_answered_over_http_while_it_waits():
    o, server = operation(talkers()), StoredObjects()
    _hold_as(server, "another")
    c = controlled(o, server=server, listen=ANY_PORT).start()
    port = wait_for(lambda: c.lines("listen"))[0]["message"].split()[-1]
    wait_for(lambda: c.controller.ready().well)
    status, body = _get(port, "/readyz")
    assert (status, json.loads(body)["role"]) == (200, "standby")
    assert _get(port, "/healthz")[0] == 200
    assert b"bayplan_leader 0.0" in _get(port, "/metrics")[1]
    assert _get(port, "/secret")[0] == 404
    c.controller.heartbeat.limit = -1.0
    assert _get(port, "/healthz")[0] == 503
    c.stop()
    with pytest.raises(urllib.error.URLError):
        _get(port, "/healthz")


@pytest.mark.parametrize("settings", [{"grace": -1.0}, {"lease_name": ""}, {"lease_namespace": ""}])
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(UsageError, match="expected"):
        ControllerSettings(**({"loop": LoopSettings(), "identity": "a", "lease_namespace": "b"} | settings))


def _hold_as(server, holder):
    """Someone else writes the lease."""
    spec = {"holderIdentity": holder, "leaseDurationSeconds": 60 if holder else 1, "leaseTransitions": 5}
    server._store(LEASE, {"metadata": {"name": "bayplan", "namespace": "bayplan"}, "spec": spec})


def _get(port, path):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()
