"""Good patterns of one machine by annealing: one container more or less, equal shares, ejections where it gets too full."""

from typing import NamedTuple

import numpy as np

from bayplan.kernels.collocate.pattern_bound import Floats, Ints, copy
from bayplan.kernels.jit import kernel
from bayplan.kernels.random import below, uniform

MAX_EJECTIONS = 8  # at most, for one move


class PatternWalk(NamedTuple):
    """One machine while it is changed."""

    counts: Ints  # (workload,)
    used: Ints  # (row,)
    log: Ints  # (2 * change,) workload and difference, to go back
    rng: np.ndarray  # (1,) uint64
    change: Floats  # (3,) gain and cost of the move so far, share of the cost that counts


@kernel
def pattern_value(problem, count):
    """What a pattern gains, less what it costs."""
    total = 0.0
    for w in range(len(count)):
        total -= problem.cost[w] * count[w]
        y = problem.share[w] + problem.unit[w] * count[w]
        for h in range(problem.start[w], problem.start[w + 1]):
            if h < problem.twin[h]:
                v = problem.other[h]
                total += problem.weight[h] * min(y, problem.share[v] + problem.unit[v] * count[v])
    return total


@kernel
def gain_of_change(problem, count, w, by):
    """What `by` more containers of workload w gain."""
    y = problem.share[w] + problem.unit[w] * count[w]
    then = problem.share[w] + problem.unit[w] * (count[w] + by)
    total = 0.0
    for h in range(problem.start[w], problem.start[w + 1]):
        v = problem.other[h]
        x = problem.share[v] + problem.unit[v] * count[v]
        total += problem.weight[h] * (min(x, then) - min(x, y))
    return total


@kernel
def fits(problem, used):
    """Does the machine hold what it runs?"""
    for r in range(len(used)):
        if used[r] > problem.free[r]:
            return False
    return True


@kernel
def apply_change(problem, walk, w, by, changes):
    """Make a change, and log it."""
    walk.change[0] += gain_of_change(problem, walk.counts, w, by)
    walk.change[1] += problem.cost[w] * by
    walk.counts[w] += by
    for e in range(problem.row_start[w], problem.row_start[w + 1]):
        walk.used[problem.row[e]] += by * problem.amount[e]
    walk.log[2 * changes], walk.log[2 * changes + 1] = w, by


@kernel
def undo(problem, walk, changes):
    """Take the logged changes back."""
    for n in range(changes - 1, -1, -1):
        w, by = walk.log[2 * n], walk.log[2 * n + 1]
        walk.counts[w] -= by
        for e in range(problem.row_start[w], problem.row_start[w + 1]):
            walk.used[problem.row[e]] -= by * problem.amount[e]


@kernel
def matching_count(problem, count, w, v):
    """The least count of workload w whose share is that of workload v, within its limits."""
    x = problem.share[v] + problem.unit[v] * count[v]
    needed = np.int64(np.ceil((x - problem.share[w]) / problem.unit[w] - 1e-9))
    return min(problem.max_count[w], max(0, needed))


@kernel
def propose(problem, walk, w):
    """Make a random change of workload w; the number of single changes."""
    walk.change[0], walk.change[1] = 0.0, 0.0
    kind = below(walk.rng, 8)
    degree = problem.start[w + 1] - problem.start[w]
    v = problem.other[problem.start[w] + below(walk.rng, degree)] if degree > 0 else -1
    if kind == 0 and v >= 0:
        by = matching_count(problem, walk.counts, w, v) - walk.counts[w]
    elif kind <= 4:
        by = 1
    else:
        by = -1
    if by == 0 or walk.counts[w] + by < 0 or walk.counts[w] + by > problem.max_count[w]:
        return 0
    apply_change(problem, walk, w, by, 0)
    changes = 1
    if v >= 0 and kind in (1, 2, 5):
        then = matching_count(problem, walk.counts, v, w) - walk.counts[v]
        if then * by > 0:
            apply_change(problem, walk, v, then, changes)
            changes += 1
    return changes


@kernel
def eject(problem, walk, running, changes):
    """Eject until the rest fits, the cheapest per amount freed of a few at random; changes so far, or -1 less them if in vain."""
    first = walk.log[0]
    while not fits(problem, walk.used):
        if changes == MAX_EJECTIONS or running == 0:
            return -1 - changes
        victim, least = -1, np.inf
        for _ in range(6):
            w = below(walk.rng, running)
            if walk.counts[w] > 0 and w != first:
                relief = 0.0
                for e in range(problem.row_start[w], problem.row_start[w + 1]):
                    if walk.used[problem.row[e]] > problem.free[problem.row[e]]:
                        relief += problem.amount[e] / problem.free[problem.row[e]]
                if relief > 0.0:
                    loss = -(gain_of_change(problem, walk.counts, w, -1) + walk.change[2] * problem.cost[w]) / relief
                    if loss < least:
                        victim, least = w, loss
        if victim < 0:
            return -1 - changes
        apply_change(problem, walk, victim, -1, changes)
        changes += 1
    return changes


@kernel
def search_pattern(problem, walk, moves, hot, cold, first_cost_share, best_out):
    """The value of the best pattern on a walk of `moves` moves, from the walk's own counts. `best_out` holds the pattern.

    A share `first_cost_share` of the cost counts at the start, all of it in the last quarter: what pays only together comes in
    first, and what does not pay in the end leaves.
    """
    n_w = len(walk.counts)
    value = pattern_value(problem, walk.counts)
    best = value
    copy(walk.counts, best_out)
    for n in range(moves):
        walk.change[2] = min(1.0, first_cost_share + (1.0 - first_cost_share) * n / (0.75 * moves))
        changes = propose(problem, walk, below(walk.rng, n_w))
        if changes == 0:
            continue
        if not fits(problem, walk.used):
            changes = eject(problem, walk, n_w, changes)
            if changes < 0:
                undo(problem, walk, -1 - changes)
                continue
        temperature = hot * (cold / hot) ** (n / moves)
        if walk.change[0] - walk.change[2] * walk.change[1] >= temperature * np.log(uniform(walk.rng)):
            value += walk.change[0] - walk.change[1]
            if value > best + 1e-12:
                best = value
                copy(walk.counts, best_out)
        else:
            undo(problem, walk, changes)
    return pattern_value(problem, best_out)
