"""The integer program (2) of [Online clusters] over given columns, by HiGHS."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from bayplan.decide.admit.offline.column_generation import Column
from bayplan.decide.admit.offline.slot_loads import SlotLoads
from bayplan.decide.admit.offline.time_expanded import SLACK, TimeExpandedStream
from bayplan.model import FloatArray, IntArray
from bayplan.solvers.highs import exact_error, solve
from bayplan.solvers.program import Program


class ChosenColumns(NamedTuple):
    """The best choice of columns found, and a bound, if there is one: no choice of them is worth more."""

    columns: list[Column]
    bound: float | None


class MatrixEntries(NamedTuple):
    """Nonzero coefficients of a matrix."""

    row: IntArray
    column: IntArray
    value: FloatArray


def choose_columns(
    expanded: TimeExpandedStream,
    columns: Sequence[Column],
    incumbent: SlotLoads,
    *,
    seconds: float | None,
    nodes: int | None,
    seed: int,
    exact: bool = False,
) -> ChosenColumns:
    """The best choice of columns, or the best found in time, starting from the incumbent. Only an `exact` search has a bound."""
    if not columns:
        return ChosenColumns([], 0.0 if exact else None)
    program = _program(expanded, columns, incumbent)
    answer = solve(program, seconds=seconds, nodes=nodes, seed=seed, presolve=not exact, exact=exact)
    chosen = [] if answer.point is None else [columns[j] for j in np.flatnonzero(answer.point > 0.5).tolist()]
    if not exact or answer.bound is None:
        return ChosenColumns(chosen, None)
    return ChosenColumns(chosen, -answer.bound * (1.0 + exact_error(len(columns))))


def _program(expanded: TimeExpandedStream, columns: Sequence[Column], incumbent: SlotLoads) -> Program:
    request = np.array([column.request for column in columns])
    capacity = _binding_rows(expanded, request, _capacity_entries(expanded, columns))
    capacities = int(capacity.row.max(initial=-1)) + 1
    shape = (capacities + len(expanded.value), len(columns))
    value = np.append(capacity.value, np.ones(len(columns)))
    where = (np.append(capacity.row, capacities + request), np.append(capacity.column, np.arange(len(columns))))
    return Program(
        cost=-expanded.value[request],  # (2)
        lower=np.zeros(len(columns)),
        upper=np.ones(len(columns)),
        integral=np.ones(len(columns), dtype=np.bool_),  # (2c)
        matrix=csr_array((value, where), shape=shape),
        row_lower=np.full(shape[0], -np.inf),
        row_upper=np.append(np.full(capacities, 1.0 + 2.0 * SLACK), np.ones(len(expanded.value))),  # (2a), (2b)
        start=_start(columns, incumbent),
    )


def _capacity_entries(expanded: TimeExpandedStream, columns: Sequence[Column]) -> MatrixEntries:
    """(2a): what every column uses of every amount in every slot."""
    rows, indices, values = [], [], []
    for j, column in enumerate(columns):
        amounts = np.flatnonzero(column.use)
        when = np.arange(expanded.first[column.request], expanded.last[column.request])
        rows.append((when[:, None] * expanded.amounts + amounts).ravel())
        indices.append(np.full(len(when) * len(amounts), j))
        values.append(np.tile(column.use[amounts], len(when)))
    return MatrixEntries(np.concatenate(rows), np.concatenate(indices), np.concatenate(values))


def _binding_rows(expanded: TimeExpandedStream, request_of: IntArray, entries: MatrixEntries) -> MatrixEntries:
    """MatrixEntries of the rows that can bind, renumbered from 0: where the largest plans of all requests together exceed 1."""
    request = request_of[entries.column]
    order = np.lexsort((-entries.value, request, entries.row))
    row, value = entries.row[order], entries.value[order]
    largest = np.ones(len(order), dtype=np.bool_)  # the first, so largest, entry of a request in a row
    largest[1:] = (np.diff(row) != 0) | (np.diff(request[order]) != 0)
    most = np.bincount(row[largest], value[largest], expanded.slots * expanded.amounts)
    kept = np.flatnonzero(most[entries.row] > 1.0)
    _, numbered = np.unique(entries.row[kept], return_inverse=True)
    return MatrixEntries(numbered, entries.column[kept], entries.value[kept])


def _start(columns: Sequence[Column], incumbent: SlotLoads) -> FloatArray:
    """(column,) the incumbent; its plans that are not among the columns are left out."""
    accepted = (incumbent.zone_of[column.request] for column in columns)
    same = [zone is not None and bool((zone == column.zone).all()) for zone, column in zip(accepted, columns, strict=True)]
    return np.array(same, dtype=np.float64)
