"""`simulate`: carry out a plan on a model of the cluster, with injected failures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayplan.api.answer import Answer, Move, PathLike
from bayplan.api.control import Control
from bayplan.api.inspect import container_index
from bayplan.api.migrate import moves_between
from bayplan.api.migration_request import MigrationRequest, MigrationSettings, request_to
from bayplan.api.partial_run import machine_index
from bayplan.check import PlanCheck, check_migration
from bayplan.errors import UsageError
from bayplan.formats.targets import MigrationTarget
from bayplan.model import (
    UNPLACED,
    Cluster,
    Migration,
    Placement,
    Plan,
    Progress,
    Reason,
    Result,
    Running,
    Snapshot,
    Status,
    silent,
)
from bayplan.operate.plan_simulation.execution import Execution, StepOutcome
from bayplan.operate.plan_simulation.failures import CreateFails, DeleteFails, Failure, MachineDies, StepHangs
from bayplan.operate.plan_simulation.simulator import carry_out

if TYPE_CHECKING:
    from bayplan.report.table import Report


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectedFailures:
    """What is to fail, by name."""

    create: Sequence[str] = ()  # containers whose creates fail
    delete: Sequence[str] = ()  # containers whose deletes fail
    hang: Sequence[str] = ()  # containers whose steps never end
    kill: Sequence[tuple[str, int]] = ()  # machines, and the batch at whose start each dies, counted from 1

    def of(self, cluster: Cluster, plan: Plan) -> list[Failure]:
        """The same for the simulator."""
        return [
            *(CreateFails(container=container_index(cluster, name)) for name in self.create),
            *(DeleteFails(container=container_index(cluster, name)) for name in self.delete),
            *(StepHangs(container=container_index(cluster, name)) for name in self.hang),
            *(_death(cluster, plan, name, batch) for name, batch in self.kill),
        ]


def _death(cluster: Cluster, plan: Plan, name: str, batch: int) -> MachineDies:
    if not 1 <= batch <= len(plan.batches):
        raise UsageError(f"machine '{name}' dies in batch {batch}: expected a batch from 1 to {len(plan.batches)}")
    return MachineDies(machine=machine_index(cluster, name), batch=batch - 1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SimulationAnswer(Answer[Execution]):
    """A plan that the referee has checked and that was carried out on the model."""

    request: MigrationRequest
    plan: Plan
    checked: PlanCheck

    @property
    def execution(self) -> Execution:
        """What became of the plan."""
        assert self.result.solution is not None  # there always is one
        return self.result.solution

    @property
    def succeeded(self) -> bool:
        """Is the plan safe, and was all of it carried out?"""
        return self.checked.safe and self.execution.stopped is None

    @property
    def arrived(self) -> bool:
        """Does every container run on its target, and only there?"""
        return not self.left_out

    @property
    def moves(self) -> Sequence[Move]:
        """The containers that run elsewhere at the end of the run than at its start."""
        return moves_between(self.request, self.execution.running)

    @property
    def placed(self) -> int:
        """How many containers that did not run do so at the end."""
        start, end = self.request.migration.start.machine_of, self.execution.running.machine_of
        return int(((start == UNPLACED) & (end != UNPLACED)).sum())

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        from bayplan.report.answers.plan_tables import run_headline

        return run_headline(self.checked, self.execution.why)

    def content(self) -> "Report":
        """What the referee says, what failed, and where containers run at the end."""
        from bayplan.report.answers.plan_tables import run_report
        from bayplan.words import first_names

        details = self.details()
        numbers = [(name, f"{details[name]:,}") for name in ("batches", "steps", "done", "skipped", "failed", "hung", "running")]
        numbers += [("running twice", f"{details['running_twice']:,}")]
        names = (("down", details["down"]), ("not at the target", [reason.subject for reason in self.left_out]))
        numbers += [(label, first_names(listed) or "none") for label, listed in names]
        return run_report(self.checked, details["events"], numbers)

    def details(self) -> Mapping[str, Any]:
        """Whether the plan is safe, what became of its steps, and what is down at the end. Batches count from 1."""
        execution, names = self.execution, self.request.migration.cluster.containers.name
        outcomes = [event.outcome for event in execution.events if event.step is not None]
        first, target = execution.running.machine_of, self.request.migration.target.machine_of
        down = np.flatnonzero((first == UNPLACED) & (target != UNPLACED))
        return {
            "safe": self.checked.safe,
            "violations": [
                {"batch": v.batch + 1, "rule": v.rule, "subject": v.subject, "sentence": v.sentence}
                for v in self.checked.violations
            ],
            "stopped": None if execution.stopped is None else execution.stopped + 1,
            "why": execution.why,
            "events": [str(event) for event in execution.events if event.outcome.is_failure],
            "batches": len(self.plan.batches),
            "steps": len(self.plan),
            **{outcome.value: outcomes.count(outcome) for outcome in StepOutcome},
            "running": int((first != UNPLACED).sum()),
            "running_twice": len(execution.running.doubled),
            "down": [names[c] for c in down.tolist()],
            "arrived": self.arrived,
        }

    def save(self, path: PathLike) -> None:
        """Write where containers run at the end of the run, as a placement."""
        from bayplan.formats import write_placement

        write_placement(path, self.request.snapshot.cluster, self.execution.running.placement)

    def report(self, path: PathLike, *, command: str = "") -> None:
        """Write one self-contained HTML page: before and after the run, side by side."""
        from bayplan.api.inspect import inspect, write_comparison

        before = self.request.snapshot
        after = inspect(replace(before, placement=self.execution.running.placement), before=before.placement)
        write_comparison(path, before, after, command=command, headline=self.headline)


def simulate(
    snapshot: Snapshot,
    plan: Plan,
    target: Placement | Snapshot | MigrationTarget | None = None,
    *,
    failures: InjectedFailures | None = None,
    seed: int = 0,
    alive: float = 0.75,
    relabel: bool = False,
    delete_missing: bool = False,
    progress: Progress = silent,
) -> SimulationAnswer:
    """Check a plan, and carry it out on a model of the cluster, with injected failures.

    The referee looks at every state that a batch can pass through. The steps of a batch are made in an order that the seed
    decides; when one fails, the others of its batch are still made, and no later batch is begun. Without a `target` it is where
    the plan ends; `relabel` and `delete_missing` complete it as in `migrate`.

    >>> import bayplan as bp
    >>> shop = bp.generate("boutique")
    >>> better = bp.rebalance(shop, max_moves=5, budget=bp.Budget(iterations=20_000)).placement
    >>> answer = bp.simulate(shop, bp.migrate(shop, better, alive=0.6).plan, better, alive=0.6)
    >>> answer.succeeded, answer.arrived
    (True, True)
    """
    control = Control.of(0.0, seed, {"progress": progress})
    if target is None:
        stays = Migration(cluster=snapshot.cluster, start=Running.of(snapshot.placement), target=snapshot.placement)
        target, delete_missing = check_migration(stays, plan).running.placement, True
    request = request_to(snapshot, target, MigrationSettings(), alive=alive, relabel=relabel, delete_missing=delete_missing)
    injected = (failures or InjectedFailures()).of(request.migration.cluster, plan)
    checked = check_migration(request.migration, plan)
    execution = carry_out(request.migration, plan, injected, seed=seed, progress=progress)
    result = Result(
        status=Status.FEASIBLE,
        solution=execution,
        score={"batches": len(plan.batches), "steps": len(plan), "alive": checked.least_alive, "peak": checked.peak},
        goal="batches",
        left_out=_not_arrived(request, execution.running),
        still_violated=tuple(map(str, checked.violations)),
        seconds=control.seconds,
    )
    return SimulationAnswer(
        verb="simulate",
        method="simulation",
        seed=seed,
        result=result,
        seconds=control.seconds,
        input_notes=(*snapshot.notes, *request.notes),
        request=request,
        plan=plan,
        checked=checked,
    )


def _not_arrived(request: MigrationRequest, running: Running) -> tuple[Reason, ...]:
    """Containers that do not run on their target at the end of a run, or not only there."""
    cluster, target = request.migration.cluster, request.migration.target.machine_of
    machines, reasons = cluster.machines.name, []
    for c in np.flatnonzero((running.machine_of != target) | (running.second != UNPLACED)).tolist():
        first, second = int(running.machine_of[c]), int(running.second[c])
        where = "is down" if first == UNPLACED else f"runs on '{machines[first]}'"
        where += f" and '{machines[second]}'" if second != UNPLACED else ""
        wanted = "is to be deleted" if target[c] == UNPLACED else f"is to run on '{machines[target[c]]}'"
        reasons.append(Reason(subject=cluster.containers.name[c], text=f"{where}, {wanted}"))
    return tuple(reasons)
