"""Containers placed one by one, the way kube-scheduler does, over the first machines that fit: filter, score, pick.

Filters: capacity, allowed machines, anti-affinity limits. Score: NodeResourcesFit/LeastAllocated plus
NodeResourcesBalancedAllocation, weight 1 each, in kube-scheduler's integer arithmetic (0..100 each).
kube-scheduler, too, stops the search when enough feasible machines are found, but starts it where the last one
stopped. Here it always starts at the first machine: [RASA] §V-A combines first fit with filter and score.

Nothing leaves while containers are placed. So a machine that is too full for a request stays too full, and a score
stays right until its machine takes a container. Both are kept per kind of request: the scan is then O(window).
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import allocating_kernel

UNPLACED = -1
MAX_SCORE = 100
STALE = -1  # a score that must be computed again


class Jobs(NamedTuple):
    """The containers, and what they request."""

    workload_of: npt.NDArray[np.int64]  # (container,)
    kind_of: npt.NDArray[np.int64]  # (workload,) row of `request`
    request: npt.NDArray[np.int64]  # (kind, resource) each different


class Filters(NamedTuple):
    """What besides capacity keeps a container off a machine."""

    allow_row: npt.NDArray[np.int64]  # (workload,) row of `allowed`
    allowed: npt.NDArray[np.bool_]  # (row, machine)
    set_start: npt.NDArray[np.int64]  # (workload + 1,) where a workload's anti-affinity sets start in `set_of`
    set_of: npt.NDArray[np.int64]  # (membership,) set
    limit: npt.NDArray[np.int64]  # (set,) containers of the set on one machine, at most


class SchedulerState(NamedTuple):
    """What has been placed, and what is known of the machines."""

    machine_of: npt.NDArray[np.int64]  # (container,) or UNPLACED
    used: npt.NDArray[np.int64]  # (machine, resource)
    of_set: npt.NDArray[np.int32]  # (set, machine) containers of the set
    after: npt.NDArray[np.int32]  # (kind, machine + 1) next machine that may fit; the last column is the first of them
    score: npt.NDArray[np.int16]  # (kind, machine) with one more container, or STALE


def nothing_placed(jobs: Jobs, filters: Filters, capacity: npt.NDArray[np.int64]) -> SchedulerState:
    """The state before the first container."""
    n_m, n_q = len(capacity), len(jobs.request)
    after = np.r_[1 : n_m + 1, 0].astype(np.int32)
    return SchedulerState(
        machine_of=np.full(len(jobs.workload_of), UNPLACED, dtype=np.int64),
        used=np.zeros(capacity.shape, dtype=np.int64),
        of_set=np.zeros((len(filters.limit), n_m), dtype=np.int32),
        after=np.tile(after, (n_q, 1)),
        score=np.full((n_q, n_m), STALE, dtype=np.int16),
    )


@allocating_kernel
def least_allocated(m, need, used, capacity):
    """Mean free share of machine m with the container on it, 0..100; resources it lacks do not count."""
    total, counted = 0, 0
    for r in range(need.shape[0]):
        if capacity[m, r] > 0:
            total += (capacity[m, r] - used[m, r] - need[r]) * MAX_SCORE // capacity[m, r]
            counted += 1
    return total // counted if counted > 0 else 0


@allocating_kernel
def balanced_allocation(m, need, used, capacity):
    """100 (1 - standard deviation of the used shares of machine m with the container on it)."""
    mean, counted = 0.0, 0
    for r in range(need.shape[0]):
        if capacity[m, r] > 0:
            mean += (used[m, r] + need[r]) / capacity[m, r]
            counted += 1
    if counted == 0:
        return MAX_SCORE
    mean /= counted
    square = 0.0
    for r in range(need.shape[0]):
        if capacity[m, r] > 0:
            square += ((used[m, r] + need[r]) / capacity[m, r] - mean) ** 2
    return int((1.0 - np.sqrt(square / counted)) * MAX_SCORE)


@allocating_kernel
def fits(m, need, used, capacity):
    """Does one more container fit on machine m?"""
    for r in range(need.shape[0]):
        if used[m, r] + need[r] > capacity[m, r]:
            return False
    return True


@allocating_kernel
def keeps_limits(m, sets, limit, of_set):
    """May machine m take one more container of all these anti-affinity sets?"""
    for k in sets:
        if of_set[k, m] >= limit[k]:
            return False
    return True


@allocating_kernel
def schedule(order, tie, jobs, capacity, filters, window, state_out):
    """A machine for every container of `order`, the best of the first `window` feasible ones; UNPLACED where none is.

    order: containers as they arrive; `state_out` goes on from those before. tie (container,) uniform in [0, 1): with
    n machines of the best score, in their order, number floor(tie n) is taken.
    """
    workload_of, kind_of, request = jobs  # reading a tuple in the inner loop costs more than the filter
    allow_row, allowed, set_start, set_of, limit = filters
    machine_of, used, of_set, after, score = state_out
    n_m = capacity.shape[0]
    best = np.empty(window, dtype=np.int64)
    for c in order:
        w = workload_of[c]
        q, may, sets = kind_of[w], allowed[allow_row[w]], set_of[set_start[w] : set_start[w + 1]]
        need = request[q]
        feasible, ties, best_score = 0, 0, -1
        before, m = n_m, after[q, n_m]
        while m < n_m and feasible < window:
            if score[q, m] == STALE:
                if not fits(m, need, used, capacity):
                    m = after[q, m]
                    after[q, before] = m  # never tried again for this kind
                    continue
                score[q, m] = least_allocated(m, need, used, capacity) + balanced_allocation(m, need, used, capacity)
            if may[m] and keeps_limits(m, sets, limit, of_set):
                feasible += 1
                if score[q, m] > best_score:
                    best_score, ties = score[q, m], 0
                if score[q, m] == best_score:
                    best[ties] = m
                    ties += 1
            before, m = m, after[q, m]
        machine_of[c] = UNPLACED
        if ties > 0:
            m = best[int(tie[c] * ties)]
            machine_of[c] = m
            used[m] += need
            score[:, m] = STALE
            for k in sets:
                of_set[k, m] += 1


def warm_up() -> None:
    """Place one container on one machine, with the types that generators use."""
    fixed, one, none = np.zeros(1, dtype=np.int64), np.ones((1, 1), dtype=np.int64), np.zeros(0, dtype=np.int64)
    start, anywhere = np.zeros(2, dtype=np.int64), np.ones((1, 1), dtype=np.bool_)
    jobs, filters = Jobs(fixed, fixed, one), Filters(fixed, anywhere, start, none, none)
    schedule(np.zeros(1, dtype=np.int64), np.zeros(1), jobs, one, filters, 1, nothing_placed(jobs, filters, one))
