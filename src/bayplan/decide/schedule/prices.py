"""What room on a machine is worth at which instant, and the bound that follows from any such prices (Lagrange).

Give every machine's capacity of row r at instant t a price p(q, t, r), by kind q of machine. No schedule is worth more than

    D(p) = sum_q machines_q sum_tr p(q, t, r)  +  sum_j max(0, value_j - least cost_j)                                  (D)

where a request's cost on a kind is the sum of share x price over the instants at which it runs: a schedule's value is what its
requests pay, at most the price of all room, plus what they have left. So any prices prove a bound; the best prove the LP's.
"""

from dataclasses import dataclass

import numpy as np

from bayplan.decide.schedule.market import Market
from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.kernels.schedule.bound import Prices, surplus
from bayplan.model import FloatArray, IntArray

LIFT = 1e-10  # relative: more than the rounding of all sums of a million terms, added up block by block
ROUNDING = 1e-14  # of each value: what is left of it is rounded
BITS = 50  # of a price table: sums of prices are exact, so the difference of two sums is


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CellPrices:
    """Prices that are equal within cells of instants."""

    edge: IntArray  # (cell + 1,) instants
    price: FloatArray  # (kind, cell, row) of a whole machine at one instant

    @property
    def for_kernel(self) -> Prices:
        """Prices, a cell more, and their running sums."""
        each = np.pad(self.price, ((0, 0), (0, 1), (0, 0)))
        paid = np.zeros_like(each)
        np.cumsum(self.price * np.diff(self.edge)[None, :, None], axis=1, out=paid[:, 1:])
        return Prices(each=each, paid=paid)

    def on(self, edge: IntArray) -> "CellPrices":
        """The same prices on other cells: each takes that of its middle."""
        middle = (edge[:-1] + edge[1:]) // 2
        cell = np.searchsorted(self.edge, middle, side="right") - 1
        return CellPrices(edge=edge, price=np.ascontiguousarray(self.price[:, cell]))

    @property
    def rounded(self) -> "CellPrices":
        """Prices that are whole multiples of such a unit that no sum of them is rounded."""
        most = float((self.price * np.diff(self.edge)[None, :, None]).sum(axis=1).max(initial=0.0))
        if most <= 0.0:
            return self
        unit = 2.0 ** (np.ceil(np.log2(most)) - BITS)
        return CellPrices(edge=self.edge, price=np.floor(self.price / unit) * unit)


def proven(market: Market, prices: CellPrices) -> float:
    """D(p), lifted by more than what rounding may have taken; if values have a common unit, the last multiple of it."""
    exact = prices.rounded.for_kernel
    room = float((market.machines * exact.paid[:, -1].sum(axis=1)).sum())
    total = room + float(surplus(market.bidders(prices.edge), exact))
    lifted = total * (1.0 + LIFT) + ROUNDING * float(market.value.sum())
    unit = common_unit(market.value)
    return float(np.floor(lifted / unit) * unit) if unit else lifted


def common_unit(value: FloatArray) -> float:
    """The largest number that all values, and so those of all schedules, are whole multiples of; 0 if they are not whole."""
    whole = len(value) > 0 and float(value.sum()) < 2.0**52 and bool((value == np.floor(value)).all())
    return float(np.gcd.reduce(value.astype(np.int64))) if whole else 0.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PriceTable:
    """Prices of whole machines, per resource, and what they prove."""

    time: FloatArray  # (instant,) ascending: just after this time
    price: FloatArray  # (kind, instant, resource) zero or more
    bound: float  # no schedule is worth more

    @property
    def worth_of_one_more(self) -> FloatArray:
        """(kind,) by so much at most the bound rises for each machine more of that kind."""
        total: FloatArray = self.price.sum(axis=(1, 2))
        return total

    def costs(self, problem: ScheduleProblem, kind: int) -> FloatArray:
        """(request,) what these requests pay for their room on a machine of this kind; infinite where they do not fit."""
        paid = np.concatenate([np.zeros((1, self.price.shape[2])), np.cumsum(self.price[kind], axis=0)])
        first, past = np.searchsorted(self.time, problem.requests.start), np.searchsorted(self.time, problem.requests.end)
        fits, share = problem.fits(kind), problem.share(kind)
        return np.where(fits, (np.where(fits[:, None], share, 0.0) * (paid[past] - paid[first])).sum(axis=1), np.inf)
