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

from bayplan.kernels.jit import allocating_kernel
from bayplan.kernels.pack.fill import ROUNDING


class KnapsackTable(NamedTuple):
    """The knapsack of one interval."""

    low: float  # ends of the interval of the variance
    high: float
    bound: npt.NDArray[np.float64]  # (workload + 1, cell + 1) the most value of the workloads from there on
    weight: npt.NDArray[np.float64]  # (workload,) in order
    value: npt.NDArray[np.float64]  # (workload,) in order
    cell_width: float


@allocating_kernel
def chord_slope(table, d):
    """The slope of the chord of d sqrt(S) over the interval."""
    return d / (np.sqrt(table.high) + np.sqrt(table.low))


@allocating_kernel
def chord_at(table, d, start):
    """The chord at the variance `start`, which may lie outside."""
    return d * np.sqrt(table.low) + chord_slope(table, d) * (start - table.low)


@allocating_kernel
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


@allocating_kernel
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
            bound[n, :] = bound[n + 1, :]
        elif cells == 0:  # so small that the table cannot tell: as many as fit, at its true weight
            for c in range(n_c):
                bound[n, c] = bound[n + 1, c] + worth * (c + 1) * table.cell_width / max(weight, 1e-300)
        else:
            for c in range(n_c):
                best = bound[n + 1, c]
                if c >= cells and bound[n, c - cells] + worth > best:
                    best = bound[n, c - cells] + worth
                bound[n, c] = best


@allocating_kernel
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


@allocating_kernel
def add(sizes, k, by, used, free):
    """Add containers of workload k to the pattern."""
    for q in range(sizes.mean.shape[0]):
        used[0, q] += by * sizes.mean[q, k]
        used[1, q] += by * sizes.variance[q, k]
    for r in range(sizes.request.shape[0]):
        free[r] -= by * sizes.request[r, k]


@allocating_kernel
def true_value(deviate, value, priced, order, count, start, used):
    """What a pattern is worth."""
    worth = 0.0
    for n in range(len(order)):
        worth += value[order[n]] * count[n]
    return worth - (deviate * (np.sqrt(used[1, 0]) - np.sqrt(start)) if priced else 0.0)


@allocating_kernel
def search_bin(sizes, bins, i, deviates, value, priced, order, table, best, limit, count, pattern_out):
    """The best true pattern of bin i if it is worth more than `best`; its worth, and the number of nodes seen."""
    n_k, n_q, deviate = len(order), sizes.mean.shape[0], deviates[0]
    high, start = table.high, bins.variance[i, 0]
    chord = chord_at(table, deviate, start)
    free_mean = bins.free_mean[i, 0] - chord
    constant = deviate * np.sqrt(start) - chord if priced else 0.0
    slack = ROUNDING * (abs(bins.free_mean[i, 0]) + 1.0) * 4.0
    last_cell = table.bound.shape[1] - 1
    used, free = np.zeros((2, n_q)), bins.free[i].copy()
    used[1, :] = bins.variance[i]
    count[:] = 0
    worth, weight, n, nodes, down = constant, 0.0, 0, 0, True
    while n >= 0:
        nodes += 1
        if nodes > limit:
            break
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
    return best, nodes


@allocating_kernel
def best_patterns(sizes, bins, deviates, value, priced, order, table, limit, worth, pattern_out, worth_out, nodes_out):
    """For every bin, the pattern of the interval worth most if that is more than `worth` (bin,) says.

    `deviates` (chance,) are the deviates that count: only workloads with no larger one may be in `order`.
    `nodes_out` (bin,): nodes seen, -1 if the search was cut off after `limit`.
    """
    count, deviate = np.zeros(len(order), dtype=np.int64), deviates[0]
    last_cell = table.bound.shape[1] - 1
    for i in range(len(bins.free_mean)):
        start = bins.variance[i, 0]
        nodes_out[i], worth_out[i] = 0, worth[i]
        chord = chord_at(table, deviate, start)
        free_mean = bins.free_mean[i, 0] - chord
        if table.high < start or free_mean < -ROUNDING:
            continue
        constant = deviate * np.sqrt(start) - chord if priced else 0.0
        cell = min(last_cell, np.int64(max(0.0, free_mean) / table.cell_width) + 1)
        if constant + table.bound[0, cell] > worth[i]:
            best, nodes = search_bin(
                sizes, bins, i, deviates, value, priced, order, table, worth[i], limit, count, pattern_out[i]
            )
            worth_out[i], nodes_out[i] = best, -1 if nodes > limit else nodes
