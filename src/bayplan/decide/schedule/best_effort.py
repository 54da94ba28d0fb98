"""Best effort: what a schedule leaves out, put wherever it still fits (002 section V)."""

import numpy as np

from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.decide.schedule.timeline import profile_of
from bayplan.kernels.schedule.first_fit import Windows, fill_up, fill_windows
from bayplan.kernels.schedule.profile import Profile
from bayplan.model import UNPLACED, IntArray


def best_effort(problem: ScheduleProblem, machine_of: IntArray, order: IntArray | None = None) -> IntArray:
    """(request,) machine or `UNPLACED`: the schedule given, and each other request on the lowest-index machine it fits on.

    `order`: of the requests to try; None: by weight, the largest first, then by demand times duration, the smallest first, then
    as given. Requests without value come last, and take only room that nobody else could use.
    """
    chosen = np.array(machine_of, dtype=np.int64)
    waiting = best_effort_order(problem, chosen) if order is None else np.array(order, dtype=np.int64)
    if len(waiting) and problem.fleet.size:
        profile = profile_of(problem, chosen)
        fill_up(windows_of(profile), profile, waiting, chosen)
    return chosen


def best_effort_order(problem: ScheduleProblem, machine_of: IntArray) -> IntArray:
    """Requests that have no machine and would fit on one, in the order of 002's best effort.

    Demand: the sum over resources of its share of all machines together.
    """
    requests = problem.requests
    j = np.flatnonzero((machine_of == UNPLACED) & problem.possible)
    total = (problem.fleet.machines[:, None] * problem.fleet.capacity.astype(np.float64)).sum(axis=0)
    area = (requests.demand[j] / np.maximum(total, 1.0)).sum(axis=1) * (requests.end[j] - requests.start[j])
    waiting: IntArray = j[np.lexsort((area, -requests.value[j]))]
    return waiting


def windows_of(profile: Profile) -> Windows:
    """The tree over the machines, filled."""
    machines, cells, resources = profile.least.shape
    levels = cells.bit_length()  # windows of 1, 2, ... cells
    log2 = np.array([max(0, length.bit_length() - 1) for length in range(cells + 1)], dtype=np.int64)
    most = np.full((2 << (machines - 1).bit_length(), levels, cells * resources), -1, dtype=np.int64)
    windows = Windows(resources=resources, log2=log2, most=most)
    fill_windows(windows, profile)
    return windows
