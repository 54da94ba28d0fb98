"""Prices of machine capacity at each critical time, the bound that follows from any prices, and the best prices.

Give every machine's capacity of row r at critical time t a price p(q, t, r), by kind q of machine. No schedule is worth more than

    D(p) = sum_q machines_q sum_tr p(q, t, r)  +  sum_j max(0, value_j - least cost_j)                                  (D)

(Lagrange) where a request's cost on a kind is the sum of share x price over the critical times at which it runs: a schedule's
value is what its requests pay, at most the price of all capacity, plus what they have left. So any prices prove a bound; the best
prove that of the linear program


    max  sum_j value_j sum_q x_qj
    s.t. sum_q x_qj <= 1                                               every request j                 (P1)
         l_qtr = l_q,t-1,r + sum_{starts at t} a_qjr x_qj - sum_{ended at t} a_qjr x_qj                 (P2)
         0 <= l_qtr <= machines_q,  x >= 0                             every kind q, time t, row r     (P3)

The load l of all machines of a kind follows from one critical time to the next, so the program has about two entries per request
and row, however long the requests run. The best prices are the duals of l <= machines.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array

from bayplan.decide.schedule.priced_requests import PricedRequests
from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.kernels.schedule.bound import PriceSums, surplus
from bayplan.model import FloatArray, IntArray
from bayplan.solvers.master import duals_of
from bayplan.solvers.program import Program

LIFT = 1e-10  # relative: more than the rounding error of sums of a million terms, added block by block
ROUNDING = 1e-14  # of each value: the rounding error of value - cost
BITS = 50  # of a price: few enough for sums of prices, and so differences of sums, to be exact
MOST_FOR_SIMPLEX = 2_000  # requests; with more, the interior point method is faster


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CellPrices:
    """Prices that are equal within cells of critical times."""

    edge: IntArray  # (cell + 1,) critical times
    price: FloatArray  # (kind, cell, row) of a whole machine at one critical time

    @property
    def for_kernel(self) -> PriceSums:
        """The arrays of the kernel: prices with one cell more, and their running sums."""
        each = np.pad(self.price, ((0, 0), (0, 1), (0, 0)))
        paid = np.zeros_like(each)
        np.cumsum(self.price * np.diff(self.edge)[None, :, None], axis=1, out=paid[:, 1:])
        return PriceSums(price=each, running_sum=paid)

    def on(self, edge: IntArray) -> "CellPrices":
        """The prices on other cells: each cell takes the price at its middle."""
        middle = (edge[:-1] + edge[1:]) // 2
        cell = np.searchsorted(self.edge, middle, side="right") - 1
        return CellPrices(edge=edge, price=np.ascontiguousarray(self.price[:, cell]))

    @property
    def rounded(self) -> "CellPrices":
        """Prices rounded down to multiples of a unit so large that sums of them are exact."""
        most = float((self.price * np.diff(self.edge)[None, :, None]).sum(axis=1).max(initial=0.0))
        if most <= 0.0:
            return self
        unit = 2.0 ** (np.ceil(np.log2(most)) - BITS)
        return CellPrices(edge=self.edge, price=np.floor(self.price / unit) * unit)


def proven(priced: PricedRequests, prices: CellPrices) -> float:
    """D(p), raised by more than its rounding error; if all values have a common unit, rounded down to a multiple of it."""
    exact = prices.rounded.for_kernel
    capacity = float((priced.machines * exact.running_sum[:, -1].sum(axis=1)).sum())
    total = capacity + float(surplus(priced.for_kernel(prices.edge), exact))
    return rounded_down(total * (1.0 + LIFT) + ROUNDING * float(priced.value.sum()), priced.value)


def rounded_down(bound: float, value: FloatArray) -> float:
    """The bound, or the largest multiple of the common unit of all values that is not above it."""
    unit = common_unit(value)
    return float(np.floor(bound / unit) * unit) if unit and math.isfinite(bound) else bound


def common_unit(value: FloatArray) -> float:
    """The largest number that all values, and so the values of all schedules, are multiples of; 0 if values are not integers."""
    whole = len(value) > 0 and float(value.sum()) < 2.0**52 and bool((value == np.floor(value)).all())
    return float(np.gcd.reduce(value.astype(np.int64))) if whole else 0.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PriceTable:
    """Prices of whole machines, per resource, and the bound that they prove."""

    time: FloatArray  # (time,) ascending: just after this time
    price: FloatArray  # (kind, time, resource) zero or more
    bound: float  # no schedule is worth more

    @property
    def value_of_one_more(self) -> FloatArray:
        """(kind,) how much the bound rises at most for each additional machine of that kind."""
        total: FloatArray = self.price.sum(axis=(1, 2))
        return total

    def costs(self, problem: ScheduleProblem, kind: int) -> FloatArray:
        """(request,) the price of the capacity that each takes on a machine of this kind; infinite where it does not fit."""
        paid = np.concatenate([np.zeros((1, self.price.shape[2])), np.cumsum(self.price[kind], axis=0)])
        first, past = np.searchsorted(self.time, problem.requests.start), np.searchsorted(self.time, problem.requests.end)
        fits, share = problem.fits(kind), problem.share(kind)
        return np.where(fits, (np.where(fits[:, None], share, 0.0) * (paid[past] - paid[first])).sum(axis=1), np.inf)


def price_program(priced: PricedRequests) -> Program:
    """(P1)-(P3): columns x of the allowed pairs, then loads by kind, critical time and row; rows (P1), then (P2)."""
    pairs = np.argwhere(priced.allowed)  # (column, 2): kind, candidate
    n, n_x = len(priced.value), len(pairs)
    kinds, rows = priced.shape
    n_t = len(priced.critical.time)
    n_l = kinds * n_t * rows
    parts = [(pairs[:, 1], np.arange(n_x), np.ones(n_x)), *_flow(priced, pairs, n_x)]
    row, column, entry = (np.concatenate(list(arrays)) for arrays in zip(*parts, strict=True))
    return Program(
        cost=np.concatenate([-priced.value[pairs[:, 1]], np.zeros(n_l)]),
        lower=np.zeros(n_x + n_l),
        upper=np.concatenate([np.full(n_x, np.inf), np.repeat(priced.machines, n_t * rows)]),  # (P3)
        integral=np.zeros(n_x + n_l, dtype=np.bool_),
        matrix=coo_array((entry, (row, column)), shape=(n + n_l, n_x + n_l)).tocsr(),
        row_lower=np.concatenate([np.full(n, -np.inf), np.zeros(n_l)]),
        row_upper=np.concatenate([np.ones(n), np.zeros(n_l)]),
    )


def _flow(priced: PricedRequests, pairs: IntArray, n_x: int) -> list[tuple[IntArray, IntArray, FloatArray]]:
    """Entries of (P2), written as l_t - l_t-1 - starts + ends = 0."""
    n, n_t, rows = len(priced.value), len(priced.critical.time), priced.shape[1]
    load = np.arange(priced.shape[0] * n_t * rows).reshape(priced.shape[0], n_t, rows)  # numbers of the loads l
    kind, candidate = pairs[:, 0], pairs[:, 1]
    first, past = priced.critical.first[candidate], priced.critical.past[candidate]
    ends = past < n_t
    later, before = load[:, 1:].ravel(), load[:, :-1].ravel()
    parts = [
        (n + load.ravel(), n_x + load.ravel(), np.ones(load.size)),
        (n + later, n_x + before, -np.ones(later.size)),
    ]
    for r in range(rows):
        share = priced.share[kind, candidate, r]
        parts.append((n + load[kind, first, r], np.arange(n_x), -share))
        parts.append((n + load[kind[ends], past[ends], r], np.flatnonzero(ends), share[ends]))
    return parts


def best_prices(priced: PricedRequests, *, seconds: float | None, threads: int = 1) -> CellPrices | None:
    """The best prices, one per kind, critical time and row; None if there is too little time."""
    if not len(priced.value):
        return None
    duals = duals_of(price_program(priced), seconds=seconds, threads=threads, interior=len(priced.value) > MOST_FOR_SIMPLEX)
    if duals is None:
        return None
    kinds, rows = priced.shape
    n_t = len(priced.critical.time)
    limit = duals.column[-kinds * n_t * rows :]
    return CellPrices(edge=np.arange(n_t + 1), price=np.maximum(0.0, -limit).reshape(kinds, n_t, rows))
