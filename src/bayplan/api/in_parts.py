"""Questions that several jobs solve: in parts or from several starts, how many, and what solves one part of each verb."""

from dataclasses import replace
from functools import partial

import numpy as np

from bayplan.api.control import Control, ParallelKeywords
from bayplan.api.registry import method_of
from bayplan.decide.collocate.finish import finish_placement, start_with_new_containers
from bayplan.decide.collocate.options import CollocateOptions
from bayplan.decide.rebalance.options import RebalanceOptions
from bayplan.engine import engine_of
from bayplan.errors import UsageError
from bayplan.model import Budget, Placement, Progress, Result, silent
from bayplan.model.problem import Problem
from bayplan.search.answer import answer
from bayplan.search.multi_start import MOST_STARTS, StartSettings
from bayplan.search.parts import MOST_PARTS, PartSettings, number_of_parts, solve_in_parts

ENGINE, HERE = "pool", "here"  # by default; and within a part, where an engine that is open does not travel to


class PartKeywords(ParallelKeywords, total=False):
    """Keywords of verbs that solve very large clusters in parts, and others from several starts."""

    starts: int  # how many walks search, and go on from the best few of all in turn; 1 by default
    parts: int | None  # in how many parts; by default 1 up to 200,000 containers, and one for each 40,000 above


def part_settings(problem: Problem, control: Control, parts: int | None, *, can: bool = True) -> PartSettings | None:
    """How a problem is solved in parts; None if it is solved as a whole. `can`: does the method know parts?"""
    if parts is not None and (isinstance(parts, bool) or not isinstance(parts, int) or not 1 <= parts <= MOST_PARTS):
        raise UsageError(f"parts {parts}: expected a whole number from 1 to {MOST_PARTS:,}")
    if not can:
        if parts is not None and parts > 1:
            raise UsageError(f"parts {parts}: this method solves a cluster as a whole; expected the default method")
        return None
    number = min(number_of_parts(len(problem.start.machine_of), parts), max(1, len(problem.cluster.machines.name)))
    if number == 1:
        return None
    return PartSettings(parts=number, engine=control.engine or engine_of(ENGINE), workers=_workers(control))


def start_settings(
    control: Control, starts: int | None, in_parts: PartSettings | None, *, can: bool = True
) -> StartSettings | None:
    """How several walks search; None if one does. `can`: does the method draw random numbers, and go on from any start?"""
    number = 1 if starts is None else starts
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= MOST_STARTS:
        raise UsageError(f"starts {number}: expected a whole number from 1 to {MOST_STARTS:,}")
    if number == 1:
        return None
    if not can:
        raise UsageError(f"starts {number}: this method has one start; expected the default method")
    if in_parts is not None:
        words = f"this cluster is solved in {in_parts.parts:,} parts, each with a walk of its own"
        raise UsageError(f"starts {number}: {words}; expected starts 1, or parts 1")
    return StartSettings(starts=number, engine=control.engine or engine_of(ENGINE), workers=_workers(control))


def _workers(control: Control) -> int:
    return control.threads if control.budget is None else control.budget.threads


def collocate_in_parts(
    problem: Problem, options: CollocateOptions, settings: PartSettings, *, budget: Budget, seed: int, progress: Progress
) -> Result[Placement]:
    """The answer of method `best` in parts."""
    clock = budget.clock()
    start = start_with_new_containers(problem, clock, seed)
    solve = partial(_collocated, options=replace(options, engine=HERE))  # a part is a job, and workers start no others
    solved = solve_in_parts(replace(problem, start=start), solve, settings, budget=budget, seed=seed, progress=progress)
    none = np.zeros(len(start.machine_of), dtype=np.bool_)
    return finish_placement(problem, solved.placement, options, may_go=none, clock=clock, seed=seed, notes=solved.notes)


def rebalance_in_parts(
    problem: Problem, options: RebalanceOptions, settings: PartSettings, *, budget: Budget, seed: int, progress: Progress
) -> Result[Placement]:
    """The answer of method `search` in parts."""
    clock, solve = budget.clock(), partial(_rebalanced, options=options)
    solved = solve_in_parts(problem, solve, settings, budget=budget, seed=seed, progress=progress)
    return replace(answer(problem, solved.placement, seconds=clock.seconds), notes=solved.notes)


def _collocated(problem: Problem, *, budget: Budget, seed: int, options: CollocateOptions) -> Placement:
    found = method_of("collocate", "best")(problem, options, budget=budget, seed=seed, progress=silent)
    return problem.start if found.solution is None else found.solution


def _rebalanced(problem: Problem, *, budget: Budget, seed: int, options: RebalanceOptions) -> Placement:
    found = method_of("rebalance", "search")(problem, options, budget=budget, seed=seed, progress=silent)
    return problem.start if found.solution is None else found.solution
