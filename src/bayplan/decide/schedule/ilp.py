"""`ilp`: the integer program of [Cradle] §III-A, by HiGHS, starting from the schedule of Cradle+.

    max  sum_j w_j sum_i x_ij
    s.t. sum_i x_ij <= 1                           every request j                                   (I1)
         sum_{j: t in I_j} d_jr x_ij <= C_ir       every machine i, resource r, critical time t      (I2)
         x_ij in {0, 1}

Rows that cannot bind are left out. Machines of a kind are interchangeable: they are numbered by their first request, so the p-th
request that fits there runs on one of the first p machines, and other x_ij do not exist.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import coo_array

from bayplan.check import check_schedule
from bayplan.decide.schedule.best_effort import best_effort
from bayplan.decide.schedule.bound import upper_bound
from bayplan.decide.schedule.cradle import cradle_choice
from bayplan.decide.schedule.options import ScheduleOptions
from bayplan.decide.schedule.priced_requests import PricedRequests, priced_requests
from bayplan.decide.schedule.prices import rounded_down
from bayplan.decide.schedule.problem import ScheduleProblem, schedule_result
from bayplan.model import UNPLACED, Budget, Clock, FloatArray, IntArray, Progress, Result, Schedule, Tick, gap_closed
from bayplan.solvers.highs import ProgramSolution, exact_error, solve
from bayplan.solvers.program import LARGEST_SCALE, Program

MOST_ENTRIES = 1_000_000  # coefficients: with more, HiGHS does not get through its first linear program within a minute
SECONDS = 60.0  # if the budget has no seconds
FOR_BOUND, FOR_SEARCH = (
    0.2,
    0.5,
)  # of the time at most: for the linear bound, for a better schedule; the remainder is for the proof
NOTHING_PROVEN = math.inf


def ilp(problem: ScheduleProblem, options: ScheduleOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Schedule]:
    """The best schedule if there is enough time; else the best found, never below Cradle+'s, with a proven bound.

    The bound is that of the linear program, or that of HiGHS' search where it was solved without presolve (see `solve`).
    A program of more than `MOST_ENTRIES` coefficients is not solved: then this is Cradle+'s schedule, and `notes` say so.
    An iteration of the budget is a node of the search.
    """
    limit = SECONDS if budget.seconds is None else budget.seconds
    clock = replace(budget, seconds=limit).clock()
    incumbent = best_effort(problem, cradle_choice(problem))
    priced = priced_requests(problem)
    bound = float(priced.value.sum())
    if options.bound:
        part = Clock(budget=replace(budget, seconds=clock.seconds + FOR_BOUND * limit), started=clock.started)
        bound = upper_bound(problem, clock=part, progress=progress)
    if program_size(problem, priced) > MOST_ENTRIES:
        result = schedule_result(problem, incumbent, bound=bound if options.bound else None, seconds=clock.seconds)
        return replace(result, notes=(*result.notes, _too_large(program_size(problem, priced))))
    notes: tuple[str, ...] = ()
    if len(priced.value) and not gap_closed(_value(problem, incumbent), bound):
        incumbent, claimed = _searched(problem, priced, incumbent, clock, seed, progress)
        bound, notes = _least(bound, claimed, _value(problem, incumbent))
    schedule = best_effort(problem, incumbent)  # which also serves requests without value
    result = schedule_result(problem, schedule, bound=bound, seconds=clock.seconds)
    return replace(result, notes=(*result.notes, *notes))


def _searched(
    problem: ScheduleProblem,
    priced: PricedRequests,
    incumbent: IntArray,
    clock: Clock,
    seed: int,
    progress: Progress,
) -> tuple[IntArray, float]:
    """A better schedule, and what HiGHS claims as a bound: first with presolve, which is fast, then exactly, for a proof."""
    bound = NOTHING_PROVEN
    columns = assignment_columns(problem, priced)
    limit = clock.budget.seconds or 0.0
    for presolve, until in ((True, FOR_BOUND + FOR_SEARCH), (False, 1.0)):
        left = until * limit - clock.seconds
        if left <= 0.0:
            continue
        program = assignment_program(problem, priced, columns, incumbent)
        budget = clock.budget
        limits: dict[str, Any] = {"seconds": left, "threads": budget.threads, "nodes": budget.iterations}
        answer = solve(program, seed=seed, presolve=presolve, exact=not presolve, **limits)
        if answer.point is not None:
            better = _repaired(problem, schedule_of(problem, priced, columns, answer.point))
            incumbent = max(incumbent, better, key=lambda machine_of: _value(problem, machine_of))
        if not presolve:
            bound = _claimed(answer, priced, len(columns.candidate))
        progress(Tick(stage="searching", done=min(1.0, until), score=_value(problem, incumbent)))
    return incumbent, bound


def _claimed(solution: ProgramSolution, priced: PricedRequests, columns: int) -> float:
    """The bound of HiGHS, raised by its tolerances; if all values have a common unit, rounded down to a multiple of it.

    Every candidate can be served alone, so the best schedule is worth at least the largest value, as `exact_error` needs it.
    """
    if solution.bound is None:
        return NOTHING_PROVEN
    return rounded_down(-solution.bound * (1.0 + exact_error(columns)), priced.value)


def _least(bound: float, claimed: float, value: float) -> tuple[float, tuple[str, ...]]:
    """The lower of our own bound and that of HiGHS, which is not used, and a note says so, if a schedule is worth more."""
    if value > claimed and not gap_closed(value, claimed):
        return bound, (f"HiGHS claims a bound of {claimed!r}, but the schedule is worth {value!r}: its bound is not used",)
    return min(bound, claimed), ()


def _value(problem: ScheduleProblem, machine_of: IntArray) -> float:
    return float(problem.requests.value[machine_of != UNPLACED].sum())


def _repaired(problem: ScheduleProblem, machine_of: IntArray) -> IntArray:
    """The schedule without overloads from the rounding of HiGHS: the least valuable requests of a machine are removed."""
    machine_of = machine_of.copy()
    while violations := check_schedule(problem.requests, Schedule(machine_of=machine_of), problem.fleet):
        m = int(violations[0].subject[0])
        there = np.flatnonzero(machine_of == m)
        machine_of[there[np.argmin(problem.requests.value[there])]] = UNPLACED
    return machine_of


def _too_large(entries: int) -> str:
    return f"integer program: {entries:,} coefficients, more than {MOST_ENTRIES:,}: this is Cradle+'s schedule"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AssignmentColumns:
    """The variables x that exist."""

    candidate: IntArray  # (column,)
    machine: IntArray  # (column,)
    number: IntArray  # (candidate, machine) column, or -1


def assignment_columns(problem: ScheduleProblem, priced: PricedRequests) -> AssignmentColumns:
    """Pairs of candidate and machine, without symmetric ones."""
    number = np.full((len(priced.value), problem.fleet.size), -1, dtype=np.int64)
    kind_of = problem.fleet.kind_of
    for q in range(len(problem.fleet.kind)):
        machines = np.flatnonzero(kind_of == q)
        earlier = np.cumsum(priced.allowed[q]) - 1  # candidates that fit and start before
        exists = priced.allowed[q][:, None] & (np.arange(len(machines))[None, :] <= earlier[:, None])
        number[:, machines] = np.where(exists, 0, -1)
    candidate, machine = np.nonzero(number == 0)
    number[candidate, machine] = np.arange(len(candidate))
    return AssignmentColumns(candidate=candidate, machine=machine, number=number)


def program_size(problem: ScheduleProblem, priced: PricedRequests) -> int:
    """The approximate number of coefficients of the program."""
    length = priced.critical.past - priced.critical.first
    machines = problem.fleet.machines.astype(np.int64) @ priced.allowed.astype(np.int64)  # (candidate,)
    entries = int((length * machines).sum())
    return entries * int(problem.requests.demand.shape[1])


def assignment_program(problem: ScheduleProblem, priced: PricedRequests, columns: AssignmentColumns, start: IntArray) -> Program:
    """(I1) and (I2); `start` (request,) is the schedule to start from."""
    n, n_x = len(priced.value), len(columns.candidate)
    row, column, entry, most = [columns.candidate], [np.arange(n_x)], [np.ones(n_x)], [np.ones(n)]
    rows = n
    for machine, q in enumerate(problem.fleet.kind_of.tolist()):
        for r in range(problem.requests.demand.shape[1]):
            here, candidate, demand, limit = _knapsacks(problem, priced, q, r)
            exists = columns.number[candidate, machine] >= 0
            row.append(rows + here[exists])
            column.append(columns.number[candidate[exists], machine])
            entry.append(demand[exists])
            most.append(limit)
            rows += len(limit)
    return Program(
        cost=-priced.value[columns.candidate],
        lower=np.zeros(n_x),
        upper=np.ones(n_x),
        integral=np.ones(n_x, dtype=np.bool_),
        matrix=coo_array((np.concatenate(entry), (np.concatenate(row), np.concatenate(column))), shape=(rows, n_x)).tocsr(),
        row_lower=np.full(rows, -np.inf),
        row_upper=np.concatenate(most),
        start=_start(problem, priced, columns, start),
    )


def _knapsacks(
    problem: ScheduleProblem, priced: PricedRequests, q: int, r: int
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """(I2) of one machine: row, candidate and coefficient of each entry; limit of each row; in units that divide all demands."""
    demand = problem.requests.demand[priced.request, r]
    unit = max(1, int(np.gcd.reduce(demand, initial=0)))
    able = np.flatnonzero(priced.allowed[q] & (demand > 0))
    length = (priced.critical.past - priced.critical.first)[able]
    candidate = np.repeat(able, length)
    t = np.arange(len(candidate)) - np.repeat(np.cumsum(length) - length, length) + priced.critical.first[candidate]
    amount, capacity = demand // unit, int(problem.fleet.capacity[q, r]) // unit
    load = np.bincount(t, weights=amount[candidate].astype(np.float64), minlength=len(priced.critical.time))
    tight = np.flatnonzero(load > capacity)
    row = np.full(len(priced.critical.time), -1)
    row[tight] = np.arange(len(tight))
    kept = row[t] >= 0
    scale = min(float(amount.max(initial=1)), LARGEST_SCALE)
    return row[t[kept]], candidate[kept], amount[candidate[kept]] / scale, np.full(len(tight), capacity / scale)


def _start(problem: ScheduleProblem, priced: PricedRequests, columns: AssignmentColumns, start: IntArray) -> FloatArray:
    """(column,) the schedule, machines of a kind numbered by their first request."""
    point = np.zeros(len(columns.candidate))
    kind_of, before = problem.fleet.kind_of, np.concatenate([[0], np.cumsum(problem.fleet.machines)])
    renamed: dict[int, int] = {}
    used = [0] * len(problem.fleet.kind)
    for candidate, m in enumerate(start[priced.request].tolist()):
        if m == UNPLACED:
            continue
        if m not in renamed:
            q = int(kind_of[m])
            renamed[m] = int(before[q]) + used[q]
            used[q] += 1
        point[columns.number[candidate, renamed[m]]] = 1.0
    return point


def schedule_of(problem: ScheduleProblem, priced: PricedRequests, columns: AssignmentColumns, point: FloatArray) -> IntArray:
    """(request,) the machines of a solution of the program."""
    machine_of = np.full(len(problem.requests.name), UNPLACED, dtype=np.int64)
    served = np.flatnonzero(point > 0.5)
    machine_of[priced.request[columns.candidate[served]]] = columns.machine[served]
    return machine_of
