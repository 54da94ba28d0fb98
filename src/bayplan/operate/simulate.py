"""Carry out a plan on the model: what the referee says about it, and what becomes of it when things fail."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bayplan.api.inspect import container_index
from bayplan.api.migration_wishes import MigrateWishes, terms_of
from bayplan.api.stopped import machine_index
from bayplan.api.trip import trip_to
from bayplan.check.migration.referee import judge
from bayplan.check.migration.verdict import Verdict
from bayplan.errors import UsageError
from bayplan.formats.targets import read_plan_of
from bayplan.model import UNPLACED, Cluster, Migration, Plan, Progress, Running, Snapshot
from bayplan.model.outcome import Fate, Outcome
from bayplan.operate.failures import CreateFails, DeleteFails, Failure, MachineDies, NeverEnds
from bayplan.operate.simulator import simulate


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """What shall fail, as it stands on the command line."""

    create: Sequence[str] = ()  # containers
    delete: Sequence[str] = ()
    hang: Sequence[str] = ()
    kill: Sequence[str] = ()  # MACHINE@BATCH, batches count from 1

    def failures(self, cluster: Cluster, plan: Plan) -> list[Failure]:
        """The same for the simulator."""
        found: list[Failure] = [CreateFails(container=container_index(cluster, name)) for name in self.create]
        found += [DeleteFails(container=container_index(cluster, name)) for name in self.delete]
        found += [NeverEnds(container=container_index(cluster, name)) for name in self.hang]
        return found + [_death(cluster, plan, text) for text in self.kill]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A plan that was judged and carried out."""

    migration: Migration
    plan: Plan
    verdict: Verdict
    outcome: Outcome

    @property
    def well(self) -> bool:
        """Is the plan safe, and was all of it carried out?"""
        return self.verdict.safe and self.outcome.stopped is None


def question(
    snapshot: Snapshot, plan_file: Path, target: Path | None, wishes: MigrateWishes, *, relabel: bool = False
) -> tuple[Migration, Plan]:
    """The migration that a plan is for, and the plan. Without a target, that is where the plan ends."""
    if target is None:
        whole, plan = read_plan_of(plan_file, snapshot)
        terms, start = terms_of(whole.cluster, wishes), Running.of(whole.placement)
        ends = judge(Migration(cluster=whole.cluster, start=start, after=whole.placement, terms=terms), plan).running
        return Migration(cluster=whole.cluster, start=start, after=ends.placement, terms=terms), plan
    trip = trip_to(snapshot, target, wishes, relabel=relabel)
    whole, plan = read_plan_of(plan_file, trip.snapshot)
    wanted, _ = read_plan_of(plan_file, replace(trip.snapshot, placement=trip.migration.after))  # the plan may have new ones
    start = Running.of(whole.placement)
    return Migration(cluster=whole.cluster, start=start, after=wanted.placement, terms=terms_of(whole.cluster, wishes)), plan


def carry_out(migration: Migration, plan: Plan, trouble: Trouble, *, seed: int, progress: Progress) -> Run:
    """Judge a plan and carry it out."""
    failures = trouble.failures(migration.cluster, plan)
    verdict = judge(migration, plan)
    outcome = simulate(migration, plan, failures, seed=seed, progress=progress)
    return Run(migration=migration, plan=plan, verdict=verdict, outcome=outcome)


def run_object(run: Run) -> dict[str, Any]:
    """What `simulate` says, key by key. Batches count from 1."""
    names, outcome = run.migration.cluster.containers.name, run.outcome
    fates = [event.fate for event in outcome.events if event.step is not None]
    first, after = outcome.running.machine_of, run.migration.after.machine_of
    down = np.flatnonzero((first == UNPLACED) & (after != UNPLACED))
    stuck = np.flatnonzero((first != after) | (outcome.running.second != UNPLACED))
    return {
        "safe": run.verdict.safe,
        "breaches": [
            {"batch": b.batch + 1, "rule": b.rule, "subject": b.subject, "sentence": b.sentence} for b in run.verdict.breaches
        ],
        "stopped": None if outcome.stopped is None else outcome.stopped + 1,
        "why": outcome.why,
        "events": [str(event) for event in outcome.events if event.fate in (Fate.FAILED, Fate.HUNG)],
        "batches": len(run.plan.batches),
        "steps": len(run.plan),
        **{fate.value: fates.count(fate) for fate in Fate},
        "running": int((first != UNPLACED).sum()),
        "twice": len(outcome.running.doubled),
        "down": [names[c] for c in down.tolist()],
        "stuck": [names[c] for c in stuck.tolist()],
        "arrived": not len(stuck),
        "score": {"alive": run.verdict.least_alive, "peak": run.verdict.peak, "stopovers": run.verdict.stopovers},
    }


def _death(cluster: Cluster, plan: Plan, text: str) -> MachineDies:
    name, _, batch = text.rpartition("@")
    if not batch.isdecimal() or not 1 <= int(batch) <= len(plan.batches):
        raise UsageError(f"--kill '{text}': expected MACHINE@BATCH, BATCH from 1 to {len(plan.batches)}")
    return MachineDies(machine=machine_index(cluster, name, "--kill"), batch=int(batch) - 1)
