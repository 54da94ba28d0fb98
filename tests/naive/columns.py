"""One machine by trying everything: the best pattern at some cost, and what a pattern gains."""

from collections.abc import Iterator
from itertools import product

import numpy as np

from bayplan.decide.collocate.subproblem import Subproblem


def every_pattern(subproblem: Subproblem, m: int) -> Iterator[np.ndarray]:
    """All counts (service,) that machine m can take."""
    for counts in product(*(range(int(demand) + 1) for demand in subproblem.demand)):
        pattern = np.array(counts, dtype=np.int64)
        may = all(count == 0 or subproblem.allow[subproblem.row_of[s], m] for s, count in enumerate(counts))
        if (
            may
            and (pattern @ subproblem.request <= subproblem.free[m]).all()
            and (subproblem.member @ pattern <= subproblem.set_free[:, m]).all()
        ):
            yield pattern


def gain(subproblem: Subproblem, m: int, pattern: np.ndarray) -> float:
    """The affinity on machine m with a pattern."""
    total = 0.0
    for a, b, weight in zip(subproblem.a.tolist(), subproblem.b.tolist(), subproblem.weight.tolist(), strict=True):
        of_a = (pattern[a] + subproblem.fixed[a, m]) / subproblem.replicas[a]
        of_b = (pattern[b] + subproblem.fixed[b, m]) / subproblem.replicas[b]
        total += weight * min(of_a, of_b)
    return float(total)


def most_added(subproblem: Subproblem, m: int, cost: np.ndarray) -> float:
    """What the best pattern of machine m adds to what is there, less what its containers cost."""
    nothing = gain(subproblem, m, np.zeros(len(subproblem.demand), dtype=np.int64))
    return max(gain(subproblem, m, pattern) - nothing - float(pattern @ cost) for pattern in every_pattern(subproblem, m))
