"""A simulated week of a generated cluster with busy churn and every kind of fault at once, watched by a referee.

    python -m tests.stress.operate_week --cluster rasa-m3 --days 7 --seconds 2 --out week.csv

One row per turn. At the end: violations because of the loop, and where the record differs from what the cluster did. The exit
code is 1 if there is any.
"""

import argparse
import csv
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

from tests.builders.operated import Truth, cluster_faults, record_faults

import bayplan as bp
from bayplan.model.record import Turn
from bayplan.operate.context import LoopContext
from bayplan.operate.loop import Loop
from bayplan.operate.run import simulated_settings
from bayplan.operate.settings import LoopSettings
from bayplan.operate.simulated import (
    NO_FAULTS,
    Faults,
    FaultyTime,
    ObservationFault,
    SimulatedOrchestrator,
    StepFault,
    preset,
)
from bayplan.operate.simulated.watched import watched
from bayplan.operate.store import Store

HOUR, DAY = 3600.0, 86400.0
FIELDS = ("id", "started", "verdict", "containers", "local", "fullest", "hot", "moves", "moved", "gain", "seconds", "why")


def every_fault(seed: int) -> Faults:
    """Every kind of fault of steps, observations, the connection and the clock, a few times a day each."""
    return Faults(
        steps=dict.fromkeys(StepFault, 0.005),
        observations=dict.fromkeys(ObservationFault, 0.02),
        outages_per_day=6.0,
        outage_seconds=180.0,
        slow_clocks=tuple(FaultyTime(day * DAY + 5.3 * HOUR, 900.0, 7200.0 if day % 2 else 40.0) for day in range(7)),
        hang_seconds=1500.0,
        seed=seed,
    )


def main(arguments: list[str] | None = None) -> int:
    """Run; 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cluster", default="rasa-m3")
    parser.add_argument("--days", type=float, default=7.0)
    parser.add_argument("--seconds", type=float, default=2.0, help="for one plan")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="the table of turns, CSV")
    chosen = parser.parse_args(arguments)
    began, snapshot = time.perf_counter(), bp.generate(chosen.cluster, seed=chosen.seed)
    orchestrator = SimulatedOrchestrator(snapshot, settings=preset("busy"), faults=every_fault(chosen.seed), seed=chosen.seed)
    settings = replace(simulated_settings(snapshot, LoopSettings(seed=chosen.seed)), seconds=chosen.seconds)
    referee, truth, store = watched(orchestrator, settings.alive), Truth(), Store.open(":memory:")
    orchestrator.listeners.append(truth.see)
    loop = _Told(LoopContext(orchestrator=orchestrator, store=store, settings=settings), poll=settings.every)
    loop.table = None if chosen.out is None else chosen.out.open("w", newline="")
    if loop.table is not None:
        csv.writer(loop.table).writerow(FIELDS)
    loop.run(until=orchestrator.time + chosen.days * DAY)
    _finish(orchestrator, loop)
    wrong = [f"violation: {v}" for v in referee.violations] + list(record_faults(store, truth))
    wrong += list(cluster_faults(orchestrator.live, orchestrator._steps._reserved))
    for words in _summary(store, referee.seen, time.perf_counter() - began):
        print(words)
    print(f"{len(wrong)} wrong", *wrong[:20], sep="\n")
    return int(bool(wrong))


class _Told(Loop):
    """A loop that writes a row for each turn."""

    table = None

    def turn(self) -> Turn | None:
        turn = super().turn()
        if turn is not None and self.table is not None:
            csv.writer(self.table).writerow([_cell(getattr(turn, name)) for name in FIELDS])
            self.table.flush()
        return turn


def _cell(value: object) -> object:
    return round(value, 4) if isinstance(value, float) else value


def _finish(orchestrator: SimulatedOrchestrator, loop: Loop) -> None:
    """Without faults, bring what is open to its end."""
    orchestrator.inject(NO_FAULTS)
    orchestrator.wait(HOUR)
    loop.context.settings = replace(loop.context.settings, mode="manual")
    for _ in range(10):
        loop.run(turns=1)
        if loop.context.store.open_plan() is None:
            return
        orchestrator.wait(600)


def _summary(store: Store, instants: int, seconds: float) -> list[str]:
    history = store.history()
    verdicts = ", ".join(f"{n} {name}" for name, n in Counter(str(turn.verdict) for turn in history.turns).most_common())
    plans = ", ".join(f"{n} {name}" for name, n in Counter(str(plan.status) for plan in history.plans).most_common())
    steps = ", ".join(f"{n} {name}" for name, n in Counter(str(step.status) for step in history.steps).most_common())
    return [
        f"{len(history.turns)} turns: {verdicts}",
        f"{len(history.plans)} plans: {plans}",
        f"{len(history.steps)} steps: {steps}; {sum(turn.moved for turn in history.turns)} containers moved",
        f"{instants:,} instants seen by the referee; {seconds:.0f} s",
    ]


if __name__ == "__main__":
    sys.exit(main())
