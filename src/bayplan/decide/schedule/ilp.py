"""`ilp`: the integer program of 002 section III-A, by HiGHS, from Cradle+'s schedule on."""

from dataclasses import replace

import numpy as np

from bayplan.check import check_schedule
from bayplan.decide.schedule.answer import scheduled
from bayplan.decide.schedule.best_effort import best_effort
from bayplan.decide.schedule.bound import upper_bound
from bayplan.decide.schedule.cradle import cradle_choice
from bayplan.decide.schedule.ilp_program import columns_of, program_of, schedule_of, size_of
from bayplan.decide.schedule.market import Market, market_of
from bayplan.decide.schedule.prices import common_unit
from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.decide.schedule.signature import ScheduleOptions
from bayplan.model import UNPLACED, Budget, Clock, IntArray, Progress, Result, Schedule, Status, Tick
from bayplan.solvers.highs import ProgramSolution, solve

MOST_ENTRIES = 1_000_000  # coefficients: with more, HiGHS does not get through its first linear program within a minute
SECONDS = 60.0  # if the budget says nothing
FOR_BOUND, FOR_FINDING = 0.2, 0.5  # of the time, at most: for the linear bound, for a better schedule; the rest is for the proof
SAFE = 1e-6  # relative: what HiGHS may be wrong by when it stops


def ilp(problem: ScheduleProblem, options: ScheduleOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Schedule]:
    """The best schedule if the time suffices; else the best found, never below Cradle+'s, with a proven bound.

    The bound is that of the linear program, or that of HiGHS' search where it was solved without presolve (see `solve`).
    A program of more than `MOST_ENTRIES` coefficients is not solved: then it is Cradle+'s schedule, and `notes` say so.
    An iteration of the budget is a node of the search.
    """
    limit = SECONDS if budget.seconds is None else budget.seconds
    clock = replace(budget, seconds=limit).clock()
    found = best_effort(problem, cradle_choice(problem))
    market = market_of(problem)
    bound = float(market.value.sum())
    if options.bound:
        part = Clock(budget=replace(budget, seconds=clock.seconds + FOR_BOUND * limit), started=clock.started)
        bound = upper_bound(problem, clock=part, progress=progress)
    if size_of(problem, market) > MOST_ENTRIES:
        result = scheduled(problem, found, bound=bound if options.bound else None, seconds=clock.seconds)
        return replace(result, notes=(*result.notes, _too_large(size_of(problem, market))))
    if len(market.value) and _value(problem, found) < bound * (1 - 1e-9):
        found, bound = _searched(problem, market, found, bound, clock, seed, progress)
    return scheduled(problem, best_effort(problem, found), bound=bound, seconds=clock.seconds)  # and those without value


def _searched(
    problem: ScheduleProblem, market: Market, found: IntArray, bound: float, clock: Clock, seed: int, progress: Progress
) -> tuple[IntArray, float]:
    """A better schedule and a lower bound: first with presolve, which is fast, then without, which proves."""
    columns = columns_of(problem, market)
    limit = clock.budget.seconds or 0.0
    for presolve, until in ((True, FOR_BOUND + FOR_FINDING), (False, 1.0)):
        left = until * limit - clock.seconds
        if left <= 0.0:
            continue
        program = program_of(problem, market, columns, found)
        budget = clock.budget
        answer = solve(program, seconds=left, threads=budget.threads, seed=seed, presolve=presolve, nodes=budget.iterations)
        if answer.point is not None:
            better = _repaired(problem, schedule_of(problem, market, columns, answer.point))
            found = max(found, better, key=lambda machine_of: _value(problem, machine_of))
        if not presolve:
            bound = min(bound, _proven(answer, market, _value(problem, found)))
        progress(Tick(stage="searching", done=min(1.0, until), score=_value(problem, found)))
    return found, bound


def _proven(answer: ProgramSolution, market: Market, value: float) -> float:
    """What HiGHS has proven no schedule to exceed, rounded down to a multiple of all values if there is one."""
    if answer.bound is None or answer.cost is None or value > -answer.bound * (1 + SAFE) + SAFE:
        return float("inf")  # nothing, or wrong
    if answer.status is Status.OPTIMAL and value >= -answer.cost * (1 - 1e-9):
        return value
    lifted, unit = -answer.bound * (1 + SAFE) + SAFE, common_unit(market.value)
    return float(np.floor(lifted / unit) * unit) if unit else lifted


def _value(problem: ScheduleProblem, machine_of: IntArray) -> float:
    return float(problem.requests.value[machine_of != UNPLACED].sum())


def _repaired(problem: ScheduleProblem, machine_of: IntArray) -> IntArray:
    """The schedule without what is too much by HiGHS' rounding: the least valuable requests of a machine go first."""
    machine_of = machine_of.copy()
    while broken := check_schedule(problem.requests, Schedule(machine_of=machine_of), problem.fleet):
        m = int(broken[0].subject[0])
        there = np.flatnonzero(machine_of == m)
        machine_of[there[np.argmin(problem.requests.value[there])]] = UNPLACED
    return machine_of


def _too_large(entries: int) -> str:
    return f"integer program: {entries:,} coefficients, more than {MOST_ENTRIES:,}: this is Cradle+'s schedule"
