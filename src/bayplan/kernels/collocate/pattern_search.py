"""Good patterns of one machine by annealing: one container more or less, shares that meet, ejections where it gets too full."""

from typing import NamedTuple

import numpy as np

from bayplan.kernels.collocate.relax import Floats, Ints, copy
from bayplan.kernels.search.chance import below, share
from bayplan.kernels.search.compiled import kernel

EJECTIONS = 8  # at most, for one move


class Walk(NamedTuple):
    """One machine while it is changed."""

    counts: Ints  # (service,)
    used: Ints  # (row,)
    log: Ints  # (2 * change,) service and difference, to go back
    chance: np.ndarray  # (1,) uint64
    bill: Floats  # (3,) gain and cost of the move so far, share of the cost that counts


@kernel
def worth(question, count):
    """What a pattern gains, less what it costs."""
    total = 0.0
    for t in range(len(count)):
        total -= question.cost[t] * count[t]
        y = question.share[t] + question.unit[t] * count[t]
        for h in range(question.start[t], question.start[t + 1]):
            if h < question.twin[h]:
                s = question.other[h]
                total += question.weight[h] * min(y, question.share[s] + question.unit[s] * count[s])
    return total


@kernel
def difference(question, count, t, by):
    """What `by` more containers of service t gain."""
    y = question.share[t] + question.unit[t] * count[t]
    then = question.share[t] + question.unit[t] * (count[t] + by)
    total = 0.0
    for h in range(question.start[t], question.start[t + 1]):
        s = question.other[h]
        x = question.share[s] + question.unit[s] * count[s]
        total += question.weight[h] * (min(x, then) - min(x, y))
    return total


@kernel
def fits(question, used):
    """Does the machine have room for what it runs?"""
    for r in range(len(used)):
        if used[r] > question.room[r]:
            return False
    return True


@kernel
def change(question, walk, t, by, changes):
    """Make a change, and note it."""
    walk.bill[0] += difference(question, walk.counts, t, by)
    walk.bill[1] += question.cost[t] * by
    walk.counts[t] += by
    for e in range(question.row_start[t], question.row_start[t + 1]):
        walk.used[question.row[e]] += by * question.amount[e]
    walk.log[2 * changes], walk.log[2 * changes + 1] = t, by


@kernel
def undo(question, walk, changes):
    """Take the noted changes back."""
    for n in range(changes - 1, -1, -1):
        t, by = walk.log[2 * n], walk.log[2 * n + 1]
        walk.counts[t] -= by
        for e in range(question.row_start[t], question.row_start[t + 1]):
            walk.used[question.row[e]] -= by * question.amount[e]


@kernel
def to_meet(question, count, t, s):
    """The least count of service t whose share is that of service s, within its limits."""
    x = question.share[s] + question.unit[s] * count[s]
    wanted = np.int64(np.ceil((x - question.share[t]) / question.unit[t] - 1e-9))
    return min(question.most[t], max(0, wanted))


@kernel
def move(question, walk, t):
    """Try a change of service t: how many changes that were."""
    walk.bill[0], walk.bill[1] = 0.0, 0.0
    walk_more = below(walk.chance, 8)
    degree = question.start[t + 1] - question.start[t]
    s = question.other[question.start[t] + below(walk.chance, degree)] if degree > 0 else -1
    if walk_more == 0 and s >= 0:
        by = to_meet(question, walk.counts, t, s) - walk.counts[t]
    elif walk_more <= 4:
        by = 1
    else:
        by = -1
    if by == 0 or walk.counts[t] + by < 0 or walk.counts[t] + by > question.most[t]:
        return 0
    change(question, walk, t, by, 0)
    changes = 1
    if s >= 0 and walk_more in (1, 2, 5):
        then = to_meet(question, walk.counts, s, t) - walk.counts[s]
        if then * by > 0:
            change(question, walk, s, then, changes)
            changes += 1
    return changes


@kernel
def eject(question, walk, running, changes):
    """Containers leave until there is room: the cheapest per room of a few at random. Changes so far; -1 less them if in vain."""
    first = walk.log[0]
    while not fits(question, walk.used):
        if changes == EJECTIONS or running == 0:
            return -1 - changes
        victim, least = -1, np.inf
        for _ in range(6):
            t = below(walk.chance, running)
            if walk.counts[t] > 0 and t != first:
                relief = 0.0
                for e in range(question.row_start[t], question.row_start[t + 1]):
                    if walk.used[question.row[e]] > question.room[question.row[e]]:
                        relief += question.amount[e] / question.room[question.row[e]]
                if relief > 0.0:
                    loss = -(difference(question, walk.counts, t, -1) + walk.bill[2] * question.cost[t]) / relief
                    if loss < least:
                        victim, least = t, loss
        if victim < 0:
            return -1 - changes
        change(question, walk, victim, -1, changes)
        changes += 1
    return changes


@kernel
def search(question, walk, moves, hot, cold, ease, best_out):
    """The best pattern on a walk of so many moves, from the walk's own counts; its worth. `best_out` holds it.

    A share `ease` of the cost counts at the start, all of it in the last quarter: what pays only together comes in first, and
    what does not pay in the end leaves.
    """
    n_s = len(walk.counts)
    here = worth(question, walk.counts)
    top = here
    copy(walk.counts, best_out)
    for n in range(moves):
        walk.bill[2] = min(1.0, ease + (1.0 - ease) * n / (0.75 * moves))
        changes = move(question, walk, below(walk.chance, n_s))
        if changes == 0:
            continue
        if not fits(question, walk.used):
            changes = eject(question, walk, n_s, changes)
            if changes < 0:
                undo(question, walk, -1 - changes)
                continue
        heat = hot * (cold / hot) ** (n / moves)
        if walk.bill[0] - walk.bill[2] * walk.bill[1] >= heat * np.log(share(walk.chance)):
            here += walk.bill[0] - walk.bill[1]
            if here > top + 1e-12:
                top = here
                copy(walk.counts, best_out)
        else:
            undo(question, walk, changes)
    return worth(question, best_out)
