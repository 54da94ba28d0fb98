"""Rounds of pricing: walks while they find enough, then boxes, which find the best and prove a bound on the way."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from bayplan.decide.collocate.columns.pattern_master import DualPrices, PatternMaster
from bayplan.decide.collocate.columns.pricing import Chance
from bayplan.model import BoolArray, FloatArray, IntArray

LEAST = 1e-9  # reduced gain that counts
TINY = 1e-8  # a pattern that is better than the best known one by less is not looked for
INERTIA = 0.7  # of prices, from round to round
WALKS = 4  # of a type, in one round
SOME = 12  # types that one round looks at
FEW = 0.7  # new patterns per type: below that, boxes are looked at, too
EASES = (1.0, 0.95, 0.85, 0.7, 0.5)
COMPARED = 400  # types: more are not compared with each other
USED = 1e-6  # value of a column that the master uses


@dataclass(slots=True, kw_only=True, eq=False)
class PricingRounds:
    """A column generation under way, and the best bound so far."""

    columns: PatternMaster
    seed: int
    boxes: int = 3_000  # in one question
    bound: float = np.inf  # proven: no whole solution gains more
    at: DualPrices | None = None  # the prices of that bound
    done: bool = False  # no pattern can improve the master any more
    center: DualPrices | None = None
    rng: np.random.Generator = field(init=False)
    chance: Chance = field(init=False)
    below: BoolArray = field(init=False)  # (type, type) whatever runs on a machine of the first runs on one of the second

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        self.chance = np.array([0x9E3779B97F4A7C15 ^ (self.seed + 1)], dtype=np.uint64)
        self.below = _below(self.columns)

    def one(self, stop: Callable[[], bool]) -> None:
        """Solve the master and add patterns at prices between its own and those of the rounds before."""
        point = self.columns.solve()
        between = point if self.center is None else point.towards(self.center, INERTIA)
        self.center = between
        types = self._some()
        if self._walk(point, between, types, stop) >= FEW * len(types) or stop():
            return
        if self._look(point, between, stop) == 0 and not stop():
            self.center = None
            self.done = between is point and self.at is not None and self.bound <= self.columns.gain + 1e-6

    def _some(self) -> IntArray:
        """A few types, those of many machines more often."""
        number = self.columns.types.number.astype(np.float64)
        return self.rng.choice(len(number), min(SOME, len(number)), replace=False, p=number / number.sum())

    def _walk(self, point: DualPrices, between: DualPrices, types: IntArray, stop: Callable[[], bool]) -> int:
        """Patterns by annealing from those that the master uses; how many are new."""
        columns, cost, new = self.columns, self.columns.cost_at(between), 0
        used = np.flatnonzero(columns.value > USED)
        type_of = np.array(columns.type, dtype=np.int64)
        for t in types.tolist():
            if stop():
                return new
            mine = used[type_of[used] == t]
            starts = [columns.pattern[n] for n in self.rng.permutation(mine)[: WALKS // 2].tolist()]
            starts += [columns.pattern[n] for n in self.rng.permutation(used)[:1].tolist()]
            for start in [*starts, np.zeros(len(cost), dtype=np.int64)]:
                ease = float(self.rng.choice(EASES)) if start.any() else 0.5 * float(self.rng.choice(EASES))
                new += self._offer(t, columns.pricer(t).walked(cost, start, ease, self.chance)[0], point)
        return new

    def _offer(self, t: int, pattern: IntArray, point: DualPrices) -> bool:
        """Add a pattern if it improves the master; True if it is new."""
        adds = self.columns.sigma_of(t, pattern) - float(pattern @ self.columns.cost_at(point))
        return adds > point.cv[t] + LEAST and self.columns.add(t, pattern)

    def _look(self, point: DualPrices, between: DualPrices, stop: Callable[[], bool]) -> int:
        """Patterns by boxes, and the bound at these prices; how many patterns are new."""
        cost, new = self.columns.cost_at(between), 0
        known, number = self.columns.best_known(cost), self.columns.types.number
        upper = np.full(len(number), np.inf)
        for t in self._largest_first():
            upper[t] = upper[self.below[t]].min(initial=np.inf)
            if upper[t] <= known[t] + TINY:
                continue
            if stop():
                return new
            priced = self.columns.pricer(t).priced(cost, target=float(known[t]) + TINY, boxes=self.boxes, stop=stop)
            upper[t] = min(upper[t], priced.upper)
            new += sum(self._offer(t, pattern, point) for pattern in priced.pattern)
        self._note(between, upper)
        return new

    def prove(self, ends: float) -> None:
        """A bound at the prices of the last rounds, each type with its share of the time; none if that is too short."""
        point = self.columns.solve()
        point = point if self.center is None else point.towards(self.center, INERTIA)
        cost, upper = self.columns.cost_at(point), np.full(len(self.columns.types.number), np.inf)
        known, order = self.columns.best_known(cost), self._largest_first()
        for place, t in enumerate(order):
            now = time.perf_counter()
            if now > ends:
                return
            upper[t] = upper[self.below[t]].min(initial=np.inf)
            if upper[t] > known[t] + TINY:
                stop = _after(now + (ends - now) / (len(order) - place))
                priced = self.columns.pricer(t).priced(cost, target=float(known[t]) + TINY, boxes=self.boxes, stop=stop)
                upper[t] = min(upper[t], priced.upper)
        self._note(point, upper)

    def _note(self, point: DualPrices, upper: FloatArray) -> None:
        """Keep the bound at some prices, if it is the best so far."""
        columns = self.columns
        bound = float(point.pi @ columns.task.demand + point.mu.sum() + columns.types.number @ (upper + columns.base))
        if bound < self.bound:
            self.bound, self.at = bound, point

    def _largest_first(self) -> list[int]:
        """Types such that those that another one is below come before it."""
        order: list[int] = np.argsort(-self.below.sum(axis=0), kind="stable").tolist()
        return order


def _after(moment: float) -> Callable[[], bool]:
    return lambda: time.perf_counter() > moment


def _below(columns: PatternMaster) -> BoolArray:
    """(type, type) Is the first at most the second in room, in what it allows, and in what may come; the same in what stands?"""
    task, first = columns.task, columns.types.first
    rising = np.concatenate([task.room[first].T, task.allow[:, first], task.spare[:, first]]).astype(np.int64).T
    below = np.zeros((len(first), len(first)), dtype=np.bool_)
    for t in range(len(first) if len(first) <= COMPARED else 0):
        same = (task.fixed[:, first] == task.fixed[:, first[t], None]).all(axis=0)
        below[t] = same & (rising >= rising[t]).all(axis=1)
        below[t, t] = False
    return below
