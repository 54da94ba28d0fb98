r"""The best prices of all, from the linear program itself, where it is small enough.

    max  sum_j value_j sum_q x_qj
    s.t. sum_q x_qj <= 1                                               every request j                 (P1)
         l_qtr = l_q,t-1,r + sum_{starts at t} a_qjr x_qj - sum_{ended at t} a_qjr x_qj                 (P2)
         0 <= l_qtr <= machines_q,  x >= 0                             every kind q, instant t, row r  (P3)

The load l of all machines of a kind follows from instant to instant, so the program has about two entries per request and row,
however long the requests run. The prices are the duals of l <= machines.
"""

import numpy as np
from scipy.sparse import coo_array

from bayplan.decide.schedule.market import Market
from bayplan.decide.schedule.prices import CellPrices
from bayplan.model import FloatArray, IntArray
from bayplan.solvers.master import duals_of
from bayplan.solvers.program import Program

MOST_FOR_SIMPLEX = 2_000  # requests


def program_of(market: Market) -> Program:
    """(P1)-(P3): columns x of the allowed pairs, then loads by kind, instant and row; rows (P1), then (P2)."""
    pairs = np.argwhere(market.allowed)  # (column, 2): kind, bidder
    n, n_x = len(market.value), len(pairs)
    kinds, rows = market.shape
    n_t = len(market.instants.time)
    n_l = kinds * n_t * rows
    parts = [(pairs[:, 1], np.arange(n_x), np.ones(n_x)), *_flow(market, pairs, n_x)]
    row, column, entry = (np.concatenate(list(arrays)) for arrays in zip(*parts, strict=True))
    return Program(
        cost=np.concatenate([-market.value[pairs[:, 1]], np.zeros(n_l)]),
        lower=np.zeros(n_x + n_l),
        upper=np.concatenate([np.full(n_x, np.inf), np.repeat(market.machines, n_t * rows)]),  # (P3)
        integral=np.zeros(n_x + n_l, dtype=np.bool_),
        matrix=coo_array((entry, (row, column)), shape=(n + n_l, n_x + n_l)).tocsr(),
        row_lower=np.concatenate([np.full(n, -np.inf), np.zeros(n_l)]),
        row_upper=np.concatenate([np.ones(n), np.zeros(n_l)]),
    )


def _flow(market: Market, pairs: IntArray, n_x: int) -> list[tuple[IntArray, IntArray, FloatArray]]:
    """Entries of (P2), written as l_t - l_t-1 - starts + ends = 0."""
    n, n_t, rows = len(market.value), len(market.instants.time), market.shape[1]
    place = np.arange(market.shape[0] * n_t * rows).reshape(market.shape[0], n_t, rows)  # of a load
    kind, bidder = pairs[:, 0], pairs[:, 1]
    first, past = market.instants.first[bidder], market.instants.past[bidder]
    ends = past < n_t
    later, before = place[:, 1:].ravel(), place[:, :-1].ravel()
    parts = [
        (n + place.ravel(), n_x + place.ravel(), np.ones(place.size)),
        (n + later, n_x + before, -np.ones(later.size)),
    ]
    for r in range(rows):
        share = market.share[kind, bidder, r]
        parts.append((n + place[kind, first, r], np.arange(n_x), -share))
        parts.append((n + place[kind[ends], past[ends], r], np.flatnonzero(ends), share[ends]))
    return parts


def best_prices(market: Market, *, seconds: float | None, threads: int = 1) -> CellPrices | None:
    """One price per kind, instant and row; None if the time is too short."""
    if not len(market.value):
        return None
    duals = duals_of(program_of(market), seconds=seconds, threads=threads, interior=len(market.value) > MOST_FOR_SIMPLEX)
    if duals is None:
        return None
    kinds, rows = market.shape
    n_t = len(market.instants.time)
    limit = duals.column[-kinds * n_t * rows :]
    return CellPrices(edge=np.arange(n_t + 1), price=np.maximum(0.0, -limit).reshape(kinds, n_t, rows))
