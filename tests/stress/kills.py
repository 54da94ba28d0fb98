"""A loop that is killed at random moments, again and again: a real process, a real SIGKILL, a real record.

    python -m tests.stress.kills --count 200 --out kills.csv                          an SQLite file
    python -m tests.stress.kills --count 50 --postgres --out kills-postgres.csv       a PostgreSQL server of its own
    python -m tests.stress.kills --count 12 --command-line                            `bayplan run` itself, killed by the clock

The cluster lives on in a process of its own. Each life of the loop is a process (forked after everything was imported) that is
killed just before or after its n-th call of the orchestrator or of the record, so that every gap between two writes is hit; with
--command-line `bayplan run` is started anew and killed after a random time. After each case the loop runs undisturbed until no
plan is open; then the record must agree with what the cluster did, and a referee with every instant of it. One row per kill.
"""

import argparse
import csv
import functools
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tests.builders import postgres
from tests.builders.operated import Countdown, Interrupted, Truth, record_faults

import bayplan as bp
from bayplan.check.operation import OperationReferee, first_instants
from bayplan.model import Budget
from bayplan.operate.context import LoopContext
from bayplan.operate.loop import Loop
from bayplan.operate.orchestrator import Orchestrator, Phase
from bayplan.operate.settings import LoopSettings
from bayplan.operate.simulated import SimulatedOrchestrator, SimulatedSettings, preset
from bayplan.operate.simulated.served import ClusterProcess, ServedOrchestrator
from bayplan.operate.store import Store

LIVES = 8  # of one case, at most
CALLS = 40  # of one life, at most
SETTINGS = LoopSettings(
    mode="auto", budget=Budget(iterations=200), threads=1, min_gain=0.0, max_moves="20%", cooldown=0.0, young=0.0, settle=60.0
)
FIELDS = ("case", "life", "calls", "place", "plan", "steps", "begun", "wrong")


def made_cluster(seed: int, churn: str) -> SimulatedOrchestrator:
    """The cluster of a case."""
    return SimulatedOrchestrator(bp.generate("boutique", seed=seed), settings=preset(churn), seed=seed)


@dataclass(slots=True, kw_only=True)
class KilledCase:
    """One cluster, one record, and the processes that were killed on it."""

    number: int
    cluster: ClusterProcess
    where: str
    first: bp.Snapshot
    rng: np.random.Generator

    def run(self, lives: int) -> Iterator[tuple[object, ...]]:
        """Kill as many processes, then let one run to the end; a row for each, the last with what is wrong."""
        made = [self._killed(life) for life in range(lives)]
        self._live(lambda context: _finish(context))
        wrong = "; ".join(self.faults())[:500]
        for row in made[:-1]:
            yield *row, ""
        yield *made[-1], wrong

    def _killed(self, life: int) -> tuple[object, ...]:
        calls, early = int(self.rng.integers(1, CALLS)), bool(self.rng.integers(2))
        marker = Path(tempfile.mkstemp(prefix="bayplan-kill-")[1])
        self._live(lambda context: _interrupted(context, calls, early, marker))
        place = marker.read_text() or "ended"
        marker.unlink()
        with Store.open(self.where) as store:
            plan = store.open_plan()
            steps = store.steps(plan.id) if plan is not None else []
        begun = sum(step.status == "begun" for step in steps)
        return self.number, life, calls, place, str(plan.status) if plan else "", len(steps), begun

    def _live(self, act: Callable[[LoopContext], None]) -> None:
        """One process, from its start to its end; it shares nothing with this one but the cluster and the record."""
        child = os.fork()
        if child == 0:
            status = 1
            try:
                orchestrator = self.cluster.connect()
                orchestrator.wait(float(self.rng.integers(1, 900)))
                act(LoopContext(orchestrator=orchestrator, store=Store.open(self.where), settings=SETTINGS))
                status = 0
            finally:
                os._exit(status)
        _, status = os.waitpid(child, 0)
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        assert killed or os.waitstatus_to_exitcode(status) == 0, f"a loop ended with {status}"

    def faults(self) -> list[str]:
        """Where the record, the cluster and the referee differ."""
        client = self.cluster.connect()
        with Store.open(self.where) as store:
            faults = judged(client, store, self.first)
        client.close()
        return faults


def judged(client: ServedOrchestrator, store: Store, first: bp.Snapshot) -> list[str]:
    """What is wrong in the end: every instant of the cluster, the record, and what is left over."""
    truth = Truth()
    referee = _referee(client.universe, first)
    for instant in client.instants():
        referee.see(instant)
        truth.see(instant)
    faults = [f"violation: {violation}" for violation in referee.violations]
    plan = store.open_plan()
    faults += [f"plan {plan.id} is still {plan.status}"] if plan is not None else []
    faults += list(record_faults(store, truth))
    for instance in client.instances():
        if instance.gated:
            faults.append(f"container {instance.slot.name} waits for a step that never comes")
        if instance.slot.second is not None and instance.slot.second.token and instance.phase is not Phase.STOPPING:
            faults.append(f"container {instance.slot.name} runs twice because of us")
    return faults


