"""Good patterns of many kinds at once: a knapsack on a tangent, and the best pattern with each workload from its table.

d sqrt(S) lies below each of its tangents. So a pattern that keeps the linear constraint of a tangent keeps the true one, and is
worth at least what the linear value says. The knapsack that results has one row, and the same one for every bin; a table over the
capacity, with weights rounded up, solves it for all bins, and for all patterns with at least one container of a workload.
"""

import numpy as np

from bayplan.kernels.jit import kernel
from bayplan.kernels.pack.pricing import add, fits_one_more


@kernel
def make_tangent_table(sizes, d, value, priced, order, touch, cell_width, cells_out, best_out, last_out):
    """Fill the table of the tangent that touches at the variance `touch`.

    `cells_out` (workload,) in order, weights in cells, 0 where a workload is worth nothing here; `best_out` (cell + 1,) the most
    value; `last_out` (cell + 1,) a workload in order that it ends with, -1 if none.
    """
    slope = 0.5 * d / np.sqrt(touch)
    best_out[:] = 0.0
    last_out[:] = -1
    for n in range(len(order)):
        k = order[n]
        weight = sizes.mean[0, k] + slope * sizes.variance[0, k]
        worth = value[k] - (slope * sizes.variance[0, k] if priced else 0.0)
        cells = max(1.0, np.ceil(weight / cell_width))
        cells_out[n] = np.int64(cells) if worth > 0.0 and cells < len(best_out) else 0
        if cells_out[n] > 0:
            by = cells_out[n]
            for c in range(by, len(best_out)):
                if best_out[c - by] + worth > best_out[c]:
                    best_out[c] = best_out[c - by] + worth
                    last_out[c] = n


@kernel
def tangent_patterns(
    sizes, bins, deviates, value, priced, order, touch, cell_width, cells, last, every, used, free, pattern_out, worth_out
):
    """The best patterns of the table, filled up where the true constraints leave capacity; what they are worth.

    `every`: for each bin and workload in order one with at least one container of it; else one for each bin.
    `pattern_out` (bin, 1 or len(order), workload), `worth_out` (bin, 1 or len(order)); minus infinity where there is none.
    Scratch: `used` (2, chance), `free` (resource,).
    """
    for i in range(len(bins.free_mean)):
        start = bins.variance[i, 0]
        free_mean = bins.free_mean[i, 0] - 0.5 * deviates[0] * (np.sqrt(touch) + start / np.sqrt(touch))
        for f in range(len(order) if every else 1):
            worth_out[i, f] = -np.inf
            pattern = pattern_out[i, f]
            pattern[:] = 0
            for q in range(used.shape[1]):
                used[0, q], used[1, q] = 0.0, bins.variance[i, q]
            for r in range(len(free)):
                free[r] = bins.free[i, r]
            c = np.int64(min(len(last) - 1.0, np.floor(free_mean / cell_width)))
            if every:
                if not add_if_it_fits(sizes, bins, i, order[f], deviates, used, free, pattern):
                    continue
                c -= max(1, cells[f])
            while c > 0 and last[c] >= 0:
                add_if_it_fits(sizes, bins, i, order[last[c]], deviates, used, free, pattern)
                c -= cells[last[c]]
            worth_out[i, f] = fill_up(sizes, bins, i, deviates, value, priced, order, used, free, pattern)


@kernel
def add_if_it_fits(sizes, bins, i, k, deviates, used, free, pattern):
    """Add a container of workload k to the pattern of bin i; False if it does not fit."""
    if pattern[k] >= bins.max_count[i, k] or not fits_one_more(sizes, bins, i, k, deviates, used, free):
        return False
    add(sizes, k, 1, used, free)
    pattern[k] += 1
    return True


@kernel
def fill_up(sizes, bins, i, deviates, value, priced, order, used, free, pattern):
    """Add what fits and pays, workloads in order; what the pattern is worth then."""
    worth = 0.0
    for k in order:
        while True:
            more = np.sqrt(used[1, 0] + sizes.variance[0, k]) - np.sqrt(used[1, 0])
            if priced and value[k] <= deviates[0] * more:
                break
            if not add_if_it_fits(sizes, bins, i, k, deviates, used, free, pattern):
                break
        worth += value[k] * pattern[k]
    return worth - (deviates[0] * (np.sqrt(used[1, 0]) - np.sqrt(bins.variance[i, 0])) if priced else 0.0)
