"""Patterns of the best value, exactly: which containers should share a machine, given what each is worth.

    max  value x - d sqrt(variance x + B)   (or value x alone)
    s.t. mean x + d sqrt(variance x + B) <= free mean, the other chance and capacity constraints, 0 <= x <= max_count, x integer

The variance S = variance x + B is cut into intervals. On each, d sqrt(S) lies above its chord, so that the problem relaxes to a
knapsack with linear weights and values; the same one for every group of machines, which differ in their free mean only. A table
of that knapsack over the last workloads, with weights rounded down, bounds what a partial pattern can still gain; a depth
first search over the workloads tries true patterns under that bound. Nothing is cut off that could be better.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import kernel
from bayplan.kernels.pack.fill import ROUNDING


class PatternSearch(NamedTuple):
    """Where a search stands, so that it can be continued."""

    at: npt.NDArray[np.int64]  # (4,) bin, depth (-1: at its end), 1 if it goes down, nodes of the bin so far
    sums: npt.NDArray[np.float64]  # (2,) linear value and weight of the partial pattern
    used: npt.NDArray[np.float64]  # (2, chance) its mean and variance, the latter with what runs there
    free: npt.NDArray[np.int64]  # (resource,)
    pattern: npt.NDArray[np.int64]  # (workload,) in order


class KnapsackTable(NamedTuple):
    """The knapsack of one interval."""

    low: float  # ends of the interval of the variance
    high: float
    bound: npt.NDArray[np.float64]  # (workload + 1, cell + 1) the most value of the workloads from there on
    weight: npt.NDArray[np.float64]  # (workload,) in order
    value: npt.NDArray[np.float64]  # (workload,) in order
    cell_width: float


@kernel
def chord_slope(table, d):
    """The slope of the chord of d sqrt(S) over the interval."""
    return d / (np.sqrt(table.high) + np.sqrt(table.low))


@kernel
def chord_at(table, d, start):
    """The chord at the variance `start`, which may lie outside."""
    return d * np.sqrt(table.low) + chord_slope(table, d) * (start - table.low)


@kernel
def can_pay(sizes, bins, d, value, priced, order, worth, table):
    """Could a pattern of the interval be worth more than `worth` (bin,) says, by the best value for its weight alone?"""
    slope, ratio = chord_slope(table, d), 0.0
    for n in range(len(order)):
        k = order[n]
        weight = sizes.mean[0, k] + slope * sizes.variance[0, k]
        gain = value[k] - (slope * sizes.variance[0, k] if priced else 0.0)
        if gain > 0.0:
            ratio = max(ratio, gain / max(weight, 1e-300))
    for i in range(len(bins.free_mean)):
        start = bins.variance[i, 0]
        if table.high < start:
            continue
        chord = chord_at(table, d, start)
        free_mean = bins.free_mean[i, 0] - chord
        constant = d * np.sqrt(start) - chord if priced else 0.0
        if free_mean >= -ROUNDING and constant + ratio * (free_mean + 1e-6) > worth[i]:
            return True
    return False


@kernel
def make_table(sizes, d, value, priced, order, table):
    """Fill the table, for a deviate d. `priced`: does the uncertainty itself cost?"""
    n_k, n_c = len(order), table.bound.shape[1]
    slope, bound = chord_slope(table, d), table.bound
    bound[n_k, :] = 0.0
    for n in range(n_k - 1, -1, -1):
        k = order[n]
        weight = sizes.mean[0, k] + slope * sizes.variance[0, k]
        worth = value[k] - (slope * sizes.variance[0, k] if priced else 0.0)
        table.weight[n], table.value[n] = weight, worth
        cells = np.int64(weight / table.cell_width)
        if worth <= 0.0:
            for c in range(n_c):
                bound[n, c] = bound[n + 1, c]
        elif cells == 0:  # so small that the table cannot tell: as many as fit, at its true weight
            for c in range(n_c):
                bound[n, c] = bound[n + 1, c] + worth * (c + 1) * table.cell_width / max(weight, 1e-300)
        else:
            for c in range(n_c):
                best = bound[n + 1, c]
                if c >= cells and bound[n, c - cells] + worth > best:
                    best = bound[n, c - cells] + worth
                bound[n, c] = best


@kernel
def fits_one_more(sizes, bins, i, k, deviates, used, free):
    """Does one more container of workload k fit? `used` (2, chance): mean and variance of the pattern, with what runs there."""
    for r in range(sizes.request.shape[0]):
        if sizes.request[r, k] > free[r]:
            return False
    for q in range(sizes.mean.shape[0]):
        d = max(bins.d[i, q], deviates[q])
        mean = used[0, q] + sizes.mean[q, k]
        total = mean + d * np.sqrt(used[1, q] + sizes.variance[q, k])
        if total > bins.free_mean[i, q] + ROUNDING * (abs(bins.free_mean[i, q]) + total):
            return False
    return True


@kernel
def add(sizes, k, by, used, free):
    """Add containers of workload k to the pattern."""
    for q in range(sizes.mean.shape[0]):
        used[0, q] += by * sizes.mean[q, k]
        used[1, q] += by * sizes.variance[q, k]
    for r in range(sizes.request.shape[0]):
        free[r] -= by * sizes.request[r, k]


@kernel
def true_value(deviate, value, priced, order, count, start, used):
    """What a pattern is worth."""
    worth = 0.0
    for n in range(len(order)):
        worth += value[order[n]] * count[n]
    return worth - (deviate * (np.sqrt(used[1, 0]) - np.sqrt(start)) if priced else 0.0)


@kernel
def survivors(sizes, bins, d, priced, order, worth, table, keep_out):
    """Which workloads in order may be in a pattern of the interval worth more than `worth` (bin,) says, by the table; how many.

    A pattern with a workload is worth that workload and, at most, what the whole table gives for the rest of the capacity.
    """
    n_c, kept = table.bound.shape[1], 0
    keep_out[: len(order)] = False
    for i in range(len(bins.free_mean)):
        start = bins.variance[i, 0]
        chord = chord_at(table, d, start)
        free_mean = bins.free_mean[i, 0] - chord
        if table.high < start or free_mean < -ROUNDING:
            continue
        constant = d * np.sqrt(start) - chord if priced else 0.0
        slack = ROUNDING * (abs(bins.free_mean[i, 0]) + 1.0) * 4.0
        if constant + table.bound[0, cell_of(table, free_mean + slack)] <= worth[i]:
            continue
        for n in range(len(order)):
            if keep_out[n] or bins.max_count[i, order[n]] == 0:
                continue
            rest = free_mean - table.weight[n] + slack
            cell = cell_of(table, rest)
            if rest > -table.cell_width and constant + table.value[n] + table.bound[0, min(cell, n_c - 1)] > worth[i]:
                keep_out[n] = True
                kept += 1
    return kept


@kernel
def cell_of(table, free_mean):
    """The cell that bounds what fits into so much."""
    return min(table.bound.shape[1] - 1, np.int64(max(0.0, free_mean) / table.cell_width) + 1)


@kernel
def begin_search(bins, i, table, deviate, priced, state):
    """Set the state to the empty pattern of bin i."""
    start = bins.variance[i, 0]
    state.at[1], state.at[2], state.at[3] = 0, 1, 0
    state.sums[0] = deviate * np.sqrt(start) - chord_at(table, deviate, start) if priced else 0.0
    state.sums[1] = 0.0
    for q in range(state.used.shape[1]):
        state.used[0, q], state.used[1, q] = 0.0, bins.variance[i, q]
    for r in range(len(state.free)):
        state.free[r] = bins.free[i, r]
    state.pattern[:] = 0


@kernel
def search_bin(sizes, bins, i, deviates, value, priced, order, table, best, nodes, state, pattern_out):
    """Continue the search of bin i for `nodes` nodes at most: the worth of the best true pattern so far, nodes left, ended?"""
    n_k, deviate = len(order), deviates[0]
    high, start, used, free, count = table.high, bins.variance[i, 0], state.used, state.free, state.pattern
    free_mean = bins.free_mean[i, 0] - chord_at(table, deviate, start)
    slack = ROUNDING * (abs(bins.free_mean[i, 0]) + 1.0) * 4.0
    last_cell = table.bound.shape[1] - 1
    n, down, worth, weight = state.at[1], state.at[2] == 1, state.sums[0], state.sums[1]
    while n >= 0 and nodes > 0:
        nodes -= 1
        state.at[3] += 1
        if n == n_k:
            now = true_value(deviate, value, priced, order, count, start, used)
            if now > best:
                best = now
                for j in range(n_k):
                    pattern_out[order[j]] = count[j]
            n, down = n - 1, False
            continue
        k = order[n]
        if down:  # as many as fit, at first
            while count[n] < bins.max_count[i, k] and used[1, 0] + sizes.variance[0, k] <= high * (1.0 + ROUNDING):
                if not fits_one_more(sizes, bins, i, k, deviates, used, free):
                    break
                add(sizes, k, 1, used, free)
                count[n] += 1
                worth += table.value[n]
                weight += table.weight[n]
        elif count[n] > 0:  # then one less
            add(sizes, k, -1, used, free)
            count[n] -= 1
            worth -= table.value[n]
            weight -= table.weight[n]
        else:
            n, down = n - 1, False
            continue
        cell = min(last_cell, np.int64((free_mean - weight + slack) / table.cell_width) + 1)
        if cell < 0 or worth + table.bound[n + 1, cell] <= best:
            down = False
        else:
            n, down = n + 1, True
    state.at[1], state.at[2], state.sums[0], state.sums[1] = n, 1 if down else 0, worth, weight
    return best, nodes, n < 0


@kernel
def best_patterns(
    sizes, bins, deviates, value, priced, order, table, nodes, limit, worth, state, pattern_out, worth_out, cut_out
):
    """For every bin, the pattern of the interval worth most if that is more than `worth` (bin,) says. True at the end.

    It returns False after `nodes` nodes, and continues from `state` when it is called again; begin with `state.at` at zero.
    `deviates` (chance,) are the deviates that count: only workloads with no larger one may be in `order`.
    `limit`: the most nodes for one bin; `cut_out` (bin,): did it need more? `worth_out` (bin,) begins as a copy of `worth`.
    """
    deviate = deviates[0]
    while state.at[0] < len(bins.free_mean):
        i = state.at[0]
        if state.at[1] < 0 or state.at[3] == 0:  # a new bin
            start = bins.variance[i, 0]
            free_mean = bins.free_mean[i, 0] - chord_at(table, deviate, start)
            constant = deviate * np.sqrt(start) - chord_at(table, deviate, start) if priced else 0.0
            hopeless = table.high < start or free_mean < -ROUNDING
            if hopeless or constant + table.bound[0, cell_of(table, free_mean)] <= worth[i]:
                state.at[0] += 1
                continue
            begin_search(bins, i, table, deviate, priced, state)
        most = min(nodes, limit - state.at[3])
        best, left, ended = search_bin(
            sizes, bins, i, deviates, value, priced, order, table, worth_out[i], most, state, pattern_out[i]
        )
        nodes -= most - left
        worth_out[i] = best
        if ended or state.at[3] >= limit:
            cut_out[i] = not ended
            state.at[0] += 1
            state.at[1], state.at[3] = -1, 0
        if nodes <= 0 and state.at[0] < len(bins.free_mean):
            return False
    return True
