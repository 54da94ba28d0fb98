"""Plans carried out on small simulated clusters while everything goes wrong at once, judged instant by instant.

    python -m tests.stress.operate --count 1000 --seed 0 --out operate.csv
    python -m tests.stress.operate --seed-at 4711                                   one case again, with its log

Each case: a cluster with rules, busy churn, every kind of fault at random, people who pause, resume and take back, a process
that ends at random calls, and a loop that carries out plans. Afterwards the referee of running systems must have seen no
violation that is ours, and the record must agree with what the cluster did: no step lost, doubled or untrue, nothing left behind.
The table has one row per case; a run that is started again goes on where the table ends. The exit code is 1 if anything is wrong.
"""

import argparse
import csv
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from tests.builders.operated import (
    Countdown,
    Interrupted,
    Killed,
    Truth,
    cluster_faults,
    plan_of,
    random_moves,
    record_faults,
)
from tests.stress.drawn_clusters import Rng, chance, drawn_snapshot, one_of
from tests.stress.table import recorded

import bayplan as bp
from bayplan.errors import BayplanError
from bayplan.model import UNPLACED, Budget, Snapshot
from bayplan.model.record import Event, RecordedPlan
from bayplan.operate.context import LoopContext
from bayplan.operate.loop import Loop
from bayplan.operate.settings import LoopSettings, Mode
from bayplan.operate.simulated import (
    BUSY,
    NO_FAULTS,
    Churn,
    Faults,
    FaultyTime,
    ObservationFault,
    SimulatedOrchestrator,
    SimulatedSettings,
    StepFault,
)
from bayplan.operate.simulated.watched import watched
from bayplan.operate.store import Store

HOUR, DAY = 3600.0, 86400.0
CHAOS = 3 * HOUR  # faults, people and kills until then
QUIET_TURNS = 12  # afterwards, until no plan is open


class Row(NamedTuple):
    """One case in the table."""

    seed: int
    cluster: str
    containers: int
    faults: str
    turns: int
    plans: int
    steps: int
    failed: int
    rolled_back: int
    kills: int
    unsound: int
    instants: int
    cpu_seconds: float
    fault: str


@dataclass(slots=True, kw_only=True)
class Operated:
    """One case on its way."""

    rng: Rng
    orchestrator: SimulatedOrchestrator
    store: Store
    settings: LoopSettings
    faults: Faults
    kills: int = 0
    tell: object = None

    def context(self, calls: float) -> LoopContext:
        """A process of its own, which ends after that many calls."""
        countdown = Countdown(calls=calls, early=chance(self.rng, 0.5))
        return LoopContext(
            orchestrator=Interrupted(self.orchestrator, countdown),  # type: ignore[arg-type]
            store=Interrupted(self.store, countdown),  # type: ignore[arg-type]
            settings=self.settings,
            tell=self.tell or (lambda event: None),  # type: ignore[arg-type]
        )

    def chaos(self) -> None:
        """Turns with all faults; a process that is killed is followed by another."""
        end = self.orchestrator.time + CHAOS
        while self.orchestrator.time < end:
            calls = float(self.rng.integers(1, 250)) if chance(self.rng, 0.5) else np.inf
            try:
                Loop(self.context(calls)).run(until=end, turns=2)
            except Killed:
                self.kills += 1
            self.orchestrator.wait(float(self.rng.integers(1, 900)))

    def quiet(self) -> None:
        """Turns without faults until no plan is open."""
        self.orchestrator.inject(NO_FAULTS)
        self.orchestrator.wait(2 * HOUR)
        self.store.resume("the test", self.orchestrator.time)
        self.store.log(Event(at=self.orchestrator.time, kind="trust", text="the test trusts"))
        loop = Loop(self.context(np.inf))
        loop.context.settings = replace(self.settings, mode=Mode.MANUAL)
        for _ in range(QUIET_TURNS):
            loop.run(turns=1)
            if self.store.open_plan() is None:
                return
            self.orchestrator.wait(600)


def case_of(seed: int, tell: object = None) -> tuple[Operated, str]:
    """The case of a seed."""
    rng = np.random.default_rng([seed, 12])
    name, snapshot = _snapshot(rng)
    faults = drawn_faults(rng, seed)
    orchestrator = SimulatedOrchestrator(snapshot, settings=_simulated(rng, snapshot), seed=seed)
    store = Store.open(":memory:")
    settings = LoopSettings(
        mode=Mode.AUTO,
        every=float(one_of(rng, (300.0, 900.0, 1800.0))),
        budget=Budget(iterations=30),
        threads=1,
        seed=seed,
        planning_takes=float(one_of(rng, (0.0, 30.0, 300.0))),
        max_moves="100%",
        min_gain=0.0,
        alive=float(one_of(rng, (0.0, 0.5, 0.75, 0.75, 0.9, 1.0))),
        moves_per_hour="10000",
        moves_per_day="100000",
        young=float(one_of(rng, (0.0, 60.0))),
        cooldown=0.0,
        settle=float(one_of(rng, (0.0, 60.0, 600.0))),
        step_timeout=float(one_of(rng, (60.0, 600.0))),
        failing=float(one_of(rng, (0.1, 1.0))),
        patience=float(one_of(rng, (30.0, 300.0))),
        lease=float(one_of(rng, (60.0, 300.0))),
    )
    case = Operated(rng=rng, orchestrator=orchestrator, store=store, settings=settings, faults=faults, tell=tell)
    _people(case)
    if chance(rng, 0.7):
        _first_plan(case)
    return case, name


