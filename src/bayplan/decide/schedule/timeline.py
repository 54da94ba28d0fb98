"""Profiles of a problem's machines over time, ready for the kernels."""

import numpy as np

from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.kernels.schedule.profile import NONE, Profile, put_all
from bayplan.model import FloatArray, IntArray

CHANGES = 4  # of one machine in one cell, if all machines are as busy
MOST_CELLS, FEWEST_CELLS = 1024, 4
MEMORY = 1 << 24  # (machine, cell) pairs at most


def cells_for(requests: int, machines: int) -> int:
    """How many cells the time is cut into."""
    busy = 2 * requests // (max(1, machines) * CHANGES)
    return max(FEWEST_CELLS, min(MOST_CELLS, busy, MEMORY // max(1, machines)))


def profile_of(problem: ScheduleProblem, machine_of: IntArray | None = None, cells: int | None = None) -> Profile:
    """Machines that run what `machine_of` says, or nothing. The kernels `fits`, `put` and `take` work on it.

    O(n log n) for the ranks; `cells` is about speed only.
    """
    requests, fleet = problem.requests, problem.fleet
    first, last, ranks = ranked(requests.start, requests.end)
    n, k = len(requests.name), fleet.size
    wanted = cells_for(n, k) if cells is None else cells
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
        put_all(profile, np.array(machine_of))
    return profile


def ranked(start: FloatArray, end: FloatArray) -> tuple[IntArray, IntArray, int]:
    """Ranks of starts and ends among all distinct times, and how many times there are."""
    n = len(start)
    time = np.concatenate([start, end])
    order = np.argsort(time, kind="stable")
    told = time[order]
    fresh = np.concatenate([np.zeros(min(1, len(told)), dtype=np.int64), np.cumsum(told[1:] != told[:-1])])
    rank = np.empty(2 * n, dtype=np.int64)
    rank[order] = fresh
    return rank[:n].copy(), rank[n:].copy(), int(fresh[-1]) + 1 if n else 0
