"""Branch and bound over patterns of one machine: boxes of counts, each bounded, shrunk, and cut in two."""

from typing import NamedTuple

import numpy as np

from bayplan.kernels.collocate.pattern_bound import (
    BoundPrices,
    BoundState,
    Floats,
    Ints,
    PatternProblem,
    bound_at,
    copy,
    set_box,
    tighten_bound,
    value_at,
)
from bayplan.kernels.collocate.pattern_search import MAX_EJECTIONS, PatternWalk, pattern_value, search_pattern
from bayplan.kernels.jit import kernel

ROUNDS = 3  # of bounding and shrinking, at most
MIN_SWING = 1e-6  # least swing that counts, so that every workload is cut in the end
OPEN, PROVEN, FOUND = 0, 1, 2


class BoxStack(NamedTuple):
    """Boxes still to be processed, the last one first."""

    low: Ints  # (slot, workload)
    high: Ints  # (slot, workload)
    alpha: Floats  # (slot, half-edge)
    nu: Floats  # (slot, row)
    bound: Floats  # (slot,)
    size: Ints  # (2,) boxes on the stack, boxes processed so far


@kernel
def shrink(problem, state, alpha, low, high, total, target):
    """Cut off the ends of the box where the bound says that no pattern beats the target; the number of counts cut."""
    cut = 0
    for w in range(len(low)):
        margin = target - (total - state.value[w])
        while low[w] < state.counts[w] and value_at(problem, state, alpha, w, low[w]) <= margin:
            low[w] += 1
            cut += 1
        while high[w] > state.counts[w] and value_at(problem, state, alpha, w, high[w]) <= margin:
            high[w] -= 1
            cut += 1
    return cut


