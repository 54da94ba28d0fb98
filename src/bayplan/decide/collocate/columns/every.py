"""Every pattern of a tiny task: where they can be listed, none has to be generated, and the integer master is exact."""

from itertools import product

import numpy as np

from bayplan.decide.collocate.columns.types import Types
from bayplan.decide.collocate.columns.whole import Pattern
from bayplan.decide.collocate.task import Task
from bayplan.model import IntArray

MOST = 1_000  # patterns, of all types together


def every_pattern(task: Task, types: Types) -> list[Pattern] | None:
    """All patterns but the empty ones; None if they may be more than `MOST`."""
    number = 1
    for demand in task.demand.tolist():
        number *= demand + 1
        if number * len(types.number) > MOST:
            return None
    counts = np.array(list(product(*(range(demand + 1) for demand in task.demand.tolist()))), dtype=np.int64)
    return [(t, counts[n]) for t in range(len(types.number)) for n in _fitting(task, int(types.first[t]), counts)]


def _fitting(task: Task, m: int, counts: IntArray) -> list[int]:
    """Of some patterns (pattern, service) those that fit on a machine and are not empty."""
    fits = (counts @ task.request <= task.room[m]).all(axis=1) & counts.any(axis=1)
    fits &= (counts @ task.member.T.astype(np.int64) <= task.spare[:, m]).all(axis=1)
    fits &= ~(counts[:, ~task.allow[task.row_of, m]] > 0).any(axis=1)
    found: list[int] = np.flatnonzero(fits).tolist()
    return found
