"""Cradle: schedules worth at least 1/12 of the best by local ratio, 1/9 with a dynamic program ([Cradle] §IV)."""

from dataclasses import replace

import numpy as np

from bayplan.decide.schedule.best_effort import best_effort
from bayplan.decide.schedule.options import ScheduleOptions
from bayplan.decide.schedule.priced_requests import wide_requests
from bayplan.decide.schedule.problem import ScheduleProblem, schedule_result
from bayplan.decide.schedule.wide_dynamic_program import best_wide_schedule
from bayplan.kernels.schedule.free_tree import build_tree
from bayplan.kernels.schedule.local_ratio import RequestClass, push, unwind
from bayplan.model import UNPLACED, BoolArray, Budget, FloatArray, IntArray, Progress, Result, Schedule

DYNAMIC_SHARE = 0.7  # of the seconds for the dynamic program, if a bound is wanted: it proves none for all requests
STOPPED = (
    "dynamic program: stopped before its end: the best schedule of wide requests is not proven, only Cradle's own guarantee holds"
)


def cradle(
    problem: ScheduleProblem, options: ScheduleOptions, *, budget: Budget, seed: int, progress: Progress
) -> Result[Schedule]:
    """The best of one schedule of narrow requests and one of wide requests for each resource ([Cradle] Theorem IV.6).

    With R resources that are requested, it is worth at least 1/6R of the best (1/12 for cpu and memory), on a fleet of several
    kinds of machines 1/(6R + 1): docs/verbs/schedule-theory.md. One pass of O(n log n), without random numbers, whatever
    the budget. It gives no bound of its own.
    """
    clock = budget.clock()
    machine_of = cradle_choice(problem)
    return schedule_result(problem, machine_of, seconds=clock.seconds)


def cradle_plus(
    problem: ScheduleProblem, options: ScheduleOptions, *, budget: Budget, seed: int, progress: Progress
) -> Result[Schedule]:
    """Cradle's schedule, and then best effort for all other requests ([Cradle] §V). Never worth less than Cradle's."""
    clock = budget.clock()
    machine_of = best_effort(problem, cradle_choice(problem))
    return schedule_result(problem, machine_of, seconds=clock.seconds)


def cradle_choice(problem: ScheduleProblem, allowed: BoolArray | None = None) -> IntArray:
    """(request,) machine or `UNPLACED`. Kinds of machines take turns; each chooses among the requests not served yet.

    `allowed`: requests to choose from; None: all.
    """
    machine_of = np.full(len(problem.requests.name), UNPLACED, dtype=np.int64)
    before = 0
    for kind, machines in enumerate(problem.fleet.machines.tolist()):
        if machines:
            left = machine_of == UNPLACED if allowed is None else (machine_of == UNPLACED) & allowed
            chosen = _of_one_kind(problem, kind, left)
            machine_of[chosen != UNPLACED] = before + chosen[chosen != UNPLACED]
        before += machines
    return machine_of


def _of_one_kind(problem: ScheduleProblem, kind: int, left: BoolArray) -> IntArray:
    """The most valuable schedule of one class; of equal ones the first: narrow, then wide by resource.

    If there is a machine for every request, each gets its own: [Cradle] assumes fewer machines than requests.
    """
    left = left & problem.fits(kind) & (problem.requests.value > 0)
    if np.count_nonzero(left) <= problem.fleet.machines[kind]:
        own = np.full(len(left), UNPLACED, dtype=np.int64)
        own[left] = np.arange(np.count_nonzero(left))
        return own
    return best_of_classes(problem, kind, classes(problem, kind, left))


def best_of_classes(problem: ScheduleProblem, kind: int, candidates: list[tuple[IntArray, bool]]) -> IntArray:
    """(request,) machine of this kind, from 0, or `UNPLACED`: the most valuable schedule of one class, the first of equals."""
    best, worth = np.full(len(problem.requests.name), UNPLACED, dtype=np.int64), 0.0
    for members, wide in candidates:
        machine = local_ratio(problem, kind, members, wide=wide)
        value = float(problem.requests.value[members[machine != UNPLACED]].sum())
        if value > worth:
            worth = value
            best[:] = UNPLACED
            best[members] = machine
    return best


def classes(problem: ScheduleProblem, kind: int, left: BoolArray) -> list[tuple[IntArray, bool]]:
    """The narrow requests, and for each resource those that take more than half of it; and whether the class is wide.

    A request may be in several wide classes. Empty classes are left out.
    """
    over = wide_requests(problem, kind)
    narrow = np.flatnonzero(left & ~over.any(axis=1))
    wide = [np.flatnonzero(left & over[:, r]) for r in range(over.shape[1])]
    return [(members, is_wide) for members, is_wide in [(narrow, False), *((w, True) for w in wide)] if len(members)]


