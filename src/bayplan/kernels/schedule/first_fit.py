"""Best effort: requests in a given order, each to the lowest-index machine that it fits on during its whole interval.

A tree over the machines (a heap, as in `free_tree`) keeps for each node and each window of 2^l cells the largest, over the
machines below, of what is least free in that window. An interval contains two such windows that cover all its whole cells. If
one of them is too short for the demand at a node, the request fits on no machine below. What passes down to a machine is checked
exactly.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import kernel
from bayplan.kernels.schedule.free_tree import NO_MACHINE
from bayplan.kernels.schedule.profile import fits_at_borders, put


class WindowTree(NamedTuple):
    """The tree. A window that begins at cell g has 2^level cells; its resources are side by side, at g * resources."""

    resources: int
    log2: npt.NDArray[np.int64]  # (cells + 1,) rounded down
    max_free: npt.NDArray[np.int64]  # (node, level, cell and resource)


@kernel
def copy_cells(windows, profile, m, low, high):
    """Set the windows of one cell of machine m."""
    i = windows.max_free.shape[0] // 2 + m
    for g in range(low, high):
        for r in range(windows.resources):
            windows.max_free[i, 0, g * windows.resources + r] = profile.least[m, g, r]


@kernel
def narrow_windows(windows, i, low, high):
    """Set the windows of machine node i that meet the cells [low, high), from its cells."""
    max_free, n_r = windows.max_free, windows.resources
    cells = max_free.shape[2] // n_r
    for level in range(1, max_free.shape[1]):
        half = 1 << (level - 1)
        for x in range(max(0, low - 2 * half + 1) * n_r, min(high, cells - 2 * half + 1) * n_r):
            max_free[i, level, x] = min(max_free[i, level - 1, x], max_free[i, level - 1, x + half * n_r])


@kernel
def raise_windows(windows, i, low, high):
    """Set the windows of node i that meet the cells [low, high), from its two children. Did one change?"""
    max_free, n_r, changed = windows.max_free, windows.resources, 0
    cells = max_free.shape[2] // n_r
    for level in range(max_free.shape[1]):
        size = 1 << level
        for x in range(max(0, low - size + 1) * n_r, min(high, cells - size + 1) * n_r):
            value = max(max_free[2 * i, level, x], max_free[2 * i + 1, level, x])
            changed |= value ^ max_free[i, level, x]
            max_free[i, level, x] = value
    return changed != 0


@kernel
def fill_windows(windows, profile):
    """Fill the whole tree from the profiles."""
    leaves, cells = windows.max_free.shape[0] // 2, profile.least.shape[1]
    for m in range(profile.least.shape[0]):
        copy_cells(windows, profile, m, 0, cells)
        narrow_windows(windows, leaves + m, 0, cells)
    for i in range(leaves - 1, 0, -1):
        raise_windows(windows, i, 0, cells)


@kernel
def refresh(windows, profile, m, j):
    """Update the tree after request j was put on machine m."""
    low, high = profile.first[j] // profile.width, (profile.last[j] - 1) // profile.width + 1
    i = windows.max_free.shape[0] // 2 + m
    copy_cells(windows, profile, m, low, high)
    narrow_windows(windows, i, low, high)
    i >>= 1
    while i and raise_windows(windows, i, low, high):
        i >>= 1


@kernel
def may_fit(windows, i, j, profile, low, high):
    """May request j fit on a machine below node i in the whole cells [low, high)?"""
    if low >= high:
        return True
    level = windows.log2[high - low]
    last = high - (1 << level)
    for r in range(profile.demand.shape[1]):
        need = profile.demand[j, r]
        if (
            windows.max_free[i, level, low * windows.resources + r] < need
            or windows.max_free[i, level, last * windows.resources + r] < need
        ):
            return False
    return True


@kernel
def first_fit(windows, profile, j):
    """The lowest-index machine that request j fits on during its whole interval, or NO_MACHINE."""
    machines, leaves, width = profile.least.shape[0], windows.max_free.shape[0] // 2, profile.width
    low, high = -(-profile.first[j] // width), profile.last[j] // width  # whole cells
    i = 1
    while True:
        if may_fit(windows, i, j, profile, low, high):
            if i < leaves:
                i = 2 * i
                continue
            if i - leaves >= machines:
                return NO_MACHINE
            if fits_at_borders(profile, i - leaves, j):  # its whole cells are in the two windows
                return i - leaves
        while i & 1:  # a right child, or the root: go up
            if i == 1:
                return NO_MACHINE
            i >>= 1
        i += 1


@kernel
def fill_up(windows, profile, order, machine_out):
    """Place the requests in this order that have no machine, each where it fits first."""
    for j in order:
        if machine_out[j] != NO_MACHINE:
            continue
        m = first_fit(windows, profile, j)
        if m != NO_MACHINE:
            machine_out[j] = m
            put(profile, m, j)
            refresh(windows, profile, m, j)
