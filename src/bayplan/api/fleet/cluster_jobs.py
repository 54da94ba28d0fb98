"""What a worker does for one cluster of a fleet: read its file, find its front, make its plan. Its faults are answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayplan.api.answer import Move
from bayplan.api.control import Control
from bayplan.api.files import read
from bayplan.api.fleet.division import GainAt
from bayplan.api.planning.answer import PlanAnswer
from bayplan.api.planning.front import front_targets
from bayplan.api.planning.plan import default_seconds, kernels_needed, plan
from bayplan.api.planning.question import PlanQuestion, plan_question
from bayplan.api.planning.target import rank, with_new_containers
from bayplan.api.what_if import WhatIf
from bayplan.errors import BayplanError, WorldError
from bayplan.formats.clusters import FleetCluster
from bayplan.model import Budget, Placement, ints, silent
from bayplan.model.goal import Goal
from bayplan.model.interrupt import stoppable
from bayplan.report.fleet.tables import ClusterRow, ClusterStatus
from bayplan.report.json import plain
from bayplan.score.gmrp import moves
from bayplan.score.goal.objective import third_rank

SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4)  # of the containers that run: fewer than a front for people has
EACH_POINT = 1.0  # seconds that a point of a front is worth at least
FRONT = 0.6  # of the seconds of a cluster, for its front


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterTask:
    """One cluster, and how it is planned."""

    cluster: FleetCluster
    goal: Goal
    seed: int
    budget: Budget | None = None  # of each search, if the caller states it; else made from the seconds
    options: Mapping[str, Any] = field(default_factory=dict)  # of `plan`
    pages: bool = False  # also its HTML page?


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFault:
    """A cluster that cannot be planned."""

    name: str
    file: str
    text: str

    def __str__(self) -> str:
        return f"cluster '{self.name}' ('{self.file}'): {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClusterFront:
    """What a cluster gains without moves, with few and with more, and the placements that do."""

    running: int
    points: tuple[GainAt, ...]
    machine_of: tuple[NDArray[np.int32], ...]  # of each point

    def within(self, limit: int) -> Placement | None:
        """The best placement known that takes at most as many moves."""
        best = max((n for n, point in enumerate(self.points) if point.moves <= limit), key=self._gain, default=None)
        return None if best is None else Placement(machine_of=ints(self.machine_of[best]))

    def _gain(self, number: int) -> Any:
        return self.points[number].gain


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClusterPlan:
    """The plan of one cluster: its row in tables, its moves, and its files as texts."""

    row: ClusterRow
    plan_text: str = ""  # what NAME.plan.json holds; nothing if there is no plan
    page: str = ""  # its HTML page, if that was asked for
    moves: tuple[Move, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)  # what `plan` says about it, but for its moves
    still_violated: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    seconds: float = 0.0


def cluster_front(task: ClusterTask, most: int | None, seconds: float | None) -> ClusterFront | ClusterFault:
    """The front of a cluster up to its own limit of moves, or `most` if that is less; or what is wrong with it."""
    try:
        _expect_collected(task.cluster)
        with stoppable():
            return _front(task, most, seconds)
    except BayplanError as error:
        return _fault(task, error)


def _fault(task: ClusterTask, error: BayplanError) -> ClusterFault:
    return ClusterFault(name=task.cluster.name, file=task.cluster.source, text=str(error))


def _expect_collected(cluster: FleetCluster) -> None:
    """WorldError if a cluster of Kubernetes was not collected."""
    if cluster.context and (cluster.collected is None or cluster.collected.fault):
        words = "it was not collected; expected bayplan.kubernetes.collected_fleet, as the command line does"
        raise WorldError(words if cluster.collected is None else cluster.collected.fault)


def _front(task: ClusterTask, most: int | None, seconds: float | None) -> ClusterFront:
    clock = Budget(seconds=seconds).clock()
    snapshot = read(task.cluster.file)
    question = _question(task, snapshot)
    left = FRONT * default_seconds(snapshot, task.goal) if seconds is None else max(0.0, seconds - clock.seconds)
    keywords = {} if task.budget is None else {"budget": task.budget}
    control = Control.of(left, task.seed, keywords).after_compiling(*kernels_needed(question))
    running, limit = len(question.problem.before.placed), question.limit if most is None else min(question.limit, most)
    budget = control.method_budget(0.0)
    limits = _limits(running, limit, budget)
    targets = front_targets(question, limits, budget=budget, seed=task.seed, progress=silent)
    placements = [with_new_containers(question.within(0), task.seed), *(target.placement for target in targets)]
    return ClusterFront(
        running=running,
        points=tuple(_gain_at(question, placement) for placement in placements),
        machine_of=tuple(placement.machine_of.astype(np.int32) for placement in placements),
    )


def _limits(running: int, limit: int, budget: Budget) -> list[int]:
    """Numbers of moves up to a limit, ascending; fewer where the time is short, but the limit in any case."""
    limits = sorted({min(limit, max(1, int(share * running))) for share in SHARES} | {limit}) if limit and running else []
    points = len(limits) if budget.seconds is None else max(2, int(budget.seconds / EACH_POINT))
    return limits if points >= len(limits) else [limits[n * (len(limits) - 1) // (points - 1)] for n in range(points)]


def _question(task: ClusterTask, snapshot: Any) -> PlanQuestion:
    cluster = task.cluster
    return plan_question(snapshot, task.goal, WhatIf(), max_moves=cluster.max_moves, freeze=_frozen(cluster))


def _frozen(cluster: FleetCluster) -> tuple[str, ...]:
    """What stays where it runs: what the user says, and pods that do not move now."""
    return cluster.freeze if cluster.collected is None else (*cluster.freeze, *cluster.collected.resting)


def _of_kubernetes(cluster: FleetCluster) -> dict[str, Any]:
    """Keywords of `plan` for pods: they are moved by replacing them, within their disruption budgets."""
    state = cluster.collected
    return {} if state is None else {"way": "replace", "never": state.resting, "needed": state.needed}


def _gain_at(question: PlanQuestion, placement: Placement) -> GainAt:
    """The moves to a placement, and what they gain: rules, containers placed, load above safety, then the weighted rest."""
    problem, objective, before = question.problem, question.problem.objective, question.problem.before
    old, new = rank(problem, before), rank(problem, placement)
    gain = third_rank(problem.cluster, before, objective, before) - third_rank(problem.cluster, placement, objective, before)
    ranks = (old.violated - new.violated, old.unplaced - new.unplaced, old.overload - new.overload)
    return GainAt(moves(problem.cluster, placement, before), (*map(float, ranks), gain))


def cluster_plan(
    task: ClusterTask, limit: int | None, front: ClusterFront | None, seconds: float | None
) -> ClusterPlan | ClusterFault:
    """The plan of a cluster within its limit of moves, no worse than its front; or what is wrong with it."""
    clock = Budget(seconds=seconds).clock()
    try:
        _expect_collected(task.cluster)
        snapshot = read(task.cluster.file)
        left = None if seconds is None else max(0.0, seconds - clock.seconds)
        if seconds is None and limit is not None:
            left = (1.0 - FRONT) * default_seconds(snapshot, task.goal)
        answer = plan(
            snapshot,
            goal=task.goal,
            seconds=left,
            seed=task.seed,
            max_moves=task.cluster.max_moves if limit is None else limit,
            freeze=_frozen(task.cluster),
            known=None if front is None or limit is None else front.within(limit),
            **_of_kubernetes(task.cluster),
            **{"threads": 1, **({} if task.budget is None else {"budget": task.budget}), **task.options},
        )
        return _cluster_plan(task, answer, limit)
    except BayplanError as error:
        return _fault(task, error)


def _cluster_plan(task: ClusterTask, answer: PlanAnswer, limit: int | None) -> ClusterPlan:
    page = ""
    if task.pages and answer.worth_it:
        from bayplan.api.planning.page import plan_page_data
        from bayplan.report.change_page import change_page

        page = change_page(plan_page_data(answer, ""))
    acts = answer.worth_it and bool(answer.moved or answer.placed)
    return ClusterPlan(
        row=_row(task, answer, limit),
        plan_text=_plan_text(answer) if acts else "",
        page=page,
        moves=tuple(answer.moves) if answer.worth_it else (),
        details=plain({key: value for key, value in answer.details().items() if key != "reasons"}),
        still_violated=answer.still_violated,
        left_out=tuple(str(reason) for reason in answer.left_out),
        seconds=answer.seconds,
    )


def _plan_text(answer: PlanAnswer) -> str:
    """What the file of the plan holds; a worker may be on another machine, so it sends the text."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "plan.json"
        answer.save(path)
        return path.read_text(encoding="utf-8")


def _row(task: ClusterTask, answer: PlanAnswer, limit: int | None) -> ClusterRow:
    cluster, worth_it = answer.now.cluster, answer.worth_it
    changes = answer.moved or answer.placed
    status = ClusterStatus.NOT_WORTH_IT if not worth_it else ClusterStatus.PLANNED if changes else ClusterStatus.NO_CHANGE
    row = ClusterRow(
        name=task.cluster.name,
        file=task.cluster.source,
        status=status,
        goal=task.goal.name,
        headline=answer.headline,
        machines=len(cluster.machines.name),
        containers=len(cluster.containers.name),
        running=len(answer.now.placement.placed),
        weight=task.cluster.weight,
        before=answer.figures.before,
        after=answer.figures.after if worth_it else answer.figures.before,
        limit=limit,
    )
    if not worth_it:
        return row
    return replace(
        row,
        moves=answer.moved,
        placed=answer.placed,
        batches=len(answer.plan.batches),
        duration=answer.duration,
        gain=answer.gain,
    )