def _snapshot(rng: Rng) -> tuple[str, Snapshot]:
    if chance(rng, 0.1):
        return "boutique", bp.generate("boutique", seed=int(rng.integers(100)))
    if chance(rng, 0.6):
        return "shop", shop(rng)
    while True:
        snapshot = drawn_snapshot(rng)
        if len(snapshot.cluster.machines.name) > 1 and (snapshot.placement.machine_of != UNPLACED).sum() > 1:
            return "drawn", snapshot


def shop(rng: Rng) -> Snapshot:
    """Workloads that talk, with room to move, and some rules that hold at first."""
    count = int(rng.integers(3, 8))
    machines = [f"m-{m}" for m in range(count)]
    builder = bp.ClusterBuilder("shop")
    for m, machine in enumerate(machines):
        builder = builder.machine(machine, cpu=int(rng.integers(10, 17)), memory="32Gi", at={"zone": f"z-{m % 2}"})
    names, first = [f"w{w}" for w in range(int(rng.integers(2, 7)))], 0
    for name in names:
        replicas = int(rng.integers(2 if name in names[:2] else 1, 7))
        on = [machines[(first + i) % count] for i in range(replicas)]
        first += replicas
        builder = builder.workload(
            name, replicas=replicas, cpu=one_of(rng, ("500m", 1, 2)), memory="1Gi", service=f"s-{name}", on=on
        )
    for a, b in pairwise(names):
        builder = builder.traffic(a, b, float(rng.integers(1, 50)))
    if chance(rng, 0.5):
        builder = builder.anti_affinity(names[0], limit=int(rng.integers(2, 4)))
    if chance(rng, 0.4):
        builder = builder.spread(f"s-{names[1]}", 2)
    if chance(rng, 0.4):
        builder = builder.spread(f"s-{names[0]}", 2, level="zone")
    if chance(rng, 0.3):
        builder = builder.interference(names[0], names[-1], limit=int(rng.integers(1, 4)))
    if chance(rng, 0.3):
        builder = builder.transient("cpu")
    if chance(rng, 0.2):
        builder = builder.pin(f"{names[0]}-0")
    return builder.build()


def _simulated(rng: Rng, snapshot: Snapshot) -> SimulatedSettings:
    """Times, and churn that is fast enough for a case of some hours.

    The referee knows the usage of the first snapshot only, so usage is constant where a rule is about it.
    """
    faster = float(one_of(rng, (0.0, 1.0, 5.0, 20.0)))
    constant = any(rule.kind == "confidence" for rule in snapshot.cluster.rules)
    churn = replace(
        BUSY,
        rollouts=BUSY.rollouts * faster / 4,
        user_deletes=BUSY.user_deletes * faster,
        joins=BUSY.joins * faster,
        drains=BUSY.drains * faster,
        deaths=BUSY.deaths * faster,
        scaled=0.4 if faster else 0.0,
        bursts=0.0 if constant else BUSY.bursts * faster,
        drift=0.0 if constant else BUSY.drift,
        usage_to=1.0 if constant else BUSY.usage_to,
        replaced_after=600.0,
        out_of_service=900.0,
    )
    return SimulatedSettings(
        churn=churn if faster else Churn(),
        noise=float(one_of(rng, (0.0, 0.05))) * (not constant),
        pull=float(one_of(rng, (0.0, 20.0, 90.0))),
        stop=float(one_of(rng, (0.0, 5.0, 45.0))),
        unavailable=float(one_of(rng, (0.0, 0.25, 1.0))),
    )


def drawn_faults(rng: Rng, seed: int) -> Faults:
    """Each kind of fault or none of it, each more or less often."""
    kinds = [kind for kind in StepFault if chance(rng, 0.5)]
    steps = {kind: float(rng.choice([0.01, 0.05, 0.2])) / 2 for kind in kinds}
    looks = {kind: float(rng.choice([0.01, 0.05])) for kind in ObservationFault if chance(rng, 0.5)}
    clocks = tuple(
        FaultyTime(float(rng.uniform(0, CHAOS)), float(rng.uniform(10, 1800)), float(rng.choice([5.0, 45.0, 300.0, 7200.0])))
        for _ in range(int(rng.integers(0, 3)))
    )
    return Faults(
        steps=steps,
        observations=looks,
        outages_per_day=float(rng.choice([0.0, 20.0, 100.0])),
        outage_seconds=float(rng.choice([30.0, 180.0, 900.0])),
        slow_clocks=clocks,
        hang_seconds=float(rng.choice([120.0, 1500.0, np.inf])),
        late_seconds=float(rng.choice([30.0, 120.0, 900.0])),
        again_seconds=float(rng.choice([1.0, 30.0, 300.0])),
        stale_seconds=float(rng.choice([30.0, 90.0, 600.0])),
        seed=seed,
    )


