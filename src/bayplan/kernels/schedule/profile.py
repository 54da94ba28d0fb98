"""What every machine has free over time: does a request fit, putting it there, removing it.

Times are ranks among all starts and ends; rank t stands for the half-open piece from the t-th to the next time. Ranks are
grouped into cells of equal width. A machine keeps, per cell, what is free at its beginning and the least that is free in it,
and the changes inside the cell as a linked list. Node 2j is the start of request j, node 2j + 1 its end, so nothing is
allocated. Whole cells are looked up; only the two cells at the borders of an interval are walked.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import kernel

NONE = -1


class Profile(NamedTuple):
    """Machines over time. `put` and `remove` keep it consistent; all else only reads."""

    width: int  # ranks in a cell
    first: npt.NDArray[np.int64]  # (request,) rank of its start
    last: npt.NDArray[np.int64]  # (request,) rank of its end
    demand: npt.NDArray[np.int64]  # (request, resource)
    base: npt.NDArray[np.int64]  # (machine, cell, resource) free at the cell's beginning
    least: npt.NDArray[np.int64]  # (machine, cell, resource) the least that is free in the cell
    head: npt.NDArray[np.int32]  # (machine, cell) first change after the cell's beginning, or NONE
    follow: npt.NDArray[np.int32]  # (2 * request,) the next change in the same cell, or NONE


@kernel
def rank_of(profile, node):
    """When this change happens."""
    return profile.last[node >> 1] if node & 1 else profile.first[node >> 1]


@kernel
def change_of(profile, node, r):
    """What becomes free at this change."""
    amount = profile.demand[node >> 1, r]
    return amount if node & 1 else -amount


@kernel
def fits_in_cell(profile, m, g, j, start, end):
    """Does request j fit on machine m at the ranks of cell g that are in [start, end)?"""
    for r in range(profile.demand.shape[1]):
        need = profile.demand[j, r]
        if profile.least[m, g, r] >= need:
            continue
        free, node = profile.base[m, g, r], profile.head[m, g]
        while node != NONE and rank_of(profile, node) <= start:
            free += change_of(profile, node, r)
            node = profile.follow[node]
        if free < need:
            return False
        while node != NONE and rank_of(profile, node) < end:
            free += change_of(profile, node, r)
            if free < need:
                return False
            node = profile.follow[node]
    return True


@kernel
def fits_at_borders(profile, m, j):
    """Does request j fit on machine m in the cells of its first and its last rank?"""
    start, end = profile.first[j], profile.last[j]
    low, high = start // profile.width, (end - 1) // profile.width
    return fits_in_cell(profile, m, low, j, start, end) and (high == low or fits_in_cell(profile, m, high, j, start, end))


@kernel
def fits(profile, m, j):
    """Does request j fit on machine m during its whole interval? Cells, plus the changes in two of them."""
    start, end, width = profile.first[j], profile.last[j], profile.width
    low, high = start // width, (end - 1) // width
    for g in range(low + 1, high):
        for r in range(profile.demand.shape[1]):
            if profile.least[m, g, r] < profile.demand[j, r]:
                return False
    return fits_at_borders(profile, m, j)


@kernel
def link(profile, m, node):
    """Insert a change; at one rank what ends comes before what starts, so that no sum in between is too low."""
    t = rank_of(profile, node)
    g = t // profile.width
    if t == g * profile.width:  # `base` has it
        return
    until = t if node & 1 else t + 1
    before, after = NONE, profile.head[m, g]
    while after != NONE and rank_of(profile, after) < until:
        before, after = after, profile.follow[after]
    profile.follow[node] = after
    if before == NONE:
        profile.head[m, g] = node
    else:
        profile.follow[before] = node


@kernel
def unlink(profile, m, node):
    """Remove a change."""
    t = rank_of(profile, node)
    g = t // profile.width
    if t == g * profile.width:
        return
    if profile.head[m, g] == node:
        profile.head[m, g] = profile.follow[node]
        return
    before = profile.head[m, g]
    while profile.follow[before] != node:
        before = profile.follow[before]
    profile.follow[before] = profile.follow[node]


@kernel
def find_least(profile, m, g, r):
    """Set the least that is free in a cell by walking its changes."""
    free, node = profile.base[m, g, r], profile.head[m, g]
    least = free
    while node != NONE:
        free += change_of(profile, node, r)
        least = min(least, free)
        node = profile.follow[node]
    profile.least[m, g, r] = least


@kernel
def add_demand(profile, m, j, sign):
    """Add `sign` times the demand of j to what is free during its interval; its changes are in the lists already, or gone."""
    start, end, width = profile.first[j], profile.last[j], profile.width
    for g in range(start // width, (end - 1) // width + 1):
        for r in range(profile.demand.shape[1]):
            amount = sign * profile.demand[j, r]
            if g * width >= start:
                profile.base[m, g, r] += amount
            if g * width >= start and (g + 1) * width <= end:
                profile.least[m, g, r] += amount
            else:
                find_least(profile, m, g, r)


@kernel
def put(profile, m, j):
    """Run request j on machine m from now on, without a check that it fits."""
    link(profile, m, 2 * j)
    link(profile, m, 2 * j + 1)
    add_demand(profile, m, j, -1)


@kernel
def remove(profile, m, j):
    """Stop running request j on machine m."""
    unlink(profile, m, 2 * j)
    unlink(profile, m, 2 * j + 1)
    add_demand(profile, m, j, 1)


@kernel
def put_all(profile, by_time, machine_of):
    """Run every request that has a machine there; before, nothing ran. O(n), where putting one by one walks the lists.

    `by_time`: all nodes, by rank, ends before starts.
    """
    cells, width = profile.base.shape[1], profile.width
    for x in range(len(by_time) - 1, -1, -1):
        node = by_time[x]
        m = machine_of[node >> 1]
        if m < 0:
            continue
        t = rank_of(profile, node)
        g = t // width
        if t != g * width:
            profile.follow[node] = profile.head[m, g]
            profile.head[m, g] = node
            g += 1
        if g < cells:  # from here on cells begin with it
            for r in range(profile.demand.shape[1]):
                profile.base[m, g, r] += change_of(profile, node, r)
    sum_up(profile)


@kernel
def sum_up(profile):
    """Set `base` from its changes from cell to cell, and `least` from `base` and the lists."""
    for m in range(profile.base.shape[0]):
        for r in range(profile.demand.shape[1]):
            capacity = profile.least[m, 0, r]
            free = capacity
            for g in range(profile.base.shape[1]):
                free += profile.base[m, g, r] - capacity
                profile.base[m, g, r] = free
                find_least(profile, m, g, r)
