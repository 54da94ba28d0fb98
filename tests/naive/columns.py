"""One machine by trying everything: the best pattern at some cost, and what a pattern gains."""

from collections.abc import Iterator
from itertools import product

import numpy as np

from bayplan.decide.collocate.subproblem import Subproblem


def every_pattern(task: Subproblem, m: int) -> Iterator[np.ndarray]:
    """All counts (service,) that machine m can take."""
    for counts in product(*(range(int(demand) + 1) for demand in task.demand)):
        pattern = np.array(counts, dtype=np.int64)
        may = all(count == 0 or task.allow[task.row_of[s], m] for s, count in enumerate(counts))
        if may and (pattern @ task.request <= task.room[m]).all() and (task.member @ pattern <= task.spare[:, m]).all():
            yield pattern


def gain(task: Subproblem, m: int, pattern: np.ndarray) -> float:
    """The affinity on machine m with a pattern."""
    total = 0.0
    for a, b, weight in zip(task.a.tolist(), task.b.tolist(), task.weight.tolist(), strict=True):
        of_a = (pattern[a] + task.fixed[a, m]) / task.replicas[a]
        of_b = (pattern[b] + task.fixed[b, m]) / task.replicas[b]
        total += weight * min(of_a, of_b)
    return float(total)


def most_added(task: Subproblem, m: int, cost: np.ndarray) -> float:
    """What the best pattern of machine m adds to what is there, less what its containers cost."""
    nothing = gain(task, m, np.zeros(len(task.demand), dtype=np.int64))
    return max(gain(task, m, pattern) - nothing - float(pattern @ cost) for pattern in every_pattern(task, m))