def _people(case: Operated) -> None:
    """Somebody pauses and resumes, or asks for a rollback, at random times."""
    rng, store, queue = case.rng, case.store, case.orchestrator._queue

    def pause() -> None:
        store.pause("somebody", case.orchestrator.now())

    def resume() -> None:
        store.resume("somebody", case.orchestrator.now())

    def take_back() -> None:
        plan = store.open_plan()
        if plan is not None:
            store.ask_rollback(plan.id, "somebody", case.orchestrator.now())

    for _ in range(int(rng.integers(0, 3))):
        at = float(rng.uniform(0, CHAOS))
        queue.after(at, pause)
        queue.after(at + float(rng.uniform(10, 3000)), resume)
    for _ in range(int(rng.integers(0, 3))):
        queue.after(float(rng.uniform(0, CHAOS)), take_back)


def _first_plan(case: Operated) -> None:
    """A plan of moves drawn at random, already recorded as under way."""
    observation = case.orchestrator.observe()
    moves = random_moves(observation, case.rng, share=float(case.rng.choice([0.3, 1.0])))
    if moves:
        fence = case.store.acquire("first", case.orchestrator.now(), 1.0)
        assert fence is not None
        plan: RecordedPlan = plan_of(moves, case.orchestrator.now())
        case.store.save_plan(plan, fence)
        case.store.release(fence)


def row_of(seed: int, tell: object = None) -> Row:
    """Run and judge the case of a seed."""
    began = time.process_time()
    case, name = case_of(seed, tell)
    orchestrator, truth = case.orchestrator, Truth()
    referee = watched(orchestrator, case.settings.alive)
    orchestrator.listeners.append(truth.see)
    orchestrator.inject(case.faults)
    faults: list[str] = []
    try:
        case.chaos()
        case.quiet()
    except (BayplanError, AssertionError, LookupError, TypeError, ValueError, AttributeError) as error:
        if tell is not None:
            raise
        faults.append(f"crash: {type(error).__name__}: {error}")
    faults += [f"violation: {v.rule}: {v}" for v in referee.violations[:3]]
    open_plan = case.store.open_plan()
    if open_plan is not None and not faults:
        faults.append(f"plan {open_plan.id} is still {open_plan.status}")
    if not faults:
        faults += list(record_faults(case.store, truth))[:3]
        faults += list(cluster_faults(orchestrator.live, orchestrator._steps._reserved))[:3]
    history = case.store.history()
    return Row(
        seed=seed,
        cluster=name,
        containers=len(orchestrator.observe().containers),
        faults=" ".join([*case.faults.steps, *case.faults.observations]),
        turns=len(history.turns),
        plans=len(history.plans),
        steps=len(history.steps),
        failed=sum(step.status == "failed" for step in history.steps),
        rolled_back=sum(plan.status == "rolled-back" for plan in history.plans),
        kills=case.kills,
        unsound=sum(turn.verdict == "unsound" for turn in history.turns),
        instants=referee.seen,
        cpu_seconds=round(time.process_time() - began, 3),
        fault="; ".join(faults)[:600],
    )


def rows(seeds: Iterable[int]) -> Iterator[Row]:
    """The rows of many seeds, in order."""
    yield from map(row_of, seeds)


def summary(table: Iterable[Row]) -> list[str]:
    """What was done in all, and what was wrong by kind."""
    table = list(table)
    wrong = Counter(":".join(row.fault.split(":")[:2]) for row in table if row.fault)
    sums = {name: sum(getattr(row, name) for row in table) for name in ("turns", "plans", "steps", "failed", "kills", "instants")}
    words = ", ".join(f"{value:,} {name}" for name, value in sums.items())
    return [f"{len(table):,} cases: {words}; {sum(wrong.values())} wrong", *(f"{n} x {kind}" for kind, n in wrong.most_common())]


def _told(event: Event) -> None:
    print(f"{event.at:.0f} {event.kind} {event.plan}: {event.text}")


def main(arguments: list[str] | None = None) -> int:
    """Run; 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--out", type=Path, help="the table, CSV")
    parser.add_argument("--seed-at", type=int, help="one case again, with its log")
    chosen = parser.parse_args(arguments)
    if chosen.seed_at is not None:
        row = row_of(chosen.seed_at, _told)
        print(row)
        return int(bool(row.fault))
    done = 0
    if chosen.out is not None and chosen.out.exists():
        with chosen.out.open(newline="") as file:
            done = sum(1 for _ in csv.DictReader(file))
    table = []
    for row in recorded(rows(range(chosen.seed + done, chosen.seed + chosen.count)), chosen.out):
        table.append(row)
        if row.fault:
            print(row.seed, row.cluster, row.fault, flush=True)
    print(*summary(table), sep="\n")
    return int(any(row.fault for row in table))


if __name__ == "__main__":
    sys.exit(main())
