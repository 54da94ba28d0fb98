"""The linear relaxation of (2) of 001 by column generation, with a proven bound in every round.

    max  sum_il b_i x_il                                           (2)
    s.t. sum_il f_il,m x_il <= 1     every amount m and slot t     (2a), as shares of the capacity
         sum_l x_il <= 1             every request i               (2b)

For any prices p >= 0, D(p) = sum p + sum_i max(0, b_i - least cost of i at p) is a bound of (2): its Lagrangian, or (3) with
the best u. The least cost is IQP (4). Prices are smoothed towards the best ones so far (Wentges 1997), for those of the first
masters jump.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayplan.decide.admit.offline.book import Book
from bayplan.decide.admit.offline.ground import use_of
from bayplan.decide.admit.oneshot.case import Placing
from bayplan.model import Clock, FloatArray, IntArray, Progress, Tick
from bayplan.model.interrupt import StopFlag
from bayplan.solvers.master import Master

SMOOTH = 0.7  # weight of the best prices so far
CLOSED = 1e-4  # relative: master and bound have met
GAINS = 1e-8  # relative: a plan that gains less than this is no better


class Column(NamedTuple):
    """A plan of a request that the master may use."""

    request: int
    zone: IntArray  # (member,)
    use: FloatArray  # (amount,)


@dataclass(slots=True)
class Relaxation:
    """Where the column generation stands."""

    price: FloatArray  # (slot, amount) those of the bound
    bound: float
    columns: list[Column]
    share: FloatArray  # (column,) x of the last master
    closed: bool = False  # the bound is the optimum of the relaxation


class Generation:
    """A master and its columns. `run` improves `state` until it is closed or the clock has expired."""

    def __init__(self, book: Book, price: FloatArray, bound: float) -> None:
        self.book, self.ground = book, book.ground
        self.state = Relaxation(price=price, bound=bound, columns=[], share=np.zeros(0))
        self._known: set[tuple[int, bytes]] = set()
        self._slot_rows = self.ground.slots * self.ground.amounts
        rows = self._slot_rows + len(self.ground.value)
        self._master = Master(np.full(rows, -np.inf), np.ones(rows), interior=True)

    def add(self, i: int, zone: IntArray) -> bool:
        """Give the master a plan; False if it has it."""
        key = (i, zone.tobytes())
        if key in self._known:
            return False
        self._known.add(key)
        use = use_of(self.ground, i, zone)
        some = np.flatnonzero(use)
        when = np.arange(self.ground.first[i], self.ground.last[i]) * self.ground.amounts
        rows = np.append((when[:, None] + some).ravel(), self._slot_rows + i)
        self._master.add(-self.ground.value[i], rows, np.append(np.tile(use[some], len(when)), 1.0))
        self.state.columns.append(Column(i, zone, use))
        return True

    def run(self, clock: Clock, stop: StopFlag, *, seed: int, enough: float, progress: Progress) -> None:
        """Rounds until the bound is at most `enough`, or the relaxation is solved, or time is over."""
        weight, quick, rounds = SMOOTH, False, 0
        while not (self.state.closed or self.state.bound <= enough or clock.expired(rounds) or stop.requested):
            solved = self._solve(clock)
            if solved is None:
                return
            value, price, gain = solved
            if self.state.bound - value <= CLOSED * max(1.0, value):
                self.state.closed = True
                return
            target = weight * self.state.price + (1 - weight) * price
            found = self._cheapest(target, quick, seed, clock, stop)
            if not quick:
                self._bound(target, found)
            added = self._add_improving(found, self.ground.during(price), gain)
            if added:
                weight, quick = SMOOTH, not self._all_listed()
            elif quick:
                quick = False
            elif weight:
                weight = 0.0
            else:
                self.state.closed = True
            rounds += 1
            progress(Tick(stage="bounding", done=min(1.0, value / max(self.state.bound, 1e-9)), score=value))

    def _all_listed(self) -> bool:
        return len(self.book.listed) + len(self.book.out) == len(self.ground.value)

    def _solve(self, clock: Clock) -> tuple[float, FloatArray, FloatArray] | None:
        """The value of the master, its prices (slot, amount), and what each request gains at them (u of (3)); None: too late."""
        if not self._master.columns:
            return 0.0, self.state.price, np.zeros(len(self.ground.value))
        limit = clock.budget.seconds
        found = self._master.solve_within(None if limit is None else limit - clock.seconds)
        if found is None:
            return None
        cost, self.state.share, dual = found
        price = np.maximum(-dual[: self._slot_rows].reshape(self.ground.slots, self.ground.amounts), 0.0)
        return -cost, price, np.maximum(-dual[self._slot_rows :], 0.0)

    def _cheapest(self, price: FloatArray, quick: bool, seed: int, clock: Clock, stop: StopFlag) -> dict[int, Placing]:
        """The cheapest plan of each request at prices; when time is over, no plan and a floor of its cost."""
        total, found = self.ground.during(price), {}
        late = False
        for i in self.book.candidates:
            late = late or (i not in self.book.listed and (stop.requested or clock.expired()))
            found[i] = self.book.floor(i, total[i]) if late else self.book.cheapest(i, total[i], quick=quick, seed=seed)
        return found

    def _bound(self, price: FloatArray, found: Mapping[int, Placing]) -> None:
        """Keep D(p) and its prices if no bound so far is lower."""
        gains = (max(0.0, self.ground.value[i] - placing.bound) for i, placing in found.items())
        bound = float(price.sum() + sum(gains))
        if bound < self.state.bound:
            self.state.bound, self.state.price = bound, price

    def _add_improving(self, found: Mapping[int, Placing], total: FloatArray, gain: FloatArray) -> int:
        """Add the plans that gain more than the master's at its own prices: how many."""
        added = 0
        for i, placing in found.items():
            here = self.book.cheapest(i, total[i]).zone if i in self.book.listed else None
            for zone in (some for some in (placing.zone, here) if some is not None):
                worth = self.ground.value[i] - float(use_of(self.ground, i, zone) @ total[i])
                if worth > gain[i] + GAINS * max(1.0, self.ground.value[i]):
                    added += self.add(i, zone)
        return added
