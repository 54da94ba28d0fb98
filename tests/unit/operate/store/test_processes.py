"""Several processes on one store: leases, old fences, kills, opening at once. All of them are real processes."""

import json
import os
import random
import signal
import sqlite3
import time
from collections import Counter
from itertools import pairwise

import pytest
from tests.builders.store_processes import STAGES, STEPS, begin, said, start

from bayplan.model.record import Lease, PlanStatus, StepStatus
from bayplan.operate.store import Store

KILLS = 20


@pytest.fixture
def launch():
    """Starts processes; those that still run at the end are killed."""
    started = []

    def start_one(*arguments):
        started.append(start(*arguments))
        return started[-1]

    yield start_one
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.long
def test_processes_that_fight_for_the_lease_never_hold_it_together(where, launch):
    processes = [launch("contend", where, name) for name in ("a", "b", "c")]
    begin(*processes)
    acquired = sorted((line for process in processes for line in said(process)), key=lambda line: line[1])
    assert [fence for _, fence, _, _ in acquired] == list(range(1, len(acquired) + 1))
    assert {name for name, *_ in acquired} == {"a", "b", "c"}
    for (first, _, _, until), (second, _, begun, _) in pairwise(acquired):
        assert first == second or begun >= until
    holder = {fence: name for name, fence, _, _ in acquired}
    with Store.open(where) as store:
        written = [(int(turn.goal), turn.mode) for turn in store.turns()]
        assert store.lease().fence == len(acquired)
    assert written == sorted(written)  # no write with an old fence after one with a newer
    assert all(holder[fence] == name for fence, name in written)


def test_a_process_that_slept_while_another_took_over_writes_nothing(where, launch):
    sleeper = launch("sleep", where)
    begin(sleeper)
    os.waitpid(sleeper.pid, os.WUNTRACED)  # it sleeps
    with Store.open(where) as store:
        assert store.acquire("other", now=9.0, seconds=10.0) is None
        assert store.acquire("other", now=10.0, seconds=10.0) == 2
        before = store.history()
        sleeper.send_signal(signal.SIGCONT)
        assert said(sleeper) == ["lost"] * 7
        assert store.history() == before
        assert store.lease() == Lease(holder="other", fence=2, until=20.0)


def _killed(launcher, rng):
    """Have a process write, and kill it at any point; what was acknowledged until then."""
    begin(launcher)
    writer = json.loads(launcher.stdout.readline())
    lines = [launcher.stdout.readline() for _ in range(rng.randint(1, 30))]
    strike = time.perf_counter() + rng.uniform(0.0, 0.005)
    while time.perf_counter() < strike:
        pass
    os.kill(writer, signal.SIGKILL)
    lines += iter(launcher.stdout.readline, '"ended"\n')
    return [json.loads(line) for line in lines]


def _expect_whole(store, acknowledged, kills):
    """Every write that was acknowledged is there, and every write is there whole or not at all."""
    turns = {turn.id: turn for turn in store.turns()}
    plans = {plan.id: plan for plan in store.plans()}
    open_plans = [plan for plan in plans.values() if plan.status.is_open]
    assert len(open_plans) <= 1
    reached = dict(acknowledged)
    for turn, stage in reached.items():
        steps = store.steps(f"plan-{turn}")
        known = Counter(step.status for step in steps)
        assert known in (Counter(), Counter({StepStatus.BEGUN: STEPS}), Counter({StepStatus.DONE: STEPS}))
        at = STAGES.index(stage)
        assert turn in turns
        assert at < 1 or f"plan-{turn}" in plans
        assert at < 2 or len(steps) == STEPS
        assert at < 3 or known[StepStatus.DONE] == STEPS
        assert at < 4 or plans[f"plan-{turn}"].status is PlanStatus.DONE
        assert at < 5 or turns[turn].ended == 4.0
    assert len(turns) <= len(reached) + kills  # at most one write of each that was killed was not acknowledged


def test_a_process_killed_while_it_writes_leaves_a_whole_record(where, launch):
    rng = random.Random(1)
    launcher = launch("write", where)
    acknowledged = []
    for kills in range(1, KILLS + 1):
        acknowledged += _killed(launcher, rng)
        if where.endswith(".db"):
            raw = sqlite3.connect(where)
            assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert raw.execute("PRAGMA foreign_key_check").fetchall() == []
            raw.close()
        with Store.open(where) as store:
            _expect_whole(store, acknowledged, kills)


@pytest.mark.long
def test_people_and_the_loop_may_write_at_once(where, launch):
    writer, *people = (launch(role, where, name) for role, name in (("write", ""), ("interfere", "anna"), ("interfere", "ben")))
    begin(writer, *people)
    assert [said(process) for process in people] == [["done"], ["done"]]
    os.kill(json.loads(writer.stdout.readline()), signal.SIGKILL)  # it still writes
    with Store.open(where) as store:
        assert all(len(store.steps(plan.id)) in (0, STEPS) for plan in store.plans())


def test_processes_that_open_a_new_store_at_once_all_find_it(where, launch):
    processes = [launch("open", where) for _ in range(4)]
    begin(*processes)
    assert [said(process) for process in processes] == [[""]] * 4
    with Store.open(where) as store:
        assert store.acquire("a", now=0.0, seconds=1.0) == 1