def local_ratio(problem: ScheduleProblem, kind: int, members: IntArray, *, wide: bool) -> IntArray:
    """(member,) machine of this kind, from 0, or `UNPLACED`: [Cradle] Algorithm 1 over one class of requests that fit."""
    machines = int(problem.fleet.machines[kind])
    order, of = class_of(problem, kind, members, wide=wide)
    capacity = np.ones(1, dtype=np.int64) if wide else np.array(problem.fleet.capacity[kind])
    most = np.empty((2 << (machines - 1).bit_length(), len(capacity)), dtype=np.int64)
    build_tree(capacity, machines, most)
    residual, scratch = np.empty(len(order)), np.empty((2, len(order) + 1))
    push(of, scratch[0], scratch[1], residual)
    machine = np.empty(len(order), dtype=np.int64)
    unwind(of, residual, most, machine)
    machine_of = np.empty(len(order), dtype=np.int64)
    machine_of[order] = machine
    return machine_of


def class_of(problem: ScheduleProblem, kind: int, members: IntArray, *, wide: bool) -> tuple[IntArray, RequestClass]:
    """Members by finish time, and their arrays for the kernels.

    Wide requests that overlap cannot share a machine: each takes all of one, with the weights of [Cradle] (3).
    """
    requests, machines = problem.requests, int(problem.fleet.machines[kind])
    order = np.argsort(requests.end[members], kind="stable")
    j = members[order]
    start, end = requests.start[j], requests.end[j]
    if wide:
        demand, share, below = np.ones((len(j), 1), dtype=np.int64), np.ones(len(j)), np.full(len(j), float(machines))
    else:
        demand = requests.demand[j]
        share = _shares(demand, problem.fleet.capacity[kind])
        below = float(machines * max(1, int(demand.any(axis=0).sum()))) - share
    latest = np.argsort(start, kind="stable")[::-1]
    ended = np.empty(len(j), dtype=np.int64)
    ended[latest] = np.searchsorted(end, start[latest], side="right")
    return order, RequestClass(start, end, requests.value[j], share, below, demand, ended, np.ascontiguousarray(latest))


def _shares(demand: IntArray, capacity: IntArray) -> FloatArray:
    """(request,) a_j + b_j + ...: its demand in machines."""
    total: FloatArray = (demand / np.maximum(capacity, 1)).sum(axis=1)
    return total


def cradle_dp(
    problem: ScheduleProblem, options: ScheduleOptions, *, budget: Budget, seed: int, progress: Progress
) -> Result[Schedule]:
    """The better of the best schedule of wide requests and Cradle's of narrow requests ([Cradle] Theorem IV.8).

    Never worse than Cradle's. With R resources it is worth at least 1/(4R + 1) of the best (1/9 for cpu and memory), on
    machines of several kinds 1/(4R + 2): docs/verbs/schedule-theory.md. For few machines: if there are too many states for the
    budget, `notes` say so, and the schedule of wide requests is at least Cradle's. An iteration is a pass of the dynamic program.
    """
    own = replace(budget, seconds=DYNAMIC_SHARE * budget.seconds) if options.bound and budget.seconds is not None else budget
    clock = own.clock()
    wide = best_wide_schedule(problem, clock=clock, begin=_kind_by_kind(problem, wide=True))
    # Cradle's own choice is the best if there is a machine for every request
    schedules = (wide.machine_of, _kind_by_kind(problem, wide=False), cradle_choice(problem))
    best = max(schedules, key=lambda machine_of: float(problem.requests.value[machine_of != UNPLACED].sum()))
    result = schedule_result(problem, best, seconds=clock.seconds)
    return result if wide.proven else replace(result, notes=(*result.notes, STOPPED))


def _kind_by_kind(problem: ScheduleProblem, *, wide: bool) -> IntArray:
    """(request,) Cradle's choice among pairs of request and kind that are wide, or that are not; kinds take turns."""
    machine_of = np.full(len(problem.requests.name), UNPLACED, dtype=np.int64)
    before = 0
    for kind, machines in enumerate(problem.fleet.machines.tolist()):
        if machines:
            candidates = classes(problem, kind, (machine_of == UNPLACED) & problem.fits(kind))
            chosen = best_of_classes(problem, kind, [(members, is_wide) for members, is_wide in candidates if is_wide == wide])
            machine_of[chosen != UNPLACED] = before + chosen[chosen != UNPLACED]
        before += machines
    return machine_of
