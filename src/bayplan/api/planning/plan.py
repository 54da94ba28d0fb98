"""`plan`: what should move, what that gains, and how to get there safely. The main job."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Unpack

import numpy as np

from bayplan.api.control import Control, options_from
from bayplan.api.in_parts import PartKeywords, part_settings, start_settings
from bayplan.api.migrate import MigrateKeywords
from bayplan.api.migration_request import MigrationSettings
from bayplan.api.performance import assumptions_of
from bayplan.api.placement import finish_seconds, scores_before
from bayplan.api.planning.answer import PlanAnswer
from bayplan.api.planning.executable import Decision, Ordering, ReachableTarget, reachable
from bayplan.api.planning.fewer_machines import empty_machines
from bayplan.api.planning.front import FrontTarget, front_limits, front_targets
from bayplan.api.planning.part import target_in_parts
from bayplan.api.planning.plan_jobs import PlanJobs, TargetSearch
from bayplan.api.planning.question import PlanQuestion, goal_of, plan_question
from bayplan.api.planning.target import rank
from bayplan.api.problem import move_limit, search_needs
from bayplan.api.what_if import WhatIf
from bayplan.check import check
from bayplan.decide.collocate.move_bound import affinity_within_moves
from bayplan.engine import engine_of
from bayplan.model import UNPLACED, Budget, Placement, Snapshot, Term, Tick
from bayplan.model.allowed_machines import daemons
from bayplan.model.goal import Goal
from bayplan.model.interrupt import set_aside, stoppable
from bayplan.model.problem import Problem
from bayplan.report.answers.move_reasons import MoveContext, move_notes
from bayplan.report.answers.plan_words import PlanFigures, figure_words
from bayplan.report.change_page import FrontPoint, MoveNote
from bayplan.score.gmrp import moves
from bayplan.score.goal.objective import third_rank
from bayplan.score.goal.state_figures import state_figures
from bayplan.score.performance import Assumptions, performance_change
from bayplan.search.answer import answer as refereed_answer
from bayplan.search.parts import PARTS_FROM

SAYS_SOMETHING = 0.995  # a bound of the local share above this is left out
BY_SIZE, LONGEST = ((500, 5.0), (10_000, 30.0), (PARTS_FROM, 60.0)), 300.0  # containers, and seconds up to that number
EMPTYING = 0.6  # of the seconds for a target, for which machines can go, where that is the goal
PREPARING, EXPLAINING = "preparing", "explaining the moves"  # stages, in reports of progress
FRONT = 0.7  # of the seconds, for the front, where it is wanted


class PlanKeywords(MigrateKeywords, PartKeywords, total=False):
    """What may be said beside the goal."""

    way: str  # how containers move: "replace", "surge", "auto" or "either"
    what_if: WhatIf  # a change of the cluster to plan for
    min_gain: float  # weighted shares; a plan that gains less and is not urgent is not worth it
    front: bool  # also compute what fewer and more moves would gain
    at: int | str | None  # the point of the front to plan for: a number of moves or a share
    assume: Mapping[str, float | str]  # of the model of latency and errors, such as {"network_ms": 1}
    at_once: int | str | None  # moves of this plan, where the target may take more: it is a part of the way
    performance: bool  # also what the plan is worth to requests, by the model? Yes by default
    known: Placement | None  # a placement within the limit that is known already: the target is no worse


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSettings:
    """The keywords that are not about the way."""

    what_if: WhatIf = field(default_factory=WhatIf)
    min_gain: float = 0.0
    front: bool = False
    at: int | str | None = None
    assume: Mapping[str, float | str] = field(default_factory=dict)
    at_once: int | str | None = None
    performance: bool = True
    known: Placement | None = None
    parts: int | None = None
    starts: int | None = None

    @property
    def assumptions(self) -> Assumptions:
        """Of the performance model; UsageError if a name or value makes no sense."""
        return assumptions_of(self.assume)


def plan(
    snapshot: Snapshot,
    *,
    goal: Goal | str = "steady",
    seconds: float | None = None,
    seed: int = 0,
    weights: Mapping[str, float] | None = None,
    max_moves: int | str | None = None,
    freeze: Sequence[str] = (),
    alive: float = 0.75,
    **options: Unpack[PlanKeywords],
) -> PlanAnswer:
    """Decide what should move, say what that gains at what price, and find a safe order of moves.

    Every goal has three ranks: repair violated rules and violate none further; no machine above safety; the weighted rest, less a
    price for each move. A move that does not pay is not made, and what is returned can be carried out step by step.

    - `goal`: a name ("steady", "local-traffic", "balance", "fewer-machines", "spread-risk") or a `Goal`;
    - `weights`: of the goal, such as `{"balance": 1, "price": 0.2}`; the others stay;
    - `seconds`: wall time; by default 5, 30, 60 or 300, by the size of the cluster;
    - `max_moves`: a number of containers, or a share of those that run; the goal's own by default;
    - `freeze`: names or patterns of containers or workloads that stay where they run;
    - `alive`: the share of each workload that runs at any time on the way;
    - `what_if`: plan for a changed cluster, such as `bp.WhatIf(drain=("a1",))`;
    - `parts`: solve in that many parts, on `engine`; above 200,000 containers it is by itself;
    - `starts`: search by that many walks, on `engine`, that go on from the best few of all in turn;
    - `engine`: also where points of the front, and tries to empty machines, are searched; this process by default;
    - `assume`: of the model that says what the plan is worth to requests, such as `{"network_ms": 1, "router": "random"}`.

    >>> import bayplan as bp
    >>> answer = bp.plan(bp.generate("boutique"), budget=bp.Budget(iterations=20_000))
    >>> answer.figures.before.hot, answer.figures.after.hot, answer.moved_share <= 0.15
    (4, 0, True)
    """
    wanted, spare = goal_of(goal, weights), {"threads": cores(), **options}
    control = Control.of(default_seconds(snapshot, wanted) if seconds is None else seconds, seed, spare)
    settings = options_from(PlanSettings, {name: value for name, value in options.items() if name in _own()})
    about_way = {
        name: value for name, value in options.items() if name not in _own() and name not in PartKeywords.__annotations__
    }
    options_from(MigrationSettings, about_way)  # what it does not know is said before the work, here
    assumptions = settings.assumptions  # ... and here
    with stoppable() as early:  # Ctrl-C in any stage asks for the best so far; only where kernels are compiled there is none
        control.progress(Tick(stage=PREPARING, done=0.0))
        question = plan_question(snapshot, wanted, settings.what_if, max_moves=max_moves, freeze=freeze)
        if settings.at is not None:
            question = replace(question, limit=move_limit(settings.at, len(question.problem.before.placed)))
            question = replace(question, problem=question.within(question.limit))
    in_parts = part_settings(question.problem, control, settings.parts, can=not wanted.empty_machines)
    from_starts = start_settings(control, settings.starts, in_parts)
    control = control.after_compiling(*kernels_needed(question))
    budget = control.method_budget(finish_seconds(snapshot))
    ordering = Ordering(
        snapshot=question.snapshot,
        options={**about_way, "alive": alive},
        clock=budget.clock(),
        seed=seed,
        progress=control.progress,
        most=None if settings.at_once is None else move_limit(settings.at_once, len(question.problem.before.placed)),
    )
    with stoppable() as stop:
        stop.requested |= early.requested
        search = TargetSearch(in_parts=in_parts, from_starts=from_starts)
        jobs = PlanJobs(engine=control.engine or engine_of("here"), workers=budget.threads)
        planned, front = _planned(question, ordering, budget, settings, PlanWork(search=search, jobs=jobs))
        interrupted = stop.requested
        with set_aside():
            answer = _explained(planned, control=control, settings=settings, assumptions=assumptions)
    return replace(answer, front=_front_points(question, front, planned), interrupted=interrupted, seconds=control.seconds)


def _explained(planned: "Planned", *, control: Control, settings: PlanSettings, assumptions: Assumptions) -> PlanAnswer:
    """The answer, with what the plan is worth to requests where that is wanted."""
    control.progress(Tick(stage=EXPLAINING, done=0.0))
    answer = _answer(planned, control=control, settings=settings)
    control.progress(Tick(stage=EXPLAINING, done=0.5))
    if settings.performance:
        change = performance_change(answer.snapshot.cluster, answer.snapshot.placement, answer.placement, assumptions)
        answer = replace(answer, performance=change)
    return answer


def cores() -> int:
    """How many threads search where nothing is said: one for each core that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def default_seconds(snapshot: Snapshot, goal: Goal) -> float:
    """5 seconds up to 500 containers, 30 up to 10,000, 60 up to 200,000, else 300; twice that to empty machines."""
    containers = len(snapshot.cluster.containers.name)
    seconds = next((seconds for most, seconds in BY_SIZE if containers <= most), LONGEST)
    return 2 * seconds if goal.empty_machines else seconds


