"""Where everything should run: all goals in one search, then only the moves that pay.

`collocate`'s search, which counts containers of each workload and so is far ahead on traffic, goes first, followed by the
search over all terms. Where rules are violated or machines are hot, the search over all terms alone, which is ahead there, has
its part of the time, too, and the better answer counts.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from bayplan.check import Violation, check
from bayplan.decide.collocate import COLLOCATORS
from bayplan.decide.collocate.options import CollocateOptions
from bayplan.decide.collocate.subproblem import may_collocate
from bayplan.decide.place import PLACERS
from bayplan.decide.place.options import PlaceOptions
from bayplan.model import Budget, Placement, Progress, Term, Tick, ints, relabelled, silent, singled_out
from bayplan.model.problem import Problem
from bayplan.score.gmrp import machine_overload, overload_cost
from bayplan.score.goal.move_gains import MoveGain, move_gains
from bayplan.score.terms import weighted
from bayplan.search.anneal import search
from bayplan.search.multi_start import FoundFromStarts, StartSettings, search_from_starts
from bayplan.search.parts import PartSettings, SolvedInParts, solve_in_parts

Members = tuple[int, ...]  # containers that move together

ALONE = 0.35  # of the time, for the search over all terms from the start, where that can help
LEAST_SECONDS = 0.5  # for that search, whatever the time: an answer that helps nothing is too early
FEW_CONTAINERS = 500  # with more, a search goes on from where an earlier one ended, instead of from the start
ROUNDING, DIGITS = 1e-12, 9
ROUNDS, FEW = 12, 0.01  # of dropping moves; the last is one in which no more than this share of the moves is dropped
DROPPING = "dropping moves that do not pay"  # the stage, in reports of progress
TRIES = 40  # sets of moves whose return the referee looks at, in one round


def best_target(problem: Problem, *, budget: Budget, seed: int, progress: Progress = silent) -> Placement:
    """The best placement that the searches find; the start with new containers placed, if none is better."""
    clock = budget.clock()
    start = with_new_containers(problem, seed)
    candidates = [start]
    goes_on = len(start.moved_from(problem.before)) > 0 and len(start.machine_of) > FEW_CONTAINERS
    has_traffic = bool(problem.objective.weight.get(Term.AFFINITY)) and may_collocate(problem) and not goes_on
    alone = _searches_alone(problem)
    if has_traffic:
        part = budget.share(1.0 - alone * ALONE)
        result = COLLOCATORS["best"](problem, CollocateOptions(), budget=part, seed=seed, progress=progress)
        candidates += [result.solution] if result.solution is not None else []
    if alone or not has_traffic:
        left = clock.left()
        rest = budget if left is None else replace(budget, seconds=max(LEAST_SECONDS, left))
        candidates.append(search(replace(problem, start=start), budget=rest, seed=seed, progress=progress))
    return min(candidates, key=lambda each: rank(problem, each))


def best_target_in_parts(
    problem: Problem, settings: PartSettings, *, budget: Budget, seed: int, progress: Progress = silent
) -> SolvedInParts:
    """The same for a very large cluster: part by part, then over their borders."""
    start = with_new_containers(problem, seed)
    solved = solve_in_parts(replace(problem, start=start), best_target, settings, budget=budget, seed=seed, progress=progress)
    return solved._replace(placement=min((start, solved.placement), key=lambda each: rank(problem, each)))


def best_target_from_starts(
    problem: Problem, settings: StartSettings, *, budget: Budget, seed: int, progress: Progress = silent
) -> FoundFromStarts:
    """The same by several walks, that go on from the best few of all in turn."""
    from_start = replace(problem, start=with_new_containers(problem, seed))
    return search_from_starts(from_start, target_walk, settings, budget=budget, seed=seed, progress=progress, rank=rank)


def target_walk(problem: Problem, *, budget: Budget, seed: int, further: bool) -> Placement:
    """The best target from a start; from what an earlier walk found, what the search over all terms makes of it."""
    if further:
        return search(problem, budget=budget, seed=seed, further=True)
    return best_target(problem, budget=budget, seed=seed)


def needs_repair(problem: Problem) -> bool:
    """Is a rule violated, a machine hot, or a container without a machine?"""
    return bool(len(problem.before.unplaced)) or _searches_alone(problem)


def _searches_alone(problem: Problem) -> bool:
    """Is there something that is not about traffic: a violated rule or a hot machine?"""
    return bool(machine_overload(problem.cluster, problem.before).any()) or bool(check(problem.cluster, problem.before))


def with_new_containers(problem: Problem, seed: int) -> Placement:
    """The start of the problem, with a machine for each container that has none, where one fits."""
    if not len(problem.start.unplaced):
        return problem.start
    here = replace(problem, before=problem.start)
    placed = PLACERS["ca-wfd"](here, PlaceOptions(), budget=Budget(), seed=seed, progress=silent).solution
    return problem.start if placed is None else placed


class Rank(NamedTuple):
    """What is compared first, second, ... of two placements; less is better."""

    violated: int  # rules, in places
    unplaced: int  # containers
    overload: float  # load above safety, in largest machines; 0 where the goal leaves it aside
    cost: float  # the whole objective


def rank(problem: Problem, placement: Placement) -> Rank:
    """The rank of a placement."""
    return Rank(
        violated=len(check(problem.cluster, placement, problem.before)),
        unplaced=len(placement.unplaced),
        overload=ranked_overload(problem, placement),
        cost=weighted(problem.cluster, placement, problem.objective, problem.before),
    )


def ranked_overload(problem: Problem, placement: Placement) -> float:
    """The overload that a rank has: 0 where the goal leaves it aside; rounded, so that no sum of floats decides."""
    if not problem.objective.weight.get(Term.OVERLOAD):
        return 0.0
    return round(overload_cost(problem.cluster, placement, problem.objective), DIGITS)


def renamed(problem: Problem, placement: Placement) -> Placement:
    """Interchangeable replicas renamed so that as few as possible move."""
    fixed = singled_out(problem.cluster) | (problem.frozen if len(problem.frozen) else False)
    return relabelled(placement, problem.before, problem.cluster.containers.workload, fixed=fixed)


# ---- only the moves that pay -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PaidMoves:
    """A placement in which every move pays or is needed."""

    placement: Placement
    gains: tuple[MoveGain, ...]
    needed_for: Mapping[Members, Violation | None]  # members of a move that gains nothing by itself -> what it prevents
    dropped: int = 0


def drop_idle_moves(problem: Problem, placement: Placement, *, progress: Progress = silent) -> PaidMoves:
    """Take back moves that gain less than they cost, while the plan improves and no rule is violated for it."""
    placement = renamed(problem, placement)
    first = len(placement.moved_from(problem.before))
    needed: dict[Members, Violation | None] = {}
    for number in range(ROUNDS):
        report = partial(_report, progress, number / ROUNDS)
        report(placement)
        gains = move_gains(problem.cluster, problem.before, placement, problem.objective)
        idle = [move.members for move in gains if not _pays(problem, move) and move.members not in needed]
        if not idle:
            break
        moved = len(placement.moved_from(problem.before))
        placement, kept = _without_idle(problem, placement, idle, report)
        needed |= kept
        if moved - len(placement.moved_from(problem.before)) <= FEW * moved - 1:
            break
    _report(progress, 1.0, placement)
    gains = move_gains(problem.cluster, problem.before, placement, problem.objective)
    return PaidMoves(
        placement=placement,
        gains=tuple(gains),
        needed_for={move.members: needed[move.members] for move in gains if move.members in needed},
        dropped=first - len(placement.moved_from(problem.before)),
    )


def _report(progress: Progress, done: float, placement: Placement) -> None:
    """Report how far it is; the best so far is what is left after moves were taken back."""
    progress(Tick(stage=DROPPING, done=done, solution=lambda: placement))


def _without_idle(
    problem: Problem, placement: Placement, idle: Sequence[Members], report: Callable[[Placement], None]
) -> tuple[Placement, dict[Members, Violation | None]]:
    """The placement with as many of the moves taken back as may be at once, and what keeps the others.

    All are tried together. Where rules object, the moves that the violations name are kept; where the plan would be worse, or
    rules still object, each half is tried by itself.
    """
    kept: dict[Members, Violation | None] = {}
    sets = [list(idle)]
    for _ in range(TRIES):
        if not sets:
            break
        report(placement)
        tried = sets.pop()
        without = taken_back(problem, placement, [c for members in tried for c in members])
        violated = _violated_by(problem, placement, without)
        if not violated and _is_better(problem, placement, without):
            placement = without
        elif len(tried) == 1:
            kept[tried[0]] = violated[0] if violated else None
        else:
            blamed = _blamed(problem, tried, violated)
            kept |= blamed
            rest = [members for members in tried if members not in blamed]
            halves = [rest] if blamed else [rest[: len(rest) // 2], rest[len(rest) // 2 :]]
            sets += [half for half in halves if half]
    return placement, kept | dict.fromkeys((members for tried in sets for members in tried), None)


def _blamed(problem: Problem, moves: Sequence[Members], violated: Sequence[Violation]) -> dict[Members, Violation | None]:
    """Moves of which a violation names a container, or the machine that it would return to; with the first such violation."""
    cluster, first = problem.cluster, dict[str, int]()  # name -> number of the first violation that names it
    for number, violation in enumerate(violated):
        for name in violation.subject:
            first.setdefault(name, number)
    blamed: dict[Members, Violation | None] = {}
    for members in moves:
        names = [cluster.containers.name[c] for c in members]
        names += [cluster.machines.name[problem.before.machine_of[c]] for c in members]
        named = [first[name] for name in names if name in first]
        if named:
            blamed[members] = violated[min(named)]
    return blamed


def _pays(problem: Problem, move: MoveGain) -> bool:
    return move.net(problem.objective) > ROUNDING


def taken_back(problem: Problem, placement: Placement, members: Sequence[int]) -> Placement:
    """The placement with some containers where they ran."""
    machine_of = np.array(placement.machine_of)
    machine_of[list(members)] = problem.before.machine_of[list(members)]
    return Placement(machine_of=ints(machine_of))


def _violated_by(problem: Problem, placement: Placement, without: Placement) -> list[Violation]:
    """Rules that are violated further if moves are taken back."""
    excess = {violation.place: violation.excess for violation in check(problem.cluster, placement, problem.before)}
    after = check(problem.cluster, without, problem.before)
    return [violation for violation in after if violation.excess > excess.get(violation.place, 0.0) * (1 + ROUNDING)]


def _is_better(problem: Problem, placement: Placement, without: Placement) -> bool:
    """Does it cost no more to take moves back, and is nothing hotter then?"""
    if ranked_overload(problem, without) > ranked_overload(problem, placement):
        return False
    old, new = (weighted(problem.cluster, each, problem.objective, problem.before) for each in (placement, without))
    return new <= old + ROUNDING * max(1.0, abs(old))