@kernel
def squeeze(problem, low, high):
    """Counts that no longer fit beside the low ends leave the box; False if the low ends do not fit themselves."""
    for r in range(len(problem.free)):
        left = problem.free[r]
        for w in range(len(low)):
            for e in range(problem.row_start[w], problem.row_start[w + 1]):
                if problem.row[e] == r:
                    left -= low[w] * problem.amount[e]
        if left < 0:
            return False
        for w in range(len(low)):
            for e in range(problem.row_start[w], problem.row_start[w + 1]):
                if problem.row[e] == r:
                    high[w] = min(high[w], low[w] + left // problem.amount[e])
    return True


@kernel
def pattern_fits(problem, count):
    """Does a pattern fit?"""
    for r in range(len(problem.free)):
        left = problem.free[r]
        for w in range(len(count)):
            for e in range(problem.row_start[w], problem.row_start[w + 1]):
                if problem.row[e] == r:
                    left -= count[w] * problem.amount[e]
        if left < 0:
            return False
    return True


@kernel
def branching_workload(problem, state, low, high):
    """The workload whose best count swings most, by weight, from step to step of the bound; -1 if all are decided."""
    chosen, max_count = -1, -1.0
    for w in range(len(low)):
        if low[w] == high[w]:
            continue
        weight = 0.0
        for h in range(problem.start[w], problem.start[w + 1]):
            weight += problem.weight[h]
        mean = state.sum[w] / state.steps[0]
        swing = np.sqrt(max(0.0, state.square[w] / state.steps[0] - mean * mean))
        score = weight * problem.unit[w] * (MIN_SWING + swing)
        if score > max_count:
            chosen, max_count = w, score
    return chosen


@kernel
def process_box(problem, state, stack, now, top, target, steps):
    """Bound and shrink the box in slot `top`. False if it holds nothing above the target."""
    low, high = stack.low[top], stack.high[top]
    best = BoundPrices(stack.alpha[top], stack.nu[top])
    for _ in range(ROUNDS):
        if not squeeze(problem, low, high):
            return False
        total = tighten_bound(problem, state, best, now, low, high, target, steps)
        stack.bound[top] = min(stack.bound[top], total)
        if total <= target:
            return False
        total = bound_at(problem, state, best.alpha, best.nu, low, high)
        if shrink(problem, state, best.alpha, low, high, total, target) == 0:
            break
        set_box(problem, state, low, high)
    bound_at(problem, state, best.alpha, best.nu, low, high)
    return True


@kernel
def split(stack, top, w):
    """Two boxes instead of one: the lower half of the counts of workload w, and the upper half, which comes first."""
    cut = (stack.low[top, w] + stack.high[top, w]) // 2
    copy(stack.low[top], stack.low[top + 1])
    copy(stack.high[top], stack.high[top + 1])
    copy(stack.alpha[top], stack.alpha[top + 1])
    copy(stack.nu[top], stack.nu[top + 1])
    stack.bound[top + 1] = stack.bound[top]
    stack.high[top, w] = cut
    stack.low[top + 1, w] = cut + 1


@kernel
def explore(problem, state, stack, now, target, steps, boxes, pattern_out):
    """Process at most `boxes` boxes. PROVEN: nothing above the target; FOUND: `pattern_out` is; OPEN: boxes are left.

    The stack needs a slot for every time that a box can be halved.
    """
    for _ in range(boxes):
        top = stack.size[0] - 1
        if top < 0:
            return PROVEN
        stack.size[1] += 1
        if not process_box(problem, state, stack, now, top, target, steps):
            stack.size[0] -= 1
            continue
        if pattern_value(problem, state.counts) > target and pattern_fits(problem, state.counts):
            copy(state.counts, pattern_out)
            return FOUND
        w = branching_workload(problem, state, stack.low[top], stack.high[top])
        if w < 0:  # all is decided
            stack.size[0] -= 1
            continue
        split(stack, top, w)
        stack.size[0] += 1
    return PROVEN if stack.size[0] == 0 else OPEN


def warm_up() -> None:
    """Compile the pricing kernels, with the types they use: two workloads that talk, on one machine."""
    ints, floats = np.array([0, 1], dtype=np.int64), np.array([0.5, 0.5])
    problem = PatternProblem(
        start=np.array([0, 1, 2], dtype=np.int64),
        other=ints[::-1].copy(),
        twin=ints[::-1].copy(),
        weight=floats,
        unit=floats,
        share=0.0 * floats,
        cost=0.1 * floats,
        max_count=ints + 1,
        row_start=np.array([0, 1, 2], dtype=np.int64),
        row=0 * ints,
        amount=0 * ints + 1,
        free=np.array([3], dtype=np.int64),
        free_share=floats,
    )
    now = BoundPrices(alpha=0.5 * floats, nu=np.zeros(1))
    state = BoundState(
        price=0 * floats, counts=0 * ints, sum=0 * floats, square=0 * floats, steps=np.zeros(1, dtype=np.int64), value=0 * floats,
        low=0 * floats, high=0 * floats, slope=np.zeros(1), tilt=0 * floats,
    )  # fmt: skip
    stack = BoxStack(
        low=np.zeros((9, 2), dtype=np.int64), high=np.zeros((9, 2), dtype=np.int64), alpha=np.zeros((9, 2)),
        nu=np.zeros((9, 1)), bound=np.full(9, np.inf), size=np.array([1, 0], dtype=np.int64),
    )  # fmt: skip
    stack.high[0], stack.alpha[0] = problem.max_count, now.alpha
    pattern_value(problem, 0 * ints)
    tighten_bound(problem, state, BoundPrices(alpha=stack.alpha[0], nu=stack.nu[0]), now, stack.low[0], stack.high[0], 0.0, 2)
    explore(problem, state, stack, now, 0.0, 2, 2, 0 * ints)
    log, rng = np.zeros(2 * MAX_EJECTIONS + 4, dtype=np.int64), np.ones(1, dtype=np.uint64)
    walk = PatternWalk(counts=0 * ints, used=np.zeros(1, dtype=np.int64), log=log, rng=rng, change=np.zeros(3))
    search_pattern(problem, walk, 2, 1.0, 0.5, 0.5, 0 * ints)
