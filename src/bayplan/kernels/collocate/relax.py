r"""What one machine can be worth at most: a bound that takes the services apart (004 section IV-C2, pattern generation).

    max  sum_h w_st min(x_s, x_t) - sum_s cost_s p_s,   x_s = share_s + unit_s p_s      (1)
    s.t. sum_s amount_rs p_s <= room_r                                               (2)
         low_s <= p_s <= high_s, whole

An edge is a sum over levels: it gains at a level where both of its shares have reached it. Levels below the low end of one share
depend on the other alone, levels above a high end are never reached, and for the rest [x and y] <= alpha [x] + (1 - alpha) [y].
With a price nu on (2) the bound is then a sum over services, each a concave function of its own count. Any alpha in 0..w and
any nu >= 0 give a bound; they are improved by subgradients.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.search.compiled import kernel

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Question(NamedTuple):
    """One machine: who may come, what it gains and costs. Every edge stands there twice, once for each of its services."""

    start: Ints  # (service + 1,) half-edges of a service
    other: Ints  # (half-edge,) service
    twin: Ints  # (half-edge,) the same edge, seen from the other service
    weight: Floats  # (half-edge,)
    unit: Floats  # (service,) one over its replicas
    share: Floats  # (service,) share that stands there already
    cost: Floats  # (service,) of one container
    most: Ints  # (service,) containers at most
    row_start: Ints  # (service + 1,) rows that a container of the service uses
    row: Ints  # (entry,) resource or anti-affinity set
    amount: Ints  # (entry,) positive
    room: Ints  # (row,) positive
    fill: Floats  # (entry,) share of the room


class Prices(NamedTuple):
    """What makes services independent of each other."""

    alpha: Floats  # (half-edge,) together with its twin's: the weight
    nu: Floats  # (row,) of all the room


class Part(NamedTuple):
    """Of every service at some prices: what it takes of each container, its best count, and what that is worth."""

    price: Floats  # (service,)
    counts: Ints  # (service,)
    sum: Floats  # (service,) of the counts of the last steps
    square: Floats  # (service,) of the counts of the last steps, summed
    steps: Ints  # (1,) how many those are
    value: Floats  # (service,)
    low: Floats  # (service,) share at the low end of the box
    high: Floats  # (service,)
    slope: Floats  # (row,) share of the room that is left; negative: too much is used
    tilt: Floats  # (half-edge,) how much farther the service reaches than the other; only for the first of both halves


@kernel
def copy(values, values_out):
    """`values_out` becomes `values`."""
    for i in range(len(values)):
        values_out[i] = values[i]


@kernel
def gain_at(question, part, alpha, t, y):
    """What service t gains at share y, by (1) taken apart."""
    total = 0.0
    for h in range(question.start[t], question.start[t + 1]):
        s = question.other[h]
        total += question.weight[h] * min(y, part.low[s])
        above = min(y, part.high[s]) - max(part.low[s], part.low[t])
        if above > 0.0:
            total += alpha[h] * above
    return total


@kernel
def value_at(question, part, alpha, t, p):
    """The gain of p containers of service t, less what they cost."""
    return gain_at(question, part, alpha, t, question.share[t] + question.unit[t] * p) - part.price[t] * p


@kernel
def rise(question, part, alpha, t, p):
    """What container p + 1 of service t adds to the value."""
    y = question.share[t] + question.unit[t] * p
    then, mine = y + question.unit[t], part.low[t]
    total = 0.0
    for h in range(question.start[t], question.start[t + 1]):
        s = question.other[h]
        low, high = part.low[s], part.high[s]
        if y < low:
            total += question.weight[h] * (min(then, low) - y)
        if then > low and y < high:
            from_, to = max(y, low, mine), min(then, high)
            if to > from_:
                total += alpha[h] * (to - from_)
    return total - part.price[t]


@kernel
def peak(question, part, alpha, t, low, high):
    """The count of service t that is worth most, from a hint: the value is concave, so halve."""
    p = min(high, max(low, part.counts[t]))
    if p < high and rise(question, part, alpha, t, p) > 0.0:
        low = p + 1
    elif p > low and rise(question, part, alpha, t, p - 1) <= 0.0:
        high = p - 1
    else:
        return p
    while low < high:
        middle = (low + high) // 2
        if rise(question, part, alpha, t, middle) > 0.0:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def open_box(question, part, low, high):
    """Shares at the ends of the box."""
    for s in range(len(low)):
        part.low[s] = question.share[s] + question.unit[s] * low[s]
        part.high[s] = question.share[s] + question.unit[s] * high[s]


@kernel
def bound_at(question, part, alpha, nu, low, high):
    """No counts in the box that keep (2) are worth more. Needs an open box; fills `part`."""
    total = 0.0
    for r in range(len(nu)):
        total += nu[r]
        part.slope[r] = 1.0
    for t in range(len(low)):
        price = question.cost[t]
        for e in range(question.row_start[t], question.row_start[t + 1]):
            price += nu[question.row[e]] * question.fill[e]
        part.price[t] = price
        p = peak(question, part, alpha, t, low[t], high[t])
        part.counts[t] = p
        part.value[t] = value_at(question, part, alpha, t, p)
        total += part.value[t]
        for e in range(question.row_start[t], question.row_start[t + 1]):
            part.slope[question.row[e]] -= p * question.fill[e]
        for h in range(question.start[t], question.start[t + 1]):
            if h < question.twin[h]:
                total -= question.weight[h] * min(part.low[t], part.low[question.other[h]])
    return total


@kernel
def above(question, part, h, t):
    """How far the best count of service t reaches into the levels of half-edge h that both services are needed for."""
    s = question.other[h]
    y = question.share[t] + question.unit[t] * part.counts[t]
    return max(0.0, min(y, part.high[s]) - max(part.low[s], part.low[t]))


@kernel
def steepness(question, part, alpha, nu):
    """The squared length of the subgradient, without what limits of the prices hold back. Fills `part.tilt`."""
    total = 0.0
    for r in range(len(nu)):
        if part.slope[r] < 0.0 or nu[r] > 0.0:
            total += part.slope[r] ** 2
    for t in range(len(part.counts)):
        for h in range(question.start[t], question.start[t + 1]):
            if h < question.twin[h]:
                tilt = above(question, part, h, t) - above(question, part, question.twin[h], question.other[h])
                if (tilt > 0.0 and alpha[h] <= 0.0) or (tilt < 0.0 and alpha[h] >= question.weight[h]):
                    tilt = 0.0
                part.tilt[h] = tilt
                total += tilt * tilt
    return total


@kernel
def step(question, part, alpha, nu, length):
    """Prices move against the subgradient, within their limits."""
    for r in range(len(nu)):
        nu[r] = max(0.0, nu[r] - length * part.slope[r])
    for h in range(len(alpha)):
        back = question.twin[h]
        if h < back and part.tilt[h] != 0.0:
            alpha[h] = min(question.weight[h], max(0.0, alpha[h] - length * part.tilt[h]))
            alpha[back] = question.weight[h] - alpha[h]


@kernel
def remember(part, first):
    """Add the counts to those of the steps before, unless these are the first."""
    part.steps[0] = 1 if first else part.steps[0] + 1
    for t in range(len(part.counts)):
        p = np.float64(part.counts[t])
        part.sum[t] = p if first else part.sum[t] + p
        part.square[t] = p * p if first else part.square[t] + p * p


@kernel
def lower(question, part, best, now, low, high, target, steps):
    """The least bound that some steps find; stops at the target. `best` holds its prices, and is where the steps begin."""
    open_box(question, part, low, high)
    least = bound_at(question, part, best.alpha, best.nu, low, high)
    copy(best.alpha, now.alpha)
    copy(best.nu, now.nu)
    here, pace, idle = least, 1.0, 0
    remember(part, True)
    for _ in range(steps):
        if least <= target:
            break
        steep = steepness(question, part, now.alpha, now.nu)
        if steep <= 1e-18:
            break
        step(question, part, now.alpha, now.nu, pace * (here - target) / steep)
        here = bound_at(question, part, now.alpha, now.nu, low, high)
        remember(part, False)
        if here < least:
            least, idle = here, 0
            copy(now.alpha, best.alpha)
            copy(now.nu, best.nu)
        else:
            idle += 1
            if idle == 4:
                pace, idle = 0.6 * pace, 0
    return least
