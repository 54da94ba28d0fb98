"""Containers placed one by one, the way kube-scheduler does: filter, score, pick.

Filters: capacity, allowed machines, anti-affinity limits. Score: NodeResourcesFit/LeastAllocated plus
NodeResourcesBalancedAllocation, weight 1 each, in kube-scheduler's integer arithmetic (0..100 each).
Large clusters are sampled as percentageOfNodesToScore = 0 does: the search for feasible machines starts where
the last one stopped and ends when enough are found.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

UNPLACED = -1
MAX_SCORE = 100
FEWEST_MACHINES = 100  # kube-scheduler's minFeasibleNodesToFind
FEWEST_PERCENT = 5  # its minFeasibleNodesPercentageToFind


class Filters(NamedTuple):
    """What besides capacity keeps a container off a machine."""

    allow_row: npt.NDArray[np.int64]  # (workload,) row of `allowed`
    allowed: npt.NDArray[np.bool_]  # (row, machine)
    set_start: npt.NDArray[np.int64]  # (workload + 1,) where a workload's anti-affinity sets start in `set_of`
    set_of: npt.NDArray[np.int64]  # (membership,) set
    limit: npt.NDArray[np.int64]  # (set,) most containers of the set on one machine


@njit(cache=True)
def machines_to_find(n_m: int) -> int:
    """How many feasible machines are enough: all below 100, else (50 - n / 125) %, at least 5 % and 100."""
    if n_m < FEWEST_MACHINES:
        return n_m
    percent = max(50 - n_m // 125, FEWEST_PERCENT)
    return max(n_m * percent // 100, FEWEST_MACHINES)


@njit(cache=True)
def least_allocated(m, need, used, capacity):  # type: ignore[no-untyped-def]
    """Mean free share of machine m with the container on it, 0..100; resources it lacks do not count."""
    total, counted = 0, 0
    for r in range(need.shape[0]):
        if capacity[m, r] > 0:
            total += (capacity[m, r] - used[m, r] - need[r]) * MAX_SCORE // capacity[m, r]
            counted += 1
    return total // counted if counted > 0 else 0


@njit(cache=True)
def balanced_allocation(m, need, used, capacity):  # type: ignore[no-untyped-def]
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


@njit(cache=True)
def has_room(m, need, used, capacity):  # type: ignore[no-untyped-def]
    """Does one more container fit into machine m?"""
    for r in range(need.shape[0]):
        if used[m, r] + need[r] > capacity[m, r]:
            return False
    return True


@njit(cache=True)
def keeps_limits(m, sets, limit, count):  # type: ignore[no-untyped-def]
    """May machine m take one more container of all these anti-affinity sets?"""
    for k in sets:
        if count[k, m] >= limit[k]:
            return False
    return True


@njit(cache=True, nogil=True)  # a progress bar in another thread goes on
def schedule(order, tie, workload_of, request, capacity, filters, machine_of_out):  # type: ignore[no-untyped-def]
    """A machine for every container of `order`, UNPLACED where none is feasible. O(C (M + R)).

    order (container,) in which they arrive; tie (container,) uniform in [0, 1): with n machines of the best
    score, in the order of the search, number floor(tie n) is taken.
    """
    allow_row, allowed, set_start, set_of, limit = filters  # reading a tuple in the inner loop costs more than the filter
    n_m = capacity.shape[0]
    enough = machines_to_find(n_m)
    used = np.zeros_like(capacity)
    count = np.zeros((limit.shape[0], n_m), dtype=np.int32)
    best = np.empty(n_m, dtype=np.int64)
    start = 0
    machine_of_out[:] = UNPLACED
    for c in order:
        w = workload_of[c]
        need, may, sets = request[w], allowed[allow_row[w]], set_of[set_start[w] : set_start[w + 1]]
        found, ties, best_score, seen = 0, 0, -1, 0
        while seen < n_m and found < enough:
            m = start + seen if start + seen < n_m else start + seen - n_m
            seen += 1
            if not (may[m] and has_room(m, need, used, capacity) and keeps_limits(m, sets, limit, count)):
                continue
            found += 1
            score = least_allocated(m, need, used, capacity) + balanced_allocation(m, need, used, capacity)
            if score > best_score:
                best_score, ties = score, 0
            if score == best_score:
                best[ties] = m
                ties += 1
        start = (start + seen) % n_m
        if ties > 0:
            m = best[int(tie[c] * ties)]
            machine_of_out[c] = m
            used[m] += need
            for k in sets:
                count[k, m] += 1


def warm_up() -> None:
    """Compile `schedule` by placing one container on one machine.

    Numba compiles once more for arrays that are read-only, as those of the model are: so are they here.
    """
    fixed, one, none = np.zeros(1, dtype=np.int64), np.ones((1, 1), dtype=np.int64), np.zeros(0, dtype=np.int64)
    start = np.zeros(2, dtype=np.int64)
    for array in (fixed, one, none, start):
        array.flags.writeable = False
    filters = Filters(np.zeros(1, dtype=np.int64), np.ones((1, 1), dtype=np.bool_), start, none, none)
    schedule(np.zeros(1, dtype=np.int64), np.zeros(1), fixed, one, one, filters, np.empty(1, dtype=np.int64))
