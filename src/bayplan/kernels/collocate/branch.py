"""Is any pattern of one machine worth more than a target? Boxes of counts, each bounded, shrunk, and cut in two."""

from typing import NamedTuple

import numpy as np

from bayplan.kernels.collocate.pattern_search import EJECTIONS, Walk, search, worth
from bayplan.kernels.collocate.relax import Floats, Ints, Part, Prices, Question, bound_at, copy, lower, open_box, value_at
from bayplan.kernels.search.compiled import kernel

ROUNDS = 3  # of bounding and shrinking, at most
LITTLE = 1e-6  # swing of a service that does not swing, so that it is still cut in the end
OPEN, PROVEN, FOUND = 0, 1, 2


class Stack(NamedTuple):
    """Boxes that are still to be looked at, the last one first."""

    low: Ints  # (slot, service)
    high: Ints  # (slot, service)
    alpha: Floats  # (slot, half-edge)
    nu: Floats  # (slot, row)
    bound: Floats  # (slot,)
    size: Ints  # (2,) boxes on the stack, boxes looked at so far


@kernel
def shrink(question, part, alpha, low, high, total, target):
    """Cut off the ends of the box where the bound says that no pattern beats the target; how many counts that were."""
    cut = 0
    for t in range(len(low)):
        spare = target - (total - part.value[t])
        while low[t] < part.counts[t] and value_at(question, part, alpha, t, low[t]) <= spare:
            low[t] += 1
            cut += 1
        while high[t] > part.counts[t] and value_at(question, part, alpha, t, high[t]) <= spare:
            high[t] -= 1
            cut += 1
    return cut


@kernel
def squeeze(question, low, high):
    """Counts that no longer fit beside the low ends leave the box; False if the low ends do not fit themselves."""
    for r in range(len(question.room)):
        left = question.room[r]
        for t in range(len(low)):
            for e in range(question.row_start[t], question.row_start[t + 1]):
                if question.row[e] == r:
                    left -= low[t] * question.amount[e]
        if left < 0:
            return False
        for t in range(len(low)):
            for e in range(question.row_start[t], question.row_start[t + 1]):
                if question.row[e] == r:
                    high[t] = min(high[t], low[t] + left // question.amount[e])
    return True


@kernel
def keeps(question, count):
    """Does a pattern fit?"""
    for r in range(len(question.room)):
        left = question.room[r]
        for t in range(len(count)):
            for e in range(question.row_start[t], question.row_start[t + 1]):
                if question.row[e] == r:
                    left -= count[t] * question.amount[e]
        if left < 0:
            return False
    return True


@kernel
def to_branch(question, part, low, high):
    """The service whose wishes swing most, by weight, from step to step of the bound; -1 if all are decided."""
    chosen, most = -1, -1.0
    for t in range(len(low)):
        if low[t] == high[t]:
            continue
        weight = 0.0
        for h in range(question.start[t], question.start[t + 1]):
            weight += question.weight[h]
        mean = part.sum[t] / part.steps[0]
        swing = np.sqrt(max(0.0, part.square[t] / part.steps[0] - mean * mean))
        score = weight * question.unit[t] * (LITTLE + swing)
        if score > most:
            chosen, most = t, score
    return chosen


@kernel
def look(question, part, stack, now, top, target, steps):
    """Bound and shrink the box in slot `top`. False if it holds nothing above the target."""
    low, high = stack.low[top], stack.high[top]
    best = Prices(stack.alpha[top], stack.nu[top])
    for _ in range(ROUNDS):
        if not squeeze(question, low, high):
            return False
        total = lower(question, part, best, now, low, high, target, steps)
        stack.bound[top] = min(stack.bound[top], total)
        if total <= target:
            return False
        total = bound_at(question, part, best.alpha, best.nu, low, high)
        if shrink(question, part, best.alpha, low, high, total, target) == 0:
            break
        open_box(question, part, low, high)
    bound_at(question, part, best.alpha, best.nu, low, high)
    return True


@kernel
def split(stack, top, t):
    """Two boxes instead of one: the lower half of the counts of service t, and the upper half, which comes first."""
    cut = (stack.low[top, t] + stack.high[top, t]) // 2
    copy(stack.low[top], stack.low[top + 1])
    copy(stack.high[top], stack.high[top + 1])
    copy(stack.alpha[top], stack.alpha[top + 1])
    copy(stack.nu[top], stack.nu[top + 1])
    stack.bound[top + 1] = stack.bound[top]
    stack.high[top, t] = cut
    stack.low[top + 1, t] = cut + 1


@kernel
def explore(question, part, stack, now, target, steps, boxes, found_out):
    """Look at so many boxes. PROVEN: nothing above the target; FOUND: `found_out` is; OPEN: more boxes than that.

    The stack needs a slot for every time that a box can be halved.
    """
    for _ in range(boxes):
        top = stack.size[0] - 1
        if top < 0:
            return PROVEN
        stack.size[1] += 1
        if not look(question, part, stack, now, top, target, steps):
            stack.size[0] -= 1
            continue
        if worth(question, part.counts) > target and keeps(question, part.counts):
            copy(part.counts, found_out)
            return FOUND
        t = to_branch(question, part, stack.low[top], stack.high[top])
        if t < 0:  # all is decided
            stack.size[0] -= 1
            continue
        split(stack, top, t)
        stack.size[0] += 1
    return PROVEN if stack.size[0] == 0 else OPEN


def warm_up() -> None:
    """Compile the pricing kernels, with the types they use: two services that talk, on one machine."""
    whole, real = np.array([0, 1], dtype=np.int64), np.array([0.5, 0.5])
    question = Question(
        start=np.array([0, 1, 2], dtype=np.int64),
        other=whole[::-1].copy(),
        twin=whole[::-1].copy(),
        weight=real,
        unit=real,
        share=0.0 * real,
        cost=0.1 * real,
        most=whole + 1,
        row_start=np.array([0, 1, 2], dtype=np.int64),
        row=0 * whole,
        amount=0 * whole + 1,
        room=np.array([3], dtype=np.int64),
        fill=real,
    )
    now = Prices(alpha=0.5 * real, nu=np.zeros(1))
    part = Part(
        price=0 * real, counts=0 * whole, sum=0 * real, square=0 * real, steps=np.zeros(1, dtype=np.int64), value=0 * real,
        low=0 * real, high=0 * real, slope=np.zeros(1), tilt=0 * real,
    )  # fmt: skip
    stack = Stack(
        low=np.zeros((9, 2), dtype=np.int64), high=np.zeros((9, 2), dtype=np.int64), alpha=np.zeros((9, 2)),
        nu=np.zeros((9, 1)), bound=np.full(9, np.inf), size=np.array([1, 0], dtype=np.int64),
    )  # fmt: skip
    stack.high[0], stack.alpha[0] = question.most, now.alpha
    lower(question, part, Prices(alpha=stack.alpha[0], nu=stack.nu[0]), now, stack.low[0], stack.high[0], 0.0, 2)
    explore(question, part, stack, now, 0.0, 2, 2, 0 * whole)
    log, chance = np.zeros(2 * EJECTIONS + 4, dtype=np.int64), np.ones(1, dtype=np.uint64)
    walk = Walk(counts=0 * whole, used=np.zeros(1, dtype=np.int64), log=log, chance=chance, bill=np.zeros(3))
    search(question, walk, 2, 1.0, 0.5, 0.5, 0 * whole)
