r"""An upper bound on the value of a pattern of one machine, by decomposition into workloads ([RASA] §IV-C2, pattern generation).

    max  sum_h a_wv min(x_w, x_v) - sum_w cost_w p_w,   x_w = share_w + unit_w p_w      (1)
    s.t. sum_w amount_rw p_w <= free_r                                               (2)
         low_w <= p_w <= high_w, integer

An edge is a sum over levels: it gains at a level where both of its shares have reached it. Levels below the low end of one share
depend on the other alone, levels above a high end are never reached, and for the rest [x and y] <= alpha [x] + (1 - alpha) [y].
With a price nu on (2) the bound is then a sum over workloads, each a concave function of its own count. Any alpha in 0..a and
any nu >= 0 give a bound; they are improved by subgradients.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import kernel

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class PatternProblem(NamedTuple):
    """One machine: what may run there, what it gains and costs. Every edge is listed twice, once for each of its workloads."""

    start: Ints  # (workload + 1,) half-edges of a workload
    other: Ints  # (half-edge,) workload
    twin: Ints  # (half-edge,) the same edge, seen from the other workload
    weight: Floats  # (half-edge,)
    unit: Floats  # (workload,) one over its replicas
    share: Floats  # (workload,) share that runs there already
    cost: Floats  # (workload,) of one container
    max_count: Ints  # (workload,) containers at most
    row_start: Ints  # (workload + 1,) rows that a container of the workload uses
    row: Ints  # (entry,) resource or anti-affinity set
    amount: Ints  # (entry,) positive
    free: Ints  # (row,) positive
    free_share: Floats  # (entry,) share of what is free


class BoundPrices(NamedTuple):
    """What makes workloads independent of each other."""

    alpha: Floats  # (half-edge,) together with its twin's: the weight
    nu: Floats  # (row,) of all that is free


class BoundState(NamedTuple):
    """Of every workload at some prices: the price of a container, the best count, and what that is worth."""

    price: Floats  # (workload,)
    counts: Ints  # (workload,)
    sum: Floats  # (workload,) of the counts of the last steps
    square: Floats  # (workload,) of the counts of the last steps, summed
    steps: Ints  # (1,) the number of those
    value: Floats  # (workload,)
    low: Floats  # (workload,) share at the low end of the box
    high: Floats  # (workload,)
    slope: Floats  # (row,) share of the free amount that is left; negative: too much is used
    tilt: Floats  # (half-edge,) how much farther the workload reaches than the other; only for the first of both halves


@kernel
def copy(values, values_out):
    """`values_out` becomes `values`."""
    for i in range(len(values)):
        values_out[i] = values[i]


@kernel
def gain_at(problem, state, alpha, w, y):
    """What workload w gains at share y, by the decomposition of (1)."""
    total = 0.0
    for h in range(problem.start[w], problem.start[w + 1]):
        v = problem.other[h]
        total += problem.weight[h] * min(y, state.low[v])
        reach_of = min(y, state.high[v]) - max(state.low[v], state.low[w])
        if reach_of > 0.0:
            total += alpha[h] * reach_of
    return total


@kernel
def value_at(problem, state, alpha, w, p):
    """The gain of p containers of workload w, less what they cost."""
    return gain_at(problem, state, alpha, w, problem.share[w] + problem.unit[w] * p) - state.price[w] * p


@kernel
def marginal_value(problem, state, alpha, w, p):
    """What container p + 1 of workload w adds to the value."""
    y = problem.share[w] + problem.unit[w] * p
    then, mine = y + problem.unit[w], state.low[w]
    total = 0.0
    for h in range(problem.start[w], problem.start[w + 1]):
        v = problem.other[h]
        low, high = state.low[v], state.high[v]
        if y < low:
            total += problem.weight[h] * (min(then, low) - y)
        if then > low and y < high:
            start, end = max(y, low, mine), min(then, high)
            if end > start:
                total += alpha[h] * (end - start)
    return total - state.price[w]


@kernel
def best_count(problem, state, alpha, w, low, high):
    """The count of workload w that is worth most, by bisection from the last one: the value is concave."""
    p = min(high, max(low, state.counts[w]))
    if p < high and marginal_value(problem, state, alpha, w, p) > 0.0:
        low = p + 1
    elif p > low and marginal_value(problem, state, alpha, w, p - 1) <= 0.0:
        high = p - 1
    else:
        return p
    while low < high:
        middle = (low + high) // 2
        if marginal_value(problem, state, alpha, w, middle) > 0.0:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def set_box(problem, state, low, high):
    """Set the shares at the ends of the box."""
    for v in range(len(low)):
        state.low[v] = problem.share[v] + problem.unit[v] * low[v]
        state.high[v] = problem.share[v] + problem.unit[v] * high[v]


@kernel
def bound_at(problem, state, alpha, nu, low, high):
    """The bound: no counts in the box that keep (2) are worth more. Needs `set_box`; fills `state`."""
    total = 0.0
    for r in range(len(nu)):
        total += nu[r]
        state.slope[r] = 1.0
    for w in range(len(low)):
        price = problem.cost[w]
        for e in range(problem.row_start[w], problem.row_start[w + 1]):
            price += nu[problem.row[e]] * problem.free_share[e]
        state.price[w] = price
        p = best_count(problem, state, alpha, w, low[w], high[w])
        state.counts[w] = p
        state.value[w] = value_at(problem, state, alpha, w, p)
        total += state.value[w]
        for e in range(problem.row_start[w], problem.row_start[w + 1]):
            state.slope[problem.row[e]] -= p * problem.free_share[e]
        for h in range(problem.start[w], problem.start[w + 1]):
            if h < problem.twin[h]:
                total -= problem.weight[h] * min(state.low[w], state.low[problem.other[h]])
    return total


@kernel
def reach_of(problem, state, h, w):
    """How far the best count of workload w reaches into the levels of half-edge h that both workloads are needed for."""
    v = problem.other[h]
    y = problem.share[w] + problem.unit[w] * state.counts[w]
    return max(0.0, min(y, state.high[v]) - max(state.low[v], state.low[w]))


@kernel
def squared_subgradient(problem, state, alpha, nu):
    """The squared length of the subgradient, without what limits of the prices hold back. Fills `state.tilt`."""
    total = 0.0
    for r in range(len(nu)):
        if state.slope[r] < 0.0 or nu[r] > 0.0:
            total += state.slope[r] ** 2
    for w in range(len(state.counts)):
        for h in range(problem.start[w], problem.start[w + 1]):
            if h < problem.twin[h]:
                tilt = reach_of(problem, state, h, w) - reach_of(problem, state, problem.twin[h], problem.other[h])
                if (tilt > 0.0 and alpha[h] <= 0.0) or (tilt < 0.0 and alpha[h] >= problem.weight[h]):
                    tilt = 0.0
                state.tilt[h] = tilt
                total += tilt * tilt
    return total


@kernel
def price_step(problem, state, alpha, nu, length):
    """Prices move against the subgradient, within their limits."""
    for r in range(len(nu)):
        nu[r] = max(0.0, nu[r] - length * state.slope[r])
    for h in range(len(alpha)):
        back = problem.twin[h]
        if h < back and state.tilt[h] != 0.0:
            alpha[h] = min(problem.weight[h], max(0.0, alpha[h] - length * state.tilt[h]))
            alpha[back] = problem.weight[h] - alpha[h]


@kernel
def record_counts(state, first):
    """Add the counts to those of the steps before, unless these are the first."""
    state.steps[0] = 1 if first else state.steps[0] + 1
    for w in range(len(state.counts)):
        p = np.float64(state.counts[w])
        state.sum[w] = p if first else state.sum[w] + p
        state.square[w] = p * p if first else state.square[w] + p * p


@kernel
def tighten_bound(problem, state, best, now, low, high, target, steps):
    """The least bound that `steps` steps find; stops at the target. `best` holds its prices, and is where the steps begin."""
    set_box(problem, state, low, high)
    least = bound_at(problem, state, best.alpha, best.nu, low, high)
    copy(best.alpha, now.alpha)
    copy(best.nu, now.nu)
    here, pace, idle = least, 1.0, 0
    record_counts(state, True)
    for _ in range(steps):
        if least <= target:
            break
        steep = squared_subgradient(problem, state, now.alpha, now.nu)
        if steep <= 1e-18:
            break
        price_step(problem, state, now.alpha, now.nu, pace * (here - target) / steep)
        here = bound_at(problem, state, now.alpha, now.nu, low, high)
        record_counts(state, False)
        if here < least:
            least, idle = here, 0
            copy(now.alpha, best.alpha)
            copy(now.nu, best.nu)
        else:
            idle += 1
            if idle == 4:
                pace, idle = 0.6 * pace, 0
    return least