def _own() -> set[str]:
    return {known.name for known in fields(PlanSettings)}


def kernels_needed(question: PlanQuestion) -> list[tuple[str, str]]:
    """What kernels have to be compiled for."""
    needs = [("place", "ca-wfd"), ("rebalance", "search"), ("migrate", "waves"), *search_needs(question.problem)]
    if question.goal.empty_machines:
        needs.append(("search", "repair"))  # of what runs on machines that are to go
    if question.problem.objective.weight.get(Term.AFFINITY):
        needs += [("collocate", "best"), ("collocate", "best, in counts"), ("collocate", "best, by search")]
    return needs


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Planned:
    """A reachable target of a question, perhaps without some machines."""

    question: PlanQuestion
    reached: ReachableTarget


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlanWork:
    """How targets are searched, and where the questions beside that are answered."""

    search: TargetSearch
    jobs: PlanJobs


def _planned(
    question: PlanQuestion, ordering: Ordering, budget: Budget, settings: PlanSettings, work: PlanWork
) -> tuple[Planned, list[FrontTarget]]:
    """The target and the way to it; and the front, where it is wanted."""
    front: list[FrontTarget] = []
    with work.jobs.engine:  # its workers are kept from one question to the next
        if settings.front:
            limits, share = front_limits(len(question.problem.before.placed), [question.limit]), budget.share(FRONT)
            front = front_targets(question, limits, budget=share, seed=ordering.seed, progress=ordering.progress, jobs=work.jobs)
        known = next((point.placement for point in front if point.limit == question.limit), None)
        decide = partial(_decided, question=question, ordering=ordering, settings=settings, work=work, front_point=known)
        reached = reachable(question.problem, decide, ordering, budget=budget)
    reached = replace(reached, notes=(*reached.notes, *work.jobs.notes))
    return Planned(question=replace(question, problem=reached.problem), reached=reached), front


