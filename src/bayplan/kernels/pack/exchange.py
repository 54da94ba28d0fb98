"""Patterns made better by exchange: up to two containers leave, up to two come, while that pays.

At the duals of the master every pattern of its solution has a reduced cost of zero, so that one exchange that pays is a pattern
that pays. Constraints are the true ones, without any rounding.
"""

import numpy as np

from bayplan.kernels.jit import kernel
from bayplan.kernels.pack.fill import ROUNDING
from bayplan.kernels.pack.pricing import add

SLACK = 1e-12  # less is rounding


@kernel
def exchange(sizes, bins, bin_of, deviates, value, priced, order, deep, used, free, change, pattern, worth_out):
    """Improve each pattern (row, workload) of the bins `bin_of` (row,) in place; what it is worth then.

    The best of all exchanges is made, again and again: one leaves or none, one or two come; two leave, one comes; `deep`: two and
    two as well. Ties: the first in order. Scratch: `used` (2, chance), `free` (resource,), `change` (4,).
    """
    for row in range(len(pattern)):
        i, count = bin_of[row], pattern[row]
        for c in range(used.shape[1]):
            used[0, c], used[1, c] = 0.0, bins.variance[i, c]
        for r in range(len(free)):
            free[r] = bins.free[i, r]
        for k in range(len(value)):
            add(sizes, k, count[k], used, free)
        while best_exchange(sizes, bins, i, deviates, value, priced, order, deep, used, free, count, change) > SLACK:
            for at in range(4):
                if change[at] >= 0:
                    by = -1 if at < 2 else 1
                    add(sizes, change[at], by, used, free)
                    count[change[at]] += by
        worth, variance = 0.0, bins.variance[i, 0]  # anew: the root of what rounding leaves is not small
        for k in range(len(value)):
            worth += value[k] * count[k]
            variance += count[k] * sizes.variance[0, k]
        worth_out[row] = worth - (deviates[0] * (np.sqrt(variance) - np.sqrt(bins.variance[i, 0])) if priced else 0.0)


@kernel
def best_exchange(sizes, bins, i, deviates, value, priced, order, deep, used, free, count, change_out):
    """What the best exchange gains; who leaves (two) and who comes (two), -1 for none."""
    best = SLACK
    change_out[:] = -1
    for leaves in range(-1, len(order)):
        one = order[leaves] if leaves >= 0 else -1
        if one >= 0 and count[one] == 0:
            continue
        for too in range(-1, leaves + 1):
            two = order[too] if too >= 0 else -1
            if two >= 0 and (count[two] == 0 or (two == one and count[one] < 2)):
                continue
            pairs = deep or two < 0
            best = best_comers(
                sizes, bins, i, deviates, value, priced, order, pairs, used, free, count, one, two, best, change_out
            )
    return best


@kernel
def best_comers(sizes, bins, i, deviates, value, priced, order, pairs, used, free, count, one, two, best, change_out):
    """What the best exchange gains in which these leave, if that is more than `best`; `pairs`: two may come."""
    d, n_k = max(bins.d[i, 0], deviates[0]), len(order)
    most = bins.free_mean[i, 0] * (1.0 + 4.0 * ROUNDING) + 4.0 * ROUNDING
    mean, variance, worth = used[0, 0], used[1, 0], deviates[0] * np.sqrt(max(0.0, used[1, 0])) if priced else 0.0
    for k in (one, two):
        if k >= 0:
            mean, variance, worth = mean - sizes.mean[0, k], variance - sizes.variance[0, k], worth - value[k]
    for x in range(n_k):
        p = order[x]
        if p == one or p == two or count[p] >= bins.max_count[i, p] or mean + sizes.mean[0, p] > most:
            continue
        for y in range(x if pairs else n_k, n_k + 1):
            q = order[y] if y < n_k else -1  # at last: p alone
            gain = worth + value[p] + (value[q] if q >= 0 else 0.0)
            if gain <= best:
                continue
            after = mean + sizes.mean[0, p] + (sizes.mean[0, q] if q >= 0 else 0.0)
            if after > most:
                continue
            root = np.sqrt(max(0.0, variance + sizes.variance[0, p] + (sizes.variance[0, q] if q >= 0 else 0.0)))
            gain -= deviates[0] * root if priced else 0.0
            if gain <= best or after + d * root > most:
                continue
            if q >= 0 and (q == one or q == two or count[q] + (1 if q == p else 0) >= bins.max_count[i, q]):
                continue
            if fits_after(sizes, bins, i, deviates, used, free, one, two, p, q):
                best = gain
                change_out[0], change_out[1], change_out[2], change_out[3] = one, two, p, q
    return best


@kernel
def variance_after(sizes, used, c, one, two, p, q):
    """The variance of chance constraint c after an exchange."""
    variance = used[1, c] + sizes.variance[c, p]
    if q >= 0:
        variance += sizes.variance[c, q]
    if one >= 0:
        variance -= sizes.variance[c, one]
    if two >= 0:
        variance -= sizes.variance[c, two]
    return variance


@kernel
def fits_after(sizes, bins, i, deviates, used, free, one, two, p, q):
    """Does the pattern of bin i fit after an exchange?"""
    for c in range(sizes.mean.shape[0]):
        total = used[0, c] + sizes.mean[c, p] + (sizes.mean[c, q] if q >= 0 else 0.0)
        total -= (sizes.mean[c, one] if one >= 0 else 0.0) + (sizes.mean[c, two] if two >= 0 else 0.0)
        variance = variance_after(sizes, used, c, one, two, p, q)
        total += max(bins.d[i, c], deviates[c]) * np.sqrt(max(0.0, variance))
        if total > bins.free_mean[i, c] + ROUNDING * (abs(bins.free_mean[i, c]) + total):
            return False
    for r in range(sizes.request.shape[0]):
        more = sizes.request[r, p] + (sizes.request[r, q] if q >= 0 else 0)
        less = (sizes.request[r, one] if one >= 0 else 0) + (sizes.request[r, two] if two >= 0 else 0)
        if more - less > free[r]:
            return False
    return True
