"""SQLite and PostgreSQL answer alike, whatever comes."""

import random
from dataclasses import replace

import pytest
from tests.builders.records import plan, step, turn

from bayplan.errors import BayplanError
from bayplan.model.plan import Action
from bayplan.model.record import Event, Hold, PlanStatus, StepStatus, TurnVerdict
from bayplan.operate.store import Store

OPERATIONS = 400


def _operation(rng, fence):
    """A call that may or may not be allowed: its name and its arguments."""
    at, name, fence = float(rng.randrange(40)), f"p{rng.randrange(6)}", fence - rng.choice([0] * 9 + [1])
    workload, status = rng.choice(["web", "db", "Ünï", ""]), rng.choice(list(PlanStatus))
    made = plan(name, status, at=at, changed=at + rng.randrange(3), turn=rng.choice([None, None, 1, 2, 3]), why=workload)
    a_step = step(f"t{rng.randrange(40)}", rng.randrange(12), plan=name, begun=at, workload=workload, back=rng.random() < 0.3)
    ended = replace(a_step, status=rng.choice(list(StepStatus)), ended=rng.choice([None, at]), outcome=workload)
    calls = (
        ("begin_turn", turn(at, goal=workload), fence),
        ("end_turn", turn(at, id=rng.randrange(1, 9), ended=at, verdict=rng.choice(list(TurnVerdict))), fence),
        *[("save_plan", made, fence)] * 3,
        *[("begin_steps", [a_step, replace(a_step, token=a_step.token + "x", number=99, action=Action.DELETE)], fence)] * 3,
        *[("end_steps", [ended], fence)] * 3,
        ("hold", [Hold(workload=workload, until=at, why=name, plan=name)], fence),
        ("approve", name, "anna", at),
        ("reject", name[: rng.randrange(3)], "anna", at, workload),
        ("pause", "anna", at, workload),
        ("resume", "anna", at),
        ("ask_rollback", name, "anna", at),
        ("release_hold", workload),
        ("log", Event(at=at, kind=name, text=workload)),
        ("prune", at / 4),
        ("renew", fence, at, 5.0),
    )
    return rng.choice(calls)


def _outcome(store, name, *arguments):
    try:
        return getattr(store, name)(*arguments)
    except BayplanError as error:
        return type(error)


def _everything(store):
    return (
        store.history(),
        store.history(10.0, 20.0),
        [store.steps(f"p{number}") for number in range(6)],
        [store.plans(status, last=2) for status in PlanStatus],
        [(store.last_moved(at), store.moved_since(at), store.executions_since(at), store.holds(at)) for at in (0.0, 20.0)],
        (store.lease(), store.paused(), store.open_plan(), store.last_time(), store.turns(), store.requested_rollback()),
        [(store.rollback_asked(f"p{number}"), store.last_event(f"p{number}")) for number in range(6)],
    )


@pytest.mark.postgres
@pytest.mark.parametrize("seed", [0, 1, 124])
def test_both_databases_answer_alike(postgres_server, seed):
    rng = random.Random(seed)
    with Store.open(":memory:") as sqlite, Store.open(postgres_server.address()) as postgresql:
        fence, outcomes = 0, set()
        for number in range(OPERATIONS):
            if number % 50 == 0:
                fence = sqlite.acquire("a", now=0.0, seconds=1.0)
                assert postgresql.acquire("a", now=0.0, seconds=1.0) == fence
            call = _operation(rng, fence)
            outcome = _outcome(sqlite, *call)
            assert _outcome(postgresql, *call) == outcome, call
            outcomes.add(outcome if isinstance(outcome, type) else call[0])
            if number % 20 == 0:
                assert _everything(sqlite) == _everything(postgresql), call
        assert len(outcomes) >= 15  # most calls were allowed once, and every kind of refusal came
