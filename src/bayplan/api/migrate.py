"""`migrate`: a safe order of moves from where containers run to a target."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

from bayplan.api.answer import Answer, Move, PathLike
from bayplan.api.control import Control, RunKeywords, interruptible, options_from
from bayplan.api.migration_request import MigrationRequest, MigrationSettings, request_back, request_to
from bayplan.api.partial_run import PartialRun
from bayplan.api.placement import finish_seconds
from bayplan.api.registry import method_of
from bayplan.check import PlanCheck, check_migration
from bayplan.formats.targets import MigrationTarget
from bayplan.migrate.result import PlanDraft, plan_result
from bayplan.model import UNPLACED, Placement, Plan, Result, Running, Snapshot, Status, StepLimits
from bayplan.model.plan import Fingerprint, fingerprint
from bayplan.score.duration import StepCosts, Timetable, duration

if TYPE_CHECKING:
    from bayplan.report.table import Report

SHOWN = 3  # sentences of the referee in one message


class UnsafePlanError(RuntimeError):
    """A method made a plan that the referee forbids: a fault of the method."""


class MigrateKeywords(RunKeywords, total=False):
    """What may be said about the way, and for the estimate of its duration."""

    replace: Sequence[str]  # names or patterns of workloads whose containers are deleted, then created
    surge: Sequence[str]  # names or patterns of workloads whose containers are created, then deleted
    needed: Mapping[str, int]  # workload -> containers that run at any time, where that is more than the alive share
    limits: StepLimits  # the most steps in one batch
    late: Mapping[str, float]  # name or pattern -> weight: the heavier, the later; others weigh 1
    never: Sequence[str]  # names or patterns of containers or workloads that stay where they run
    stopovers: bool  # may a container go by way of a third machine?
    costs: StepCosts | Mapping[str, float]  # seconds to `pull`, `start` and `stop`
    resume: PartialRun | None  # start where an earlier plan to the same target was left


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MigrationAnswer(Answer[Plan]):
    """Batches of steps, every state on the way checked by the referee."""

    request: MigrationRequest
    costs: StepCosts
    checked: PlanCheck | None = None  # by the referee, and
    timetable: Timetable | None = None  # how long it may take, where there is a plan
    held_back: int = 0  # containers that do not arrive because they are never to move

    @property
    def plan(self) -> Plan | None:
        """The plan; None if the target is refused."""
        return self.result.solution

    @property
    def complete(self) -> bool:
        """Does everything arrive that may move?"""
        return self.plan is not None and len(self.left_out) == self.held_back

    @property
    def duration(self) -> float | None:
        """About how many seconds the plan takes."""
        return None if self.timetable is None else self.timetable.seconds

    @property
    def moves(self) -> Sequence[Move]:
        """The containers that run elsewhere at the end than at the start."""
        return () if self.checked is None else moves_between(self.request, self.checked.running)

    @property
    def placed(self) -> int:
        """How many containers that did not run do so at the end."""
        if self.checked is None:
            return 0
        start, end = self.request.migration.start.machine_of, self.checked.running.machine_of
        return int(((start == UNPLACED) & (end != UNPLACED)).sum())

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        from bayplan.report.answers.plan_tables import plan_headline

        return plan_headline(self.result, moved=self.moved, held_back=self.held_back, duration=self.duration)

    def content(self) -> "Report":
        """How it ended, the scores, the batches, what does not arrive and why."""
        from bayplan.report.answers.decision_tables import frame
        from bayplan.report.answers.plan_tables import batch_figures, plan_report
        from bayplan.report.table import Facts, report

        counts = [("placed", f"{self.placed:,}"), ("moved", f"{self.moved:,}")]
        facts = frame(self.result, method=self.method, seed=self.seed, wall=self.seconds, more=counts)
        shown = report(facts) + plan_report(self.result, batch_figures(self.checked, self.timetable))
        return shown + report(Facts(tuple(self.files.items())))

    def details(self) -> Mapping[str, Any]:
        """Whether it is complete, how long it may take, and each batch in numbers."""
        from bayplan.report.answers.plan_tables import batch_figures

        return {
            "complete": self.complete,
            "held_back": self.held_back,
            "duration": self.duration,
            "by_batch": batch_figures(self.checked, self.timetable),
        }

    def save(self, path: PathLike) -> None:
        """Write the plan."""
        from bayplan.formats import write_plan

        if self.plan is not None:
            plan = replace(self.plan, made_for=self.starts_from)
            write_plan(path, plan, self.request.snapshot.cluster, self.request.new)

    @property
    def starts_from(self) -> Fingerprint | None:
        """The state that the plan starts from; None if it goes on from the middle of another one."""
        here, start = self.request.snapshot, self.request.migration.start
        if len(start.doubled) or (start.machine_of != here.placement.machine_of).any():
            return None
        return fingerprint(here.cluster, here.placement)

    def save_rollback(self, path: PathLike) -> None:
        """Write the plan that leads back."""
        from bayplan.formats import write_plan

        if self.plan is not None and self.checked is not None:
            cluster, end = self.request.snapshot.cluster, self.checked.running
            state = None if len(end.doubled) else fingerprint(cluster, end.placement)
            write_plan(path, replace(self.plan.inverse(), made_for=state), cluster, self.request.new)

    def report(self, path: PathLike, *, command: str = "") -> None:
        """Write one self-contained HTML page: in which order containers move, and where they end."""
        from bayplan.api.inspect import grouping
        from bayplan.formats.document.text import write_text_atomically
        from bayplan.report.answers.plan_page import PlanPageData, plan_page
        from bayplan.report.answers.plan_tables import batch_figures
        from bayplan.report.page import how_made

        if self.plan is None or self.checked is None or self.timetable is None:
            return
        cluster, start = self.request.migration.cluster, self.request.migration.start
        data = PlanPageData(
            snapshot=replace(self.request.snapshot, placement=start.placement, notes=self.input_notes),
            after=self.checked.running.placement,
            headline=self.headline,
            result=self.result,
            timetable=self.timetable,
            costs=self.costs,
            running=start,
            batches=batch_figures(self.checked, self.timetable),
            held_back=self.held_back,
        )
        write_text_atomically(path, plan_page(data, made=how_made(command), group_by=grouping(cluster, None)))


def migrate(
    snapshot: Snapshot,
    target: Placement | Snapshot | MigrationTarget,
    *,
    method: str = "waves",
    seconds: float = 60.0,
    seed: int = 0,
    alive: float = 0.75,
    way: str = "auto",
    relabel: bool = False,
    delete_missing: bool = False,
    **options: Unpack[MigrateKeywords],
) -> MigrationAnswer:
    """Find a safe order of moves to a target: batches of creates and deletes in which no rule is violated on the way.

    Steps of one batch may run at the same time. Every state that a batch can pass through is checked by the referee.

    - `target`: a placement of the same cluster, or a snapshot, which may have new containers;
    - `alive`: the share of each workload that runs at any time;
    - `way`: how containers move: "replace", "surge", "auto" or "either"; by workload with `replace=` and `surge=`;
    - `relabel`: replicas are interchangeable: rename them in the target so that fewer move;
    - `delete_missing`: delete containers that run and that the target does not state; otherwise they stay where they are.

    >>> import bayplan as bp
    >>> shop = bp.generate("boutique")
    >>> better = bp.rebalance(shop, max_moves=5, budget=bp.Budget(iterations=20_000))
    >>> answer = bp.migrate(shop, better.placement, alive=0.6)
    >>> answer.complete, answer.moved == better.moved
    (True, True)
    """
    control, chosen = Control.of(seconds, seed, options), method_of("migrate", method)
    settings = options_from(MigrationSettings, {**options, "way": way})
    request = request_to(snapshot, target, settings, alive=alive, relabel=relabel, delete_missing=delete_missing)
    control = control.after_compiling(("migrate", method))
    budget = control.method_budget(finish_seconds(request.snapshot))
    result, interrupted = interruptible(
        lambda: chosen(request.migration, request.options, budget=budget, seed=seed, progress=control.progress)
    )
    checked = None
    if result.solution is not None:
        checked = check_migration(request.migration, result.solution)
        if not checked.safe:
            sentences = "; ".join(map(str, checked.violations[:SHOWN]))
            raise UnsafePlanError(f"method '{method}': {len(checked.violations)} rules are violated on the way: {sentences}")
    notes = (*snapshot.notes, *request.notes)
    answer = _answer(request, result, checked, settings, method=method, seed=seed, notes=notes)
    return replace(answer, seconds=control.seconds, interrupted=interrupted)


def migrate_by(
    snapshot: Snapshot,
    target: Placement,
    plan: Plan,
    *,
    alive: float = 0.75,
    way: str = "auto",
    **options: Unpack[MigrateKeywords],
) -> MigrationAnswer | None:
    """The answer that a known plan to a target makes; None if the referee forbids it or it leads elsewhere."""
    settings = options_from(MigrationSettings, {**options, "way": way})
    request = request_to(snapshot, target, settings, alive=alive)
    checked = check_migration(request.migration, plan)
    if not checked.safe or len(checked.running.doubled) or (checked.running.machine_of != target.machine_of).any():
        return None
    result = plan_result(request.migration, PlanDraft(plan=plan), seconds=0.0)
    notes = (*snapshot.notes, *request.notes)
    return _answer(request, result, checked, settings, method="waves", seed=0, notes=notes)


def rollback(
    snapshot: Snapshot,
    plan: Plan,
    *,
    done: int | None = None,
    alive: float = 0.75,
    way: str = "auto",
    new: Mapping[str, str] | None = None,
    **options: Unpack[MigrateKeywords],
) -> MigrationAnswer:
    """The plan that leads back to where the snapshot has its containers, from where the first `done` batches of a plan led.

    It is refused, with the referee's sentences, if it is unsafe under another alive share than the plan was made for.
    `new`: container -> workload, of those that only the plan has; the snapshot has them without a machine.
    """
    control = Control.of(0.0, 0, options)
    settings = options_from(MigrationSettings, {**options, "way": way})
    request, back = request_back(snapshot, plan, settings, alive=alive, done=done)
    request = replace(request, new=new or {})
    checked = check_migration(request.migration, back)
    if checked.safe:
        result = plan_result(request.migration, PlanDraft(plan=back), seconds=control.seconds)
    else:
        sentences = tuple(map(str, checked.violations))
        result = Result(status=Status.INFEASIBLE, solution=None, goal="batches", still_violated=sentences)
    answer = _answer(request, result, checked, settings, method="rollback", seed=0, notes=snapshot.notes)
    return replace(answer, seconds=control.seconds)


def _answer(
    request: MigrationRequest,
    result: Result[Plan],
    checked: PlanCheck | None,
    settings: MigrationSettings,
    *,
    method: str,
    seed: int,
    notes: tuple[str, ...],
) -> MigrationAnswer:
    """The answer with the scores that the referee measured."""
    answer = MigrationAnswer(
        verb="migrate", method=method, seed=seed, result=result, request=request, costs=settings.step_costs, input_notes=notes
    )
    if result.solution is None or checked is None:
        return answer
    cluster, never = request.migration.cluster, request.options.never
    stays = set() if never is None else {cluster.containers.name[c] for c in never.nonzero()[0]}
    score = {**result.score, "alive": checked.least_alive, "peak": checked.peak}
    return replace(
        answer,
        result=replace(result, score=score, left_out=(*result.left_out, *request.unreachable)),
        checked=checked,
        timetable=duration(cluster, request.migration.start, result.solution, settings.step_costs),
        held_back=sum(reason.subject in stays for reason in result.left_out),
    )


def moves_between(request: MigrationRequest, end: Running) -> tuple[Move, ...]:
    """Containers that run at both ends of a run, on another machine at its end."""
    cluster, old, new = request.migration.cluster, request.migration.start.machine_of, end.machine_of
    changed = ((old != UNPLACED) & (new != UNPLACED) & (old != new)).nonzero()[0].tolist()
    names, machine = cluster.containers.name, cluster.machines.name
    return tuple(Move(names[c], machine[old[c]], machine[new[c]]) for c in changed)
