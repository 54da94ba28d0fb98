"""Program (2) of 001 over some columns, in whole numbers: HiGHS."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from bayplan.decide.admit.offline.columns import Column
from bayplan.decide.admit.offline.ground import Ground
from bayplan.decide.admit.offline.load import Load
from bayplan.model import FloatArray, IntArray
from bayplan.solvers.highs import solve
from bayplan.solvers.program import Program


class Chosen(NamedTuple):
    """The plans of a best choice of columns, and what no choice of them is worth more than."""

    columns: list[Column]
    bound: float | None


def choose(
    ground: Ground, columns: Sequence[Column], load: Load, *, seconds: float | None, nodes: int | None, seed: int
) -> Chosen:
    """The best choice of columns, or the best found in time, from what is accepted now on."""
    if not columns:
        return Chosen([], 0.0)
    answer = solve(_program(ground, columns, load), seconds=seconds, nodes=nodes, seed=seed)
    chosen = [] if answer.point is None else [columns[j] for j in np.flatnonzero(answer.point > 0.5).tolist()]
    return Chosen(chosen, None if answer.bound is None else -answer.bound)


def _program(ground: Ground, columns: Sequence[Column], load: Load) -> Program:
    rows, column, by = _capacity_rows(ground, columns)
    kept, rows = _that_may_be_full(ground, columns, rows, column, by)
    column, by = column[kept], by[kept]
    capacities = int(rows.max(initial=-1)) + 1
    request = np.array([some.request for some in columns])
    every = np.arange(len(columns))
    shape = (capacities + len(ground.value), len(columns))
    entries = np.append(by, np.ones(len(columns)))
    where = (np.append(rows, capacities + request), np.append(column, every))
    return Program(
        cost=-ground.value[request],  # (2)
        lower=np.zeros(len(columns)),
        upper=np.ones(len(columns)),
        integral=np.ones(len(columns), dtype=np.bool_),  # (2c)
        matrix=csr_array((entries, where), shape=shape),
        row_lower=np.full(shape[0], -np.inf),
        row_upper=np.ones(shape[0]),  # (2a), (2b)
        start=_start(columns, load),
    )


def _capacity_rows(ground: Ground, columns: Sequence[Column]) -> tuple[IntArray, IntArray, FloatArray]:
    """(2a): row, column and entry of every use in every slot."""
    rows, column, by = [], [], []
    for j, some in enumerate(columns):
        amounts = np.flatnonzero(some.use)
        when = np.arange(ground.first[some.request], ground.last[some.request])
        rows.append((when[:, None] * ground.amounts + amounts).ravel())
        column.append(np.full(len(when) * len(amounts), j))
        by.append(np.tile(some.use[amounts], len(when)))
    return np.concatenate(rows), np.concatenate(column), np.concatenate(by)


def _that_may_be_full(
    ground: Ground, columns: Sequence[Column], rows: IntArray, column: IntArray, by: FloatArray
) -> tuple[IntArray, IntArray]:
    """Entries of the rows that can bind, and those rows numbered from 0: one plan of each request, the hungriest, is too much."""
    request = np.array([some.request for some in columns])[column]
    order = np.lexsort((-by, request, rows))
    new = np.ones(len(rows), dtype=np.bool_)
    new[1:] = (np.diff(rows[order]) != 0) | (np.diff(request[order]) != 0)
    most = np.bincount(rows[order][new], by[order][new], ground.slots * ground.amounts)
    kept = np.flatnonzero(most[rows] > 1.0)
    _, numbered = np.unique(rows[kept], return_inverse=True)
    return kept, numbered


def _start(columns: Sequence[Column], load: Load) -> FloatArray:
    """The choice that is accepted now; plans that are no column are left out."""
    now = (load.zone_of[some.request] for some in columns)
    same = [zone is not None and bool((zone == some.zone).all()) for zone, some in zip(now, columns, strict=True)]
    return np.array(same, dtype=np.float64)
