"""Patterns of the best value, exactly: which containers should share a machine, given what each of them is worth?

    max  value x - d sqrt(variance x + B)   (or value x alone)
    s.t. mean x + d sqrt(variance x + B) <= room, the other chance and capacity constraints, 0 <= x <= most, x whole

The variance S = variance x + B is cut into intervals. On each, d sqrt(S) lies above its chord, so that the problem relaxes to a
knapsack with linear weights and values; the same one for every group of machines, which differ in their room only. A table of
that knapsack over the last services, with weights rounded down, bounds what a partial pattern can still gain; a depth
first search over the services tries true patterns under that bound. Nothing is cut off that could be better.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from bayplan.kernels.pack.fill import ROUNDING, Bins, Sizes

__all__ = ["Bins", "Sizes", "Table", "best_patterns", "make_table", "may_pay"]


class Table(NamedTuple):
    """The knapsack of one interval."""

    low: float  # ends of the interval of the variance
    high: float
    bound: npt.NDArray[np.float64]  # (service + 1, cell + 1) most value of the services from there on
    weight: npt.NDArray[np.float64]  # (service,) in order
    value: npt.NDArray[np.float64]  # (service,) in order
    cell: float  # width of a cell


@njit(cache=True)
def chord_slope(table, d):
    """Of d sqrt(S) over the interval."""
    return d / (np.sqrt(table.high) + np.sqrt(table.low))


@njit(cache=True)
def chord_at(table, d, start):
    """The chord at the variance `start`, which may lie outside."""
    return d * np.sqrt(table.low) + chord_slope(table, d) * (start - table.low)


@njit(cache=True)
def may_pay(sizes, bins, d, value, priced, order, worth, table):
    """Could a pattern of the interval be worth more than `worth` (bin,) says, by the best value for its weight alone?"""
    slope, ratio = chord_slope(table, d), 0.0
    for n in range(len(order)):
        k = order[n]
        weight = sizes.mean[0, k] + slope * sizes.variance[0, k]
        gain = value[k] - (slope * sizes.variance[0, k] if priced else 0.0)
        if gain > 0.0:
            ratio = max(ratio, gain / max(weight, 1e-300))
    for i in range(len(bins.room)):
        start = bins.variance[i, 0]
        if table.high < start:
            continue
        chord = chord_at(table, d, start)
        room = bins.room[i, 0] - chord
        constant = d * np.sqrt(start) - chord if priced else 0.0
        if room >= -ROUNDING and constant + ratio * (room + 1e-6) > worth[i]:
            return True
    return False


@njit(cache=True)
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
        cells = np.int64(weight / table.cell)
        if worth <= 0.0:
            bound[n, :] = bound[n + 1, :]
        elif cells == 0:  # so small that the table cannot tell: as many as there is room for, at its true weight
            for c in range(n_c):
                bound[n, c] = bound[n + 1, c] + worth * (c + 1) * table.cell / max(weight, 1e-300)
        else:
            for c in range(n_c):
                best = bound[n + 1, c]
                if c >= cells and bound[n, c - cells] + worth > best:
                    best = bound[n, c - cells] + worth
                bound[n, c] = best


@njit(cache=True)
def fits_more(sizes, bins, i, k, levels, used, spare):
    """May one more container of service k come? `used` is (2, chance): mean and variance of the pattern, with what runs there."""
    for r in range(sizes.request.shape[0]):
        if sizes.request[r, k] > spare[r]:
            return False
    for q in range(sizes.mean.shape[0]):
        d = max(bins.d[i, q], levels[q])
        mean = used[0, q] + sizes.mean[q, k]
        total = mean + d * np.sqrt(used[1, q] + sizes.variance[q, k])
        if total > bins.room[i, q] + ROUNDING * (abs(bins.room[i, q]) + total):
            return False
    return True


@njit(cache=True)
def add(sizes, k, by, used, spare):
    """Add containers of service k to the pattern."""
    for q in range(sizes.mean.shape[0]):
        used[0, q] += by * sizes.mean[q, k]
        used[1, q] += by * sizes.variance[q, k]
    for r in range(sizes.request.shape[0]):
        spare[r] -= by * sizes.request[r, k]


@njit(cache=True)
def true_value(level, value, priced, order, count, start, used):
    """What a pattern is worth."""
    worth = 0.0
    for n in range(len(order)):
        worth += value[order[n]] * count[n]
    return worth - (level * (np.sqrt(used[1, 0]) - np.sqrt(start)) if priced else 0.0)


@njit(cache=True)
def search_bin(sizes, bins, i, levels, value, priced, order, table, best, limit, count, pattern_out):
    """The best true pattern of bin i if it is worth more than `best`; its worth, and how many nodes were seen."""
    n_k, n_q, level = len(order), sizes.mean.shape[0], levels[0]
    high, start = table.high, bins.variance[i, 0]
    chord = chord_at(table, level, start)
    room = bins.room[i, 0] - chord
    constant = level * np.sqrt(start) - chord if priced else 0.0
    slack = ROUNDING * (abs(bins.room[i, 0]) + 1.0) * 4.0
    last_cell = table.bound.shape[1] - 1
    used, spare = np.zeros((2, n_q)), bins.free[i].copy()
    used[1, :] = bins.variance[i]
    count[:] = 0
    worth, weight, n, nodes, down = constant, 0.0, 0, 0, True
    while n >= 0:
        nodes += 1
        if nodes > limit:
            break
        if n == n_k:
            now = true_value(level, value, priced, order, count, start, used)
            if now > best:
                best = now
                for j in range(n_k):
                    pattern_out[order[j]] = count[j]
            n, down = n - 1, False
            continue
        k = order[n]
        if down:  # as many as fit, at first
            while count[n] < bins.most[i, k] and used[1, 0] + sizes.variance[0, k] <= high * (1.0 + ROUNDING):
                if not fits_more(sizes, bins, i, k, levels, used, spare):
                    break
                add(sizes, k, 1, used, spare)
                count[n] += 1
                worth += table.value[n]
                weight += table.weight[n]
        elif count[n] > 0:  # then one less
            add(sizes, k, -1, used, spare)
            count[n] -= 1
            worth -= table.value[n]
            weight -= table.weight[n]
        else:
            n, down = n - 1, False
            continue
        cell = min(last_cell, np.int64((room - weight + slack) / table.cell) + 1)
        if cell < 0 or worth + table.bound[n + 1, cell] <= best:
            down = False
        else:
            n, down = n + 1, True
    return best, nodes


@njit(cache=True)
def best_patterns(sizes, bins, levels, value, priced, order, table, limit, worth, pattern_out, worth_out, nodes_out):
    """For every bin, the pattern of the interval worth most if that is more than `worth` (bin,) says.

    `levels` (chance,) are the deviates that count: only services that ask for no more may be in `order`.
    `nodes_out` (bin,): nodes seen, -1 if the search was cut off after `limit`.
    """
    count, level = np.zeros(len(order), dtype=np.int64), levels[0]
    last_cell = table.bound.shape[1] - 1
    for i in range(len(bins.room)):
        start = bins.variance[i, 0]
        nodes_out[i], worth_out[i] = 0, worth[i]
        chord = chord_at(table, level, start)
        room = bins.room[i, 0] - chord
        if table.high < start or room < -ROUNDING:
            continue
        constant = level * np.sqrt(start) - chord if priced else 0.0
        cell = min(last_cell, np.int64(max(0.0, room) / table.cell) + 1)
        if constant + table.bound[0, cell] > worth[i]:
            best, nodes = search_bin(sizes, bins, i, levels, value, priced, order, table, worth[i], limit, count, pattern_out[i])
            worth_out[i], nodes_out[i] = best, -1 if nodes > limit else nodes
