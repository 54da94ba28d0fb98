"""Profiles of a problem's machines over time, ready for the kernels."""

import numpy as np

from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.kernels.schedule.profile import NONE, Profile, put_all
from bayplan.model import FloatArray, IntArray

CHANGES = 8  # of one machine in one cell, if all machines are as busy
SHORT, CELLS_OF_SHORT = 0.25, 4  # a quarter of the requests is shorter than so many cells
FEWEST_CELLS, MOST_CELLS = 4, 1024
MOST_PAIRS = 1 << 19  # of a machine and a cell


def cells_for(length: IntArray, machines: int) -> int:
    """How many cells the time is cut into, for requests of these lengths in ranks: about speed only.

    More cells cost more when a request is put, and less when one is refused.
    """
    n = len(length)
    short = max(1, int(np.partition(length, int(SHORT * n))[int(SHORT * n)])) if n else 1
    busy, fine = 2 * n // (max(1, machines) * CHANGES), CELLS_OF_SHORT * 2 * n // short
    return max(FEWEST_CELLS, min(max(busy, fine), MOST_CELLS, MOST_PAIRS // max(1, machines)))


def profile_of(problem: ScheduleProblem, machine_of: IntArray | None = None, cells: int | None = None) -> Profile:
    """Machines that run what `machine_of` says, or nothing. The kernels `fits`, `put` and `take` work on it.

    O(n log n) for the ranks; `cells` is about speed only.
    """
    requests, fleet = problem.requests, problem.fleet
    first, last, by_time = ranked(requests.start, requests.end)
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


def ranked(start: FloatArray, end: FloatArray) -> tuple[IntArray, IntArray, IntArray]:
    """Ranks of starts and of ends among all distinct times; all of them as nodes 2j and 2j + 1 by time, ends first."""
    n = len(start)
    time = np.concatenate([end, start])
    order = np.argsort(time, kind="stable")
    told = time[order]
    rank = np.empty(2 * n, dtype=np.int64)
    rank[order] = np.concatenate([[0], np.cumsum(told[1:] != told[:-1])])[: 2 * n]
    return rank[n:].copy(), rank[:n].copy(), np.where(order < n, 2 * order + 1, 2 * (order - n))
