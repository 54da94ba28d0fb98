"""The linear relaxation of (2) of [Online clusters] by column generation, with a proven bound in every round.

    max  sum_il b_i x_il                                           (2)
    s.t. sum_il f_il,m x_il <= 1     every amount m and slot t     (2a), as shares of the capacity
         sum_l x_il <= 1             every request i               (2b)

For any prices p >= 0, D(p) = sum p + sum_i max(0, b_i - least cost of i at p) is a bound of (2): its Lagrangian, or (3) with
the best u. The least cost is IQP (4). Prices are smoothed towards the best ones so far (Wentges 1997), because the prices
of the first master problems jump.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayplan.decide.admit.offline.cheapest_plans import CheapestPlans
from bayplan.decide.admit.offline.time_expanded import SLACK, exact_prices, safe_bound, use_shares
from bayplan.decide.admit.one_shot.one_shot_problem import OneShotPlacement
from bayplan.model import Clock, FloatArray, IntArray, Progress, Tick
from bayplan.model.interrupt import StopFlag
from bayplan.solvers.master import Master

SMOOTH = 0.7  # weight of the best prices so far
ENOUGH = 1e-4  # relative: the gap between master problem and bound at which it stops
LEAST_GAIN = 1e-8  # of the largest value: a plan that gains less than this is no better
SEARCHED = 2e-10  # relative: how much less than its bound the cheapest plan of a search may cost


class Column(NamedTuple):
    """A plan of a request, as a column of the master problem."""

    request: int
    zone: IntArray  # (member,)
    use: FloatArray  # (amount,)


@dataclass(slots=True)
class Relaxation:
    """The state of the column generation."""

    price: FloatArray  # (slot, amount) that prove the bound
    bound: float
    columns: list[Column]
    share: FloatArray  # (column,) x of the last master problem
    closed: bool = False  # is the bound the optimum of the relaxation?


class ColumnGeneration:
    """The master problem and its columns. `run` improves `state` until it is closed or the clock has expired."""

    def __init__(self, plans: CheapestPlans, price: FloatArray, bound: float) -> None:
        self.plans, self.expanded = plans, plans.expanded
        self.state = Relaxation(price=price, bound=bound, columns=[], share=np.zeros(0))
        self._known: set[tuple[int, bytes]] = set()
        self._slot_rows = self.expanded.slots * self.expanded.amounts
        rows = self._slot_rows + len(self.expanded.value)
        self._master = Master(np.full(rows, -np.inf), np.ones(rows), interior=True)

    def add(self, i: int, zone: IntArray) -> bool:
        """Add a plan to the master problem; False if it is there already."""
        key = (i, zone.tobytes())
        if key in self._known:
            return False
        self._known.add(key)
        use = use_shares(self.expanded, i, zone)
        used = np.flatnonzero(use)
        when = np.arange(self.expanded.first[i], self.expanded.last[i]) * self.expanded.amounts
        rows = np.append((when[:, None] + used).ravel(), self._slot_rows + i)
        self._master.add(-self.expanded.value[i], rows, np.append(np.tile(use[used], len(when)), 1.0))
        self.state.columns.append(Column(i, zone, use))
        return True

    def run(self, clock: Clock, stop: StopFlag, *, seed: int, enough: float, progress: Progress) -> None:
        """Run rounds until the bound is at most `enough`, or the relaxation is solved, or time is over."""
        weight, quick, rounds = SMOOTH, False, 0
        while not (self.state.closed or self.state.bound <= enough or clock.expired(rounds) or stop.requested):
            solved = self._solve(clock)
            if solved is None:
                return
            value, price, gain = solved
            if self.state.bound - value <= ENOUGH * self.state.bound:
                self.state.closed = True
                return
            target = exact_prices(weight * self.state.price + (1 - weight) * price)
            placements = self._cheapest(target, quick, seed, clock, stop)
            if not quick:
                self._bound(target, placements)
            added = self._add_improving(placements, self.expanded.during(price), gain)
            if added:
                weight, quick = SMOOTH, not self._all_listed()
            elif quick:
                quick = False
            elif weight:
                weight = 0.0
            else:
                self.state.closed = True
            rounds += 1
            done = min(1.0, value / self.state.bound) if self.state.bound > 0 else 1.0
            progress(Tick(stage="bounding", done=done, score=value * self.expanded.unit))

    def _all_listed(self) -> bool:
        return len(self.plans.listed) + len(self.plans.infeasible) == len(self.expanded.value)

    def _solve(self, clock: Clock) -> tuple[float, FloatArray, FloatArray] | None:
        """Value and prices (slot, amount) of the master problem, and each request's gain (u of (3)); None: out of time."""
        if not self._master.columns:
            return 0.0, self.state.price, np.zeros(len(self.expanded.value))
        limit = clock.budget.seconds
        solved = self._master.solve_within(None if limit is None else limit - clock.seconds)
        if solved is None:
            return None
        cost, self.state.share, dual = solved
        price = np.maximum(-dual[: self._slot_rows].reshape(self.expanded.slots, self.expanded.amounts), 0.0)
        return -cost, price, np.maximum(-dual[self._slot_rows :], 0.0)

    def _cheapest(self, price: FloatArray, quick: bool, seed: int, clock: Clock, stop: StopFlag) -> dict[int, OneShotPlacement]:
        """The cheapest plan of each request at prices; out of time: no plan and a floor of its cost."""
        total, placements = self.expanded.during(price), {}
        late = False
        for i in self.plans.candidates:
            late = late or (i not in self.plans.listed and (stop.requested or clock.expired()))
            placements[i] = self.plans.floor(i, total[i]) if late else self.plans.cheapest(i, total[i], quick=quick, seed=seed)
        return placements

    def _bound(self, price: FloatArray, placements: Mapping[int, OneShotPlacement]) -> None:
        """Keep D(p) and its prices if no bound so far is lower. `price`: exact. The referee grants links `SLACK` more."""
        least = {i: plan.bound * (1.0 if i in self.plans.listed else 1.0 - SEARCHED) for i, plan in placements.items()}
        gains = sum(max(0.0, self.expanded.value[i] - cost) for i, cost in least.items())
        links = float(price[:, -self.expanded.links :].sum())
        bound = safe_bound(float(price.sum()) + SLACK * links + float(gains), self.expanded.value)
        if bound < self.state.bound:
            self.state.bound, self.state.price = bound, price

    def _add_improving(self, placements: Mapping[int, OneShotPlacement], total: FloatArray, gain: FloatArray) -> int:
        """Add the plans that gain more, at the prices of the master problem, than its own; returns their number."""
        added = 0
        for i, placement in placements.items():
            here = self.plans.cheapest(i, total[i]).zone if i in self.plans.listed else None
            for zone in (plan for plan in (placement.zone, here) if plan is not None):
                worth = self.expanded.value[i] - float(use_shares(self.expanded, i, zone) @ total[i])
                if worth > gain[i] + LEAST_GAIN:
                    added += self.add(i, zone)
        return added
