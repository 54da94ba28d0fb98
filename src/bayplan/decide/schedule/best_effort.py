"""Best effort: unplaced requests go wherever they still fit ([Cradle] §V); and the machine profiles over time that it needs."""

import numpy as np

from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.kernels.schedule.first_fit import WindowTree, fill_up, fill_windows
from bayplan.kernels.schedule.profile import NONE, Profile, put_all
from bayplan.model import UNPLACED, FloatArray, IntArray

CHANGES_PER_CELL = 8  # starts and ends of one machine in one cell, if all machines are equally busy
SHORT, CELLS_OF_SHORT = 0.25, 4  # a quarter of the requests is shorter than this many cells
FEWEST_CELLS, MOST_CELLS = 4, 1024
MOST_PAIRS = 1 << 19  # of machine and cell


def best_effort(problem: ScheduleProblem, machine_of: IntArray, order: IntArray | None = None) -> IntArray:
    """(request,) machine or `UNPLACED`: the given schedule, and every other request on the first machine that it fits on.

    `order`: of the requests to try; None: by value, the largest first, then by demand times duration, the smallest first, then
    as given. Requests without value come last, and take only capacity that no other request can use.
    """
    chosen = np.array(machine_of, dtype=np.int64)
    unplaced = best_effort_order(problem, chosen) if order is None else np.array(order, dtype=np.int64)
    if len(unplaced) and problem.fleet.size:
        profile = profile_of(problem, chosen)
        fill_up(windows_of(profile), profile, unplaced, chosen)
    return chosen


def best_effort_order(problem: ScheduleProblem, machine_of: IntArray) -> IntArray:
    """Unplaced requests that fit on some machine, in the order of [Cradle]'s best effort.

    Demand: the sum over resources of the share of all machines together.
    """
    requests = problem.requests
    j = np.flatnonzero((machine_of == UNPLACED) & problem.possible)
    total = (problem.fleet.machines[:, None] * problem.fleet.capacity.astype(np.float64)).sum(axis=0)
    area = (requests.demand[j] / np.maximum(total, 1.0)).sum(axis=1) * (requests.end[j] - requests.start[j])
    unplaced: IntArray = j[np.lexsort((area, -requests.value[j]))]
    return unplaced


def windows_of(profile: Profile) -> WindowTree:
    """The search tree over the machines: the least that is free in windows of 1, 2, 4 ... cells."""
    machines, cells, resources = profile.least.shape
    levels = cells.bit_length()  # windows of 1, 2, 4 ... cells
    log2 = np.array([max(0, length.bit_length() - 1) for length in range(cells + 1)], dtype=np.int64)
    most = np.full((2 << (machines - 1).bit_length(), levels, cells * resources), -1, dtype=np.int64)
    windows = WindowTree(resources=resources, log2=log2, max_free=most)
    fill_windows(windows, profile)
    return windows


def cells_for(length: IntArray, machines: int) -> int:
    """The number of cells that time is divided into, for requests of these lengths in ranks; it affects speed only.

    More cells make it slower to add a request, and faster to refuse one.
    """
    n = len(length)
    short = max(1, int(np.partition(length, int(SHORT * n))[int(SHORT * n)])) if n else 1
    busy, fine = 2 * n // (max(1, machines) * CHANGES_PER_CELL), CELLS_OF_SHORT * 2 * n // short
    return max(FEWEST_CELLS, min(max(busy, fine), MOST_CELLS, MOST_PAIRS // max(1, machines)))


def profile_of(problem: ScheduleProblem, machine_of: IntArray | None = None, cells: int | None = None) -> Profile:
    """What is free on each machine over time under the schedule `machine_of`, or if nothing runs; for the kernels.

    O(n log n) for the ranks; `cells` affects speed only.
    """
    requests, fleet = problem.requests, problem.fleet
    first, last, by_time = time_ranks(requests.start, requests.end)
    n, k = len(requests.name), fleet.size
    ranks = int(last.max(initial=-1)) + 1
    wanted = cells_for(last - first, k) if cells is None else cells
    width = max(1, -(-ranks // wanted))
    n_cells = max(1, -(-ranks // width))
    base = np.repeat(fleet.capacity[fleet.kind_of][:, None, :], n_cells, axis=1)
    profile = Profile(
        width=width,
        first=first,
        last=last,
        demand=np.array(requests.demand),
        base=base,
        least=base.copy(),
        head=np.full((k, n_cells), NONE, dtype=np.int32),
        follow=np.full(2 * n, NONE, dtype=np.int32),
    )
    if machine_of is not None:
        put_all(profile, by_time, np.array(machine_of))
    return profile


def time_ranks(start: FloatArray, end: FloatArray) -> tuple[IntArray, IntArray, IntArray]:
    """Ranks of starts and of ends among all distinct times; and all starts 2j and ends 2j + 1 by time, ends first."""
    n = len(start)
    time = np.concatenate([end, start])
    order = np.argsort(time, kind="stable")
    ordered = time[order]
    rank = np.empty(2 * n, dtype=np.int64)
    rank[order] = np.concatenate([[0], np.cumsum(ordered[1:] != ordered[:-1])])[: 2 * n]
    return rank[n:].copy(), rank[:n].copy(), np.where(order < n, 2 * order + 1, 2 * (order - n))
