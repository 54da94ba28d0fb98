"""Cradle: a schedule worth at least 1/12 of the best one, by local ratio (002 section IV)."""

import numpy as np

from bayplan.decide.schedule.answer import scheduled
from bayplan.decide.schedule.best_effort import best_effort
from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.decide.schedule.signature import ScheduleOptions
from bayplan.kernels.schedule.local_ratio import Class, push, unwind
from bayplan.kernels.schedule.rooms import tree_of
from bayplan.model import UNPLACED, BoolArray, Budget, FloatArray, IntArray, Progress, Result, Schedule


def cradle(
    problem: ScheduleProblem, options: ScheduleOptions, *, budget: Budget, seed: int, progress: Progress
) -> Result[Schedule]:
    """The best of one schedule of narrow requests and one of wide requests for each resource (002 Theorem IV.6).

    With R resources that are asked for, it is worth 1/6R of the best at least (1/12 for cpu and memory), on a fleet of several
    kinds of machines 1/(6R + 1): docs/verbs/schedule-theory.md. One pass of O(n log n): it draws no random numbers and ignores
    the budget. It gives no bound of its own.
    """
    clock = budget.clock()
    machine_of = cradle_choice(problem)
    return scheduled(problem, machine_of, seconds=clock.seconds)


def cradle_plus(
    problem: ScheduleProblem, options: ScheduleOptions, *, budget: Budget, seed: int, progress: Progress
) -> Result[Schedule]:
    """Cradle's schedule, and after that whatever of the others still fits (002 section V). Never worth less than Cradle's."""
    clock = budget.clock()
    machine_of = best_effort(problem, cradle_choice(problem))
    return scheduled(problem, machine_of, seconds=clock.seconds)


def cradle_choice(problem: ScheduleProblem, allowed: BoolArray | None = None) -> IntArray:
    """(request,) machine or `UNPLACED`. Kinds of machines take their turn; each chooses from what is not served yet.

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
    """The most valuable of the candidates; of equal ones the first: narrow, then wide by resource.

    With a machine for everybody each gets its own: 002 assumes that there are fewer machines than requests.
    """
    left = left & problem.fits(kind) & (problem.requests.value > 0)
    if np.count_nonzero(left) <= problem.fleet.machines[kind]:
        own = np.full(len(left), UNPLACED, dtype=np.int64)
        own[left] = np.arange(np.count_nonzero(left))
        return own
    return best_of_classes(problem, kind, classes(problem, kind, left))


def best_of_classes(problem: ScheduleProblem, kind: int, candidates: list[tuple[IntArray, bool]]) -> IntArray:
    """(request,) machine of this kind, from 0, or `UNPLACED`: the most valuable answer to a single class, the first of equals."""
    best, worth = np.full(len(problem.requests.name), UNPLACED, dtype=np.int64), 0.0
    for members, wide in candidates:
        found = local_ratio(problem, kind, members, wide=wide)
        value = float(problem.requests.value[members[found != UNPLACED]].sum())
        if value > worth:
            worth = value
            best[:] = UNPLACED
            best[members] = found
    return best


def classes(problem: ScheduleProblem, kind: int, left: BoolArray) -> list[tuple[IntArray, bool]]:
    """Narrow requests, and for each resource those that take more than half a machine of it; is it a wide class?

    A request may be wide twice.
    """
    demand, capacity = problem.requests.demand, problem.fleet.capacity[kind]
    over = demand > capacity - demand  # more than half, without overflow
    narrow = np.flatnonzero(left & ~over.any(axis=1))
    wide = [np.flatnonzero(left & over[:, r]) for r in range(demand.shape[1])]
    return [(members, is_wide) for members, is_wide in [(narrow, False), *((w, True) for w in wide)] if len(members)]


def local_ratio(problem: ScheduleProblem, kind: int, members: IntArray, *, wide: bool) -> IntArray:
    """(member,) machine of this kind, from 0, or `UNPLACED`: Algorithm 1 of 002 over one class of requests that fit."""
    machines = int(problem.fleet.machines[kind])
    order, of = class_of(problem, kind, members, wide=wide)
    capacity = np.ones(1, dtype=np.int64) if wide else np.array(problem.fleet.capacity[kind])
    most = np.empty((2 << (machines - 1).bit_length(), len(capacity)), dtype=np.int64)
    tree_of(capacity, machines, most)
    residual, scratch = np.empty(len(order)), np.empty((2, len(order) + 1))
    push(of, scratch[0], scratch[1], residual)
    machine = np.empty(len(order), dtype=np.int64)
    unwind(of, residual, most, machine)
    found = np.empty(len(order), dtype=np.int64)
    found[order] = machine
    return found


def class_of(problem: ScheduleProblem, kind: int, members: IntArray, *, wide: bool) -> tuple[IntArray, Class]:
    """Members by finish time, and what the kernels need of them.

    Wide requests that meet cannot share a machine: each takes the one place of a machine, and weights are those of 002 (3).
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
    return order, Class(start, end, requests.value[j], share, below, demand, ended, np.ascontiguousarray(latest))


def _shares(demand: IntArray, capacity: IntArray) -> FloatArray:
    """(request,) a_j + b_j + ...: what it asks for, in machines."""
    total: FloatArray = (demand / np.maximum(capacity, 1)).sum(axis=1)
    return total
