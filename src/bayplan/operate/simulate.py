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
from bayplan.check.migration.plan_check import PlanCheck
from bayplan.check.migration.referee import check_migration
from bayplan.errors import UsageError
from bayplan.formats.targets import read_plan_of
from bayplan.model import UNPLACED, Cluster, Migration, Plan, Progress, Running, Snapshot
from bayplan.operate.execution import Execution, StepOutcome
from bayplan.operate.failures import CreateFails, DeleteFails, Failure, MachineDies, StepHangs
from bayplan.operate.simulator import carry_out


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectedFailures:
    """What is to fail, as it stands on the command line."""

    create: Sequence[str] = ()  # containers
    delete: Sequence[str] = ()
    hang: Sequence[str] = ()
    kill: Sequence[str] = ()  # MACHINE@BATCH, batches count from 1

    def failures(self, cluster: Cluster, plan: Plan) -> list[Failure]:
        """The same for the simulator."""
        found: list[Failure] = [CreateFails(container=container_index(cluster, name)) for name in self.create]
        found += [DeleteFails(container=container_index(cluster, name)) for name in self.delete]
        found += [StepHangs(container=container_index(cluster, name)) for name in self.hang]
        return found + [_death(cluster, plan, text) for text in self.kill]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A plan that was checked and carried out."""

    migration: Migration
    plan: Plan
    checked: PlanCheck
    execution: Execution

    @property
    def well(self) -> bool:
        """Is the plan safe, and was all of it carried out?"""
        return self.checked.safe and self.execution.stopped is None


def question(
    snapshot: Snapshot, plan_file: Path, target: Path | None, wishes: MigrateWishes, *, relabel: bool = False
) -> tuple[Migration, Plan]:
    """The migration that a plan is for, and the plan. Without a target, that is where the plan ends."""
    if target is None:
        whole, plan = read_plan_of(plan_file, snapshot)
        terms, start = terms_of(whole.cluster, wishes), Running.of(whole.placement)
        ends = check_migration(Migration(cluster=whole.cluster, start=start, target=whole.placement, policy=terms), plan).running
        return Migration(cluster=whole.cluster, start=start, target=ends.placement, policy=terms), plan
    trip = trip_to(snapshot, target, wishes, relabel=relabel)
    whole, plan = read_plan_of(plan_file, trip.snapshot)
    wanted, _ = read_plan_of(plan_file, replace(trip.snapshot, placement=trip.migration.target))  # the plan may have new ones
    start = Running.of(whole.placement)
    return Migration(cluster=whole.cluster, start=start, target=wanted.placement, policy=terms_of(whole.cluster, wishes)), plan


def check_and_carry_out(migration: Migration, plan: Plan, injected: InjectedFailures, *, seed: int, progress: Progress) -> Run:
    """Check a plan and carry it out."""
    failures = injected.failures(migration.cluster, plan)
    checked = check_migration(migration, plan)
    execution = carry_out(migration, plan, failures, seed=seed, progress=progress)
    return Run(migration=migration, plan=plan, checked=checked, execution=execution)


def run_object(run: Run) -> dict[str, Any]:
    """What `simulate` says, key by key. Batches count from 1."""
    names, execution = run.migration.cluster.containers.name, run.execution
    outcomes = [event.outcome for event in execution.events if event.step is not None]
    first, target = execution.running.machine_of, run.migration.target.machine_of
    down = np.flatnonzero((first == UNPLACED) & (target != UNPLACED))
    stuck = np.flatnonzero((first != target) | (execution.running.second != UNPLACED))
    return {
        "safe": run.checked.safe,
        "breaches": [
            {"batch": b.batch + 1, "rule": b.rule, "subject": b.subject, "sentence": b.sentence} for b in run.checked.violations
        ],
        "stopped": None if execution.stopped is None else execution.stopped + 1,
        "why": execution.why,
        "events": [str(event) for event in execution.events if event.outcome.is_failure],
        "batches": len(run.plan.batches),
        "steps": len(run.plan),
        **{outcome.value: outcomes.count(outcome) for outcome in StepOutcome},
        "running": int((first != UNPLACED).sum()),
        "twice": len(execution.running.doubled),
        "down": [names[c] for c in down.tolist()],
        "stuck": [names[c] for c in stuck.tolist()],
        "arrived": not len(stuck),
        "score": {"alive": run.checked.least_alive, "peak": run.checked.peak, "stopovers": run.checked.stopovers},
    }


def _death(cluster: Cluster, plan: Plan, text: str) -> MachineDies:
    name, _, batch = text.rpartition("@")
    if not batch.isdecimal() or not 1 <= int(batch) <= len(plan.batches):
        raise UsageError(f"--kill '{text}': expected MACHINE@BATCH, BATCH from 1 to {len(plan.batches)}")
    return MachineDies(machine=machine_index(cluster, name, "--kill"), batch=int(batch) - 1)