def _decided(
    problem: Problem,
    part: Budget,
    seed: int,
    *,
    question: PlanQuestion,
    ordering: Ordering,
    settings: PlanSettings,
    work: PlanWork,
    front_point: Placement | None,
) -> Decision:
    """A target; the point of the front that is asked for, where that is known."""
    search, first = work.search, seed == ordering.seed
    if ordering.most is not None and not question.goal.empty_machines:
        target = target_in_parts(problem, ordering.most, budget=part, seed=seed, progress=ordering.progress, search=search)
        return Decision(problem, target.placement, whole=target.whole, notes=search.notes)
    if front_point is not None and first:
        return Decision(problem, front_point)
    emptied = 0
    if question.goal.empty_machines:
        here = replace(question, problem=problem)
        best = empty_machines(here, budget=part.share(EMPTYING), seed=seed, progress=ordering.progress, jobs=work.jobs)
        problem, emptied, part = best.problem, len(best.machines), part.share(1 - EMPTYING)
    placement = search(problem, budget=part, seed=seed, progress=ordering.progress)
    if settings.known is not None and first:
        placement = min((placement, settings.known), key=lambda each: rank(problem, each))
    return Decision(problem, placement, emptied, notes=search.notes)


def _answer(planned: Planned, *, control: Control, settings: PlanSettings) -> PlanAnswer:
    """The answer with its scores, its reasons and its figures, all worked out anew from the placement."""
    question, reached = planned.question, planned.reached
    snapshot, after = question.snapshot, reached.paid.placement
    problem = replace(question.problem, cluster=snapshot.cluster)
    result = refereed_answer(problem, after, left_out=question.changed.left_out, rename=False)  # its steps lead there
    result = replace(result, notes=_notes(question, reached), seconds=control.seconds)
    return PlanAnswer(
        verb="plan",
        method=question.goal.name,
        seed=control.seed,
        result=result,
        before=scores_before(problem, result),
        input_notes=question.now.notes,
        snapshot=snapshot,
        now=question.now,
        wanted=question.goal,
        migration=reached.migration,
        figures=PlanFigures(
            now=state_figures(question.now.cluster, question.now.placement),
            before=state_figures(snapshot.cluster, problem.before),
            after=state_figures(snapshot.cluster, after),
        ),
        reasons=_move_notes(question, reached),
        replaced=reached.replaced,
        dropped=reached.paid.dropped,
        emptied=_emptied(question, after),
        min_gain=settings.min_gain,
        most_local=_most_local(question, after),
        whole_gain=_whole_gain(question, reached),
        changes=question.changed.notes,
        hypothetical=settings.what_if.changes_what_runs,
        drained=tuple(snapshot.cluster.machines.name[m] for m in question.changed.drained.tolist()),
    )


