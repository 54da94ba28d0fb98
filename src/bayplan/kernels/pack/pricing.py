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

__all__ = ["Bins", "Sizes", "Tables", "best_patterns", "make_tables", "mark_used"]


class Tables(NamedTuple):
    """The knapsacks of all intervals."""

    edge: npt.NDArray[np.float64]  # (interval + 1,) of the variance
    bound: npt.NDArray[np.float64]  # (interval, service + 1, cell + 1) most value of the services from there on
    weight: npt.NDArray[np.float64]  # (interval, service) in order
    value: npt.NDArray[np.float64]  # (interval, service) in order
    used: npt.NDArray[np.bool_]  # (interval,) is there a table? The others cannot hold anything better
    cell: float  # width of a cell


@njit(cache=True)
def chord_slope(edge, e, d):
    """Of d sqrt(S) between two edges."""
    return d / (np.sqrt(edge[e + 1]) + np.sqrt(edge[e]))


@njit(cache=True)
def chord_at(edge, e, d, start):
    """The chord of interval e at the variance `start`, which may lie outside."""
    return d * np.sqrt(edge[e]) + chord_slope(edge, e, d) * (start - edge[e])


@njit(cache=True)
def mark_used(sizes, bins, d, value, priced, order, worth, tables):
    """Which intervals could hold a pattern worth more than `worth` (bin,) says, by the best value for its weight alone?"""
    for e in range(len(tables.edge) - 1):
        slope, ratio, small = chord_slope(tables.edge, e, d), 0.0, 0.0
        for n in range(len(order)):
            k = order[n]
            weight = sizes.mean[0, k] + slope * sizes.variance[0, k]
            gain = value[k] - (slope * sizes.variance[0, k] if priced else 0.0)
            if gain > 0.0:
                ratio = max(ratio, gain / max(weight, 1e-300))
                small = max(small, gain)
        tables.used[e] = False
        for i in range(len(bins.room)):
            start = bins.variance[i, 0]
            if tables.edge[e + 1] < start:
                continue
            chord = chord_at(tables.edge, e, d, start)
            room = bins.room[i, 0] - chord
            if room < -ROUNDING:
                continue
            constant = d * np.sqrt(start) - chord if priced else 0.0
            if constant + ratio * (room + 1e-6) > worth[i]:
                tables.used[e] = True
                break


@njit(cache=True)
def make_tables(sizes, d, value, priced, order, tables):
    """Fill the tables, for a deviate d. `priced`: does the uncertainty itself cost?"""
    n_k, n_c = len(order), tables.bound.shape[2]
    for e in range(len(tables.edge) - 1):
        if not tables.used[e]:
            continue
        slope = chord_slope(tables.edge, e, d)
        bound = tables.bound[e]
        bound[n_k, :] = 0.0
        for n in range(n_k - 1, -1, -1):
            k = order[n]
            weight = sizes.mean[0, k] + slope * sizes.variance[0, k]
            worth = value[k] - (slope * sizes.variance[0, k] if priced else 0.0)
            tables.weight[e, n], tables.value[e, n] = weight, worth
            cells = np.int64(weight / tables.cell)
            if worth <= 0.0:
                bound[n, :] = bound[n + 1, :]
            elif cells == 0:  # so small that the table cannot tell: as many as there is room for, at its true weight
                for c in range(n_c):
                    bound[n, c] = bound[n + 1, c] + worth * (c + 1) * tables.cell / max(weight, 1e-300)
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
def search_interval(sizes, bins, i, levels, value, priced, order, tables, e, best, limit, count, pattern_out):
    """The best true pattern of bin i in interval e if it is worth more than `best`; its worth, and how many nodes were seen."""
    n_k, n_q, level = len(order), sizes.mean.shape[0], levels[0]
    high, start = tables.edge[e + 1], bins.variance[i, 0]
    chord = chord_at(tables.edge, e, level, start)
    room = bins.room[i, 0] - chord
    constant = level * np.sqrt(start) - chord if priced else 0.0
    slack = ROUNDING * (abs(bins.room[i, 0]) + 1.0) * 4.0
    last_cell = tables.bound.shape[2] - 1
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
                worth += tables.value[e, n]
                weight += tables.weight[e, n]
        elif count[n] > 0:  # then one less
            add(sizes, k, -1, used, spare)
            count[n] -= 1
            worth -= tables.value[e, n]
            weight -= tables.weight[e, n]
        else:
            n, down = n - 1, False
            continue
        cell = min(last_cell, np.int64((room - weight + slack) / tables.cell) + 1)
        if cell < 0 or worth + tables.bound[e, n + 1, cell] <= best:
            down = False
        else:
            n, down = n + 1, True
    return best, nodes


@njit(cache=True)
def best_patterns(sizes, bins, levels, value, priced, order, tables, limit, each, worth, pattern_out, worth_out, nodes_out):
    """For every bin and interval, the pattern worth most if that is more than `worth` (bin,) says.

    Not `each`: and if it is worth more than those of the intervals before.

    `levels` (chance,) are the deviates that count: only services that ask for no more may be in `order`. `nodes_out` (bin,): nodes
    seen, -1 if a search was cut off after `limit`.
    """
    level = levels[0]
    count = np.zeros(len(order), dtype=np.int64)
    last_cell = tables.bound.shape[2] - 1
    for i in range(len(bins.room)):
        start, least = bins.variance[i, 0], worth[i]
        nodes_out[i] = 0
        for e in range(len(tables.edge) - 1):
            worth_out[i, e] = worth[i]
            if not tables.used[e] or tables.edge[e + 1] < start:
                continue
            chord = chord_at(tables.edge, e, level, start)
            room = bins.room[i, 0] - chord
            if room < -ROUNDING:
                continue
            constant = level * np.sqrt(start) - chord if priced else 0.0
            cell = min(last_cell, np.int64(max(0.0, room) / tables.cell) + 1)
            if constant + tables.bound[e, 0, cell] <= least:
                continue
            best, nodes = search_interval(
                sizes, bins, i, levels, value, priced, order, tables, e, least, limit, count, pattern_out[i, e]
            )
            if best > least:
                worth_out[i, e] = best
                least = least if each else best
            nodes_out[i] = -1 if nodes > limit or nodes_out[i] < 0 else nodes_out[i] + nodes