def _referee(universe: bp.Snapshot, first: bp.Snapshot) -> OperationReferee:
    """A referee that has seen the first snapshot; on machines that joined later there is nothing at first."""
    referee = OperationReferee(universe.cluster, SETTINGS.alive)
    uids = [f"{name}.{len(first.cluster.machines.name) + 1 + c}" for c, name in enumerate(first.cluster.containers.name)]
    needed = [SimulatedSettings().needed(replicas) for replicas in first.cluster.replicas.tolist()]
    referee.start(first_instants(universe.cluster, universe.placement, uids=uids, needed=needed))
    return referee


def _interrupted(context: LoopContext, calls: int, early: bool, marker: Path) -> None:
    def kill() -> None:
        marker.write_text(countdown.last)
        os.kill(os.getpid(), signal.SIGKILL)

    countdown = Countdown(calls=calls, early=early, kill=kill)
    context.orchestrator = Interrupted(context.orchestrator, countdown)  # type: ignore[assignment]
    context.store = Interrupted(context.store, countdown)  # type: ignore[assignment]
    Loop(context).run(turns=4)


def _finish(context: LoopContext) -> None:
    """Undisturbed, until no plan is open and all reservations have ended."""
    for _ in range(10):
        _one_turn(context.orchestrator, context)
        if context.store.open_plan() is None:
            break
    context.orchestrator.wait(3600)


def _one_turn(orchestrator: Orchestrator, context: LoopContext) -> None:
    orchestrator.wait(SETTINGS.lease + 1)
    Loop(context).run(turns=1)


# ---- the command line ----------------------------------------------------------------------------------------------------------


def command_line_kills(folder: Path, count: int, seed: int) -> list[str]:
    """`bayplan run` against a served cluster, killed after random times, then run to the end; what is wrong."""
    rng, store = np.random.default_rng(seed), folder / "record.db"
    command = [sys.executable, "-m", "bayplan", "run", "--sandbox", str(folder / "c.sock"), "--mode", "auto"]
    command += ["--store", str(store), "--seconds", "0.3", "--cooldown", "0s", "--settle", "60s", "--min-gain", "0", "-q"]
    with ClusterProcess(functools.partial(made_cluster, seed, "calm"), str(folder / "c.sock")) as cluster:
        client = cluster.connect()
        for _ in range(count):
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(float(rng.uniform(2.0, 9.0)))
            process.kill()
            process.wait()
            client.wait(SETTINGS.lease + 1)
        for _ in range(5):
            client.wait(SETTINGS.lease + 1)
            subprocess.run([*command, "--turns", "1"], check=True, stdout=subprocess.DEVNULL)
            with Store.open(store) as record:
                if record.open_plan() is None:
                    break
        client.wait(3600)
        with Store.open(store) as record:
            faults = judged(client, record, bp.generate("boutique", seed=seed))
            print(f"{count} kills of the command: {len(record.turns())} turns, {len(record.plans())} plans,", end=" ")
            print(f"{sum(len(record.steps(plan.id)) for plan in record.plans())} steps")
    return faults


# ---- all of it -----------------------------------------------------------------------------------------------------------------


def kills(count: int, seed: int, address: Callable[[int], str], folder: Path) -> Iterator[tuple[object, ...]]:
    """As many kills, some on each of several clusters."""
    from bayplan.api.warm_up import warm_up
    from bayplan.model import silent

    warm_up(silent)  # before any process is forked
    number = 0
    while count > 0:
        rng, lives = np.random.default_rng([seed, number]), min(LIVES, count)
        churn = ("quiet", "calm", "busy")[number % 3]
        socket = str(folder / f"{number}.sock")
        with ClusterProcess(functools.partial(made_cluster, seed + number, churn), socket) as cluster:
            first = bp.generate("boutique", seed=seed + number)
            yield from KilledCase(number=number, cluster=cluster, where=address(number), first=first, rng=rng).run(lives)
        count, number = count - lives, number + 1


def main(arguments: list[str] | None = None) -> int:
    """Run; 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--postgres", action="store_true")
    parser.add_argument("--command-line", action="store_true")
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args(arguments)
    folder = Path(tempfile.mkdtemp(prefix="bayplan-kills-"))
    if chosen.command_line:
        wrong = command_line_kills(folder, chosen.count, chosen.seed)
        print(f"{len(wrong)} wrong", *wrong[:10], sep="\n")
        return int(bool(wrong))
    if chosen.postgres:
        with postgres.server() as server:
            return _table(kills(chosen.count, chosen.seed, lambda _: server.address(), folder), chosen.out)
    return _table(kills(chosen.count, chosen.seed, lambda number: str(folder / f"{number}.db"), folder), chosen.out)


def _table(rows: Iterator[tuple[object, ...]], out: Path | None) -> int:
    table = []
    for row in rows:
        table.append(row)
        if row[-1]:
            print(*row, flush=True)
        if out is not None:
            with out.open("w" if len(table) == 1 else "a", newline="") as file:
                csv.writer(file).writerows([FIELDS, row] if len(table) == 1 else [row])
    places = Counter(row[3] for row in table)
    killed = len(table) - places["ended"]
    print(f"{killed} kills, {sum(bool(row[-1]) for row in table)} clusters with a fault;", end=" ")
    print(", ".join(f"{n} {place}" for place, n in places.most_common()))
    return int(any(row[-1] for row in table))


if __name__ == "__main__":
    sys.exit(main())