def _notes(question: PlanQuestion, reached: ReachableTarget) -> tuple[str, ...]:
    """Which of the rules that the goal adds are not met."""
    cluster = question.problem.cluster
    own = len(question.changed.snapshot.cluster.rules)
    missed = [v.sentence for v in check(cluster, reached.paid.placement) if v.number >= own and v.rule != "allow"]
    more = f" (and {len(missed) - 1:,} more)" if len(missed) > 1 else ""
    return (f"the goal is not met everywhere: {missed[0]}{more}", *reached.notes) if missed else reached.notes


def _move_notes(question: PlanQuestion, reached: ReachableTarget) -> tuple[MoveNote, ...]:
    problem, paid = question.problem, reached.paid
    context = MoveContext(
        cluster=problem.cluster,
        before=problem.before,
        after=paid.placement,
        objective=problem.objective,
        violated=frozenset(violation.place for violation in check(problem.cluster, problem.before)),
        needed_for=paid.needed_for,
        closed=frozenset(np.flatnonzero(~problem.cluster.machines.capacity.any(axis=1)).tolist()),
    )
    return move_notes(context, paid.gains)


def _emptied(question: PlanQuestion, after: Placement) -> tuple[str, ...]:
    """Machines that ran something and run nothing afterwards, but for what goes with its machine."""
    before, cluster = question.problem.before, question.problem.cluster
    counts = ~daemons(cluster, before)
    ran, runs = set(before.machine_of[counts].tolist()), set(after.machine_of[counts].tolist())
    return tuple(cluster.machines.name[m] for m in sorted(ran - runs - {UNPLACED}))


def _most_local(question: PlanQuestion, after: Placement) -> float | None:
    """No plan of as many moves keeps more of the traffic between workloads on one machine; None if that says nothing."""
    moved = len(after.moved_from(question.problem.before))
    if not moved or not question.problem.objective.weight.get(Term.AFFINITY):
        return None
    most = affinity_within_moves(question.problem, moved)
    return most if most < SAYS_SOMETHING else None


def _whole_gain(question: PlanQuestion, reached: ReachableTarget) -> float | None:
    """What all moves to the target gain, less their price; None if the plan makes all of them."""
    if reached.whole is None:
        return None
    cluster, objective, before = question.problem.cluster, question.problem.objective, question.problem.before
    return third_rank(cluster, before, objective, before) - third_rank(cluster, reached.whole, objective, before)


def _front_points(question: PlanQuestion, front: Sequence[FrontTarget], planned: Planned) -> tuple[FrontPoint, ...]:
    """Each target of the front in figures; the point of the plan is marked."""
    problem, points = question.problem, []
    start = third_rank(problem.cluster, problem.before, problem.objective, problem.before)
    ran = max(1, len(problem.before.placed))
    for target in front:
        chosen = target.limit == question.limit
        placement = planned.reached.paid.placement if chosen else target.placement
        moved = moves(problem.cluster, placement, problem.before)
        gain = start - third_rank(problem.cluster, placement, problem.objective, problem.before)
        figures = figure_words(state_figures(question.snapshot.cluster, placement))
        points.append(FrontPoint(moved=moved, share=moved / ran, gain=gain, figures=figures, chosen=chosen))
    return tuple(_best_by_moves(points))


def _best_by_moves(points: Sequence[FrontPoint]) -> list[FrontPoint]:
    """One point for each number of moves: the plan's, else the one that gains most."""
    best: dict[int, FrontPoint] = {}
    for point in sorted(points, key=lambda point: (point.chosen, point.gain)):
        best[point.moved] = point
    return [best[moved] for moved in sorted(best)]
