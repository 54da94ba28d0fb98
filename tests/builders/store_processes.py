"""Processes of their own that use a store, for tests of what happens between them.

    python -m tests.builders.store_processes contend|sleep|write|interfere|open WHERE [NAME]

Each says "ready" when everything is imported and goes on when it gets a line, so that they begin together.
"""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.builders.records import plan, step, turn

from bayplan.errors import BayplanError, UsageError
from bayplan.model.record import Event, Hold, PlanStatus, StepStatus, TurnVerdict
from bayplan.operate.store import LostLeaseError, Store

ROOT = Path(__file__).parents[2]
ACQUISITIONS = 25  # of each that contends
LEASE = 0.002  # seconds
INTERFERENCES = 10
STEPS = 10  # of a plan of the one that writes
STAGES = ("begin turn", "plan", "begin steps", "end steps", "done", "end turn")


def start(role: str, where: str, name: str = "") -> subprocess.Popen[str]:
    """A process that is ready to begin."""
    command = [sys.executable, "-m", "tests.builders.store_processes", role, where, name]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def begin(*processes: subprocess.Popen[str]) -> None:
    """Let them go on, all at once."""
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()


def said(process: subprocess.Popen[str]) -> list[Any]:
    """All that a process says until it ends."""
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return [json.loads(line) for line in output.splitlines()]


def say(value: Any) -> None:
    """Say a value, at once."""
    print(json.dumps(value), flush=True)


def contend(where: str, name: str) -> None:
    """Acquire the lease again and again, and write under every fence; says what was acquired, from when until when."""
    with Store.open(where) as store:
        acquired = 0
        while acquired < ACQUISITIONS:
            now = time.monotonic()
            fence = store.acquire(name, now, LEASE)
            if fence is not None:
                acquired += 1
                say([name, fence, now, _act(store, name, fence, now + LEASE)])


def _act(store: Store, name: str, fence: int, until: float) -> float:
    """Write until another takes over, three times at most; until when the lease was ours."""
    try:
        for _ in range(3):
            store.begin_turn(turn(mode=name, goal=str(fence)), fence)
            now = time.monotonic()
            store.renew(fence, now, LEASE)
            until = now + LEASE
    except LostLeaseError:
        pass
    return until


def sleep(where: str, _: str) -> None:
    """Acquire the lease, sleep until another process wakes us, and try every write; says what each raised."""
    with Store.open(where) as store:
        fence = store.acquire("sleeper", now=0.0, seconds=10.0)
        assert fence is not None
        store.save_plan(plan(status=PlanStatus.EXECUTING), fence)
        store.begin_steps([step("a")], fence)
        os.kill(os.getpid(), signal.SIGSTOP)
        for write in (
            lambda: store.renew(fence, now=5.0, seconds=10.0),
            lambda: store.begin_turn(turn(), fence),
            lambda: store.end_turn(turn(id=1), fence),
            lambda: store.save_plan(plan(status=PlanStatus.DONE), fence),
            lambda: store.begin_steps([step("b", 1)], fence),
            lambda: store.end_steps([step("a", status=StepStatus.DONE)], fence),
            lambda: store.hold([Hold(workload="web", until=9.0, why="")], fence),
        ):
            try:
                write()
                say("written")
            except LostLeaseError:
                say("lost")


def write(where: str, _: str) -> None:
    """For every line that comes, one process that writes until it is killed; says when it has ended."""
    while True:
        writer = os.fork()
        if writer == 0:
            say(os.getpid())
            _write_for_ever(where)
        os.waitpid(writer, 0)
        say("ended")
        if not sys.stdin.readline():
            return


def _write_for_ever(where: str) -> None:
    """Go through turns, plans and steps; says every write when it was acknowledged."""
    with Store.open(where) as store:
        fence = store.acquire("writer", now=0.0, seconds=10.0)
        assert fence is not None
        left = store.open_plan()
        if left is not None:
            store.save_plan(replace(left, status=PlanStatus.STOPPED), fence)
        while True:
            _one_turn(store, fence)


def _one_turn(store: Store, fence: int) -> None:
    begun = store.begin_turn(turn(), fence)
    name = f"plan-{begun.id}"
    steps = [step(f"{name}-{number}", number, plan=name) for number in range(STEPS)]
    writes = (
        lambda: store.save_plan(plan(name, PlanStatus.EXECUTING, turn=begun.id), fence),
        lambda: store.begin_steps(steps, fence),
        lambda: store.end_steps([replace(each, status=StepStatus.DONE, ended=3.0) for each in steps], fence),
        lambda: store.save_plan(plan(name, PlanStatus.DONE, turn=begun.id), fence),
        lambda: store.end_turn(replace(begun, ended=4.0, verdict=TurnVerdict.EXECUTED), fence),
    )
    say([begun.id, STAGES[0]])
    for stage, each in zip(STAGES[1:], writes, strict=True):
        each()
        say([begun.id, stage])


def interfere(where: str, name: str) -> None:
    """Do what people do, again and again, while others write; says what was raised, except refusals."""
    with Store.open(where) as store:
        for number in range(INTERFERENCES):
            store.pause(by=name, at=float(number))
            store.log(Event(at=float(number), kind="gate", text=name))
            for each in store.plans(last=1):
                with suppress(UsageError):  # of a status that does not allow it by now, or pruned
                    store.ask_rollback(each.id, by=name, at=float(number))
            store.resume(by=name, at=float(number))
            store.release_hold("web")
            store.prune(before=0.5 + number % 2)
            store.history()
    say("done")


def open_store(where: str, _: str) -> None:
    """Open a store and read it; says what was raised, or nothing."""
    try:
        with Store.open(where) as store:
            store.pause(by="anna", at=1.0)
            say("" if store.paused() is not None else "nothing was written")
    except BayplanError as error:
        say(str(error))


if __name__ == "__main__":
    role, address, called = sys.argv[1:]
    print("ready", flush=True)
    sys.stdin.readline()
    {"contend": contend, "sleep": sleep, "write": write, "interfere": interfere, "open": open_store}[role](address, called)
