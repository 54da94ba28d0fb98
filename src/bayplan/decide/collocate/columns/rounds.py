"""Rounds of pricing: annealing while it finds enough patterns, then branch and bound, which also proves a bound.

The types of branch and bound may be priced on an engine. Annealing stays in this process: its walks draw one after the other from
one sequence of random numbers, and a round of it is short beside one of branch and bound over many types.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from bayplan.decide.collocate.columns.branch import PricedTypes, RoundTime, TypeInputs, TypeQuestion, after, price_types
from bayplan.decide.collocate.columns.pattern_master import AffinityMaster, DualPrices
from bayplan.decide.collocate.columns.pricing import Chance
from bayplan.engine.jobs import Shared
from bayplan.engine.lazy import LazyEngine
from bayplan.model import BoolArray, FloatArray, IntArray
from bayplan.model.interrupt import stop_requested

LEAST = 1e-9  # reduced gain that counts
TINY = 1e-8  # a pattern that is better than the best known one by less is not searched for
INERTIA = 0.7  # of prices, from round to round
WALKS = 4  # of a type, in one round
TYPES = 12  # in one round
FEW = 0.7  # new patterns per type: below that, branch and bound follows
EASES = (1.0, 0.95, 0.85, 0.7, 0.5)
COMPARED = 400  # types: more are not compared with each other
USED = 1e-6  # value of a column that the master uses


@dataclass(slots=True, kw_only=True, eq=False)
class PricingRounds:
    """A column generation under way, and the best bound so far."""

    master: AffinityMaster
    seed: int
    boxes: int = 3_000  # of one branch and bound
    engine: LazyEngine = field(default_factory=LazyEngine)  # where types are priced, once that is worth it
    ends: float = np.inf  # a moment of `time.perf_counter` at which its workers end
    bound: float = np.inf  # proven: no integer solution gains more
    at: DualPrices | None = None  # the prices of that bound
    done: bool = False  # no pattern can improve the master any more
    center: DualPrices | None = None  # prices of the rounds before
    rng: np.random.Generator = field(init=False)
    chance: Chance = field(init=False)
    inputs: Shared[TypeInputs] = field(init=False)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)
        self.chance = np.array([0x9E3779B97F4A7C15 ^ (self.seed + 1)], dtype=np.uint64)
        first, below = self.master.types.first, _below(self.master)
        self.inputs = Shared(TypeInputs(subproblem=self.master.subproblem, first=first, below=below))

    def price(self, stop: Callable[[], bool]) -> None:
        """Solve the master and add patterns at prices between its own and those of the rounds before."""
        prices = self.master.solve()
        between = prices if self.center is None else prices.towards(self.center, INERTIA)
        self.center = between
        types = self._random_types()
        if self._walk(prices, between, types, stop) >= FEW * len(types) or stop():
            return
        if self.branch(prices, between, stop) == 0 and not stop():
            self.center = None
            self.done = between is prices and self.at is not None and self.bound <= self.master.gain + 1e-6

    def _random_types(self) -> IntArray:
        """A few types, those of many machines more often."""
        number = self.master.types.number.astype(np.float64)
        return self.rng.choice(len(number), min(TYPES, len(number)), replace=False, p=number / number.sum())

    def _walk(self, prices: DualPrices, between: DualPrices, types: IntArray, stop: Callable[[], bool]) -> int:
        """Patterns by annealing from those that the master uses; how many are new."""
        master, cost, new = self.master, self.master.cost_at(between), 0
        used = np.flatnonzero(master.value > USED)
        type_of = np.array(master.type, dtype=np.int64)
        for t in types.tolist():
            if stop():
                return new
            of_type = used[type_of[used] == t]
            starts = [master.pattern[n] for n in self.rng.permutation(of_type)[: WALKS // 2].tolist()]
            starts += [master.pattern[n] for n in self.rng.permutation(used)[:1].tolist()]
            for start in [*starts, np.zeros(len(cost), dtype=np.int64)]:
                ease = float(self.rng.choice(EASES)) if start.any() else 0.5 * float(self.rng.choice(EASES))
                new += self._offer(t, master.pricer(t).walked(cost, start, ease, self.chance)[0], prices)
        return new

    def _offer(self, t: int, pattern: IntArray, prices: DualPrices) -> bool:
        """Add a pattern if it improves the master; True if it is new."""
        adds = self.master.sigma_of(t, pattern) - float(pattern @ self.master.cost_at(prices))
        return adds > prices.cv[t] + LEAST and self.master.add(t, pattern)

    def branch(self, prices: DualPrices, between: DualPrices, stop: Callable[[], bool]) -> int:
        """Patterns by branch and bound, and the bound at these prices; how many patterns are new."""
        answer = self._priced(between, RoundTime(stop, self.ends))
        new = sum(self._offer(t, pattern, prices) for t, priced in answer.priced.items() for pattern in priced.pattern)
        self._keep(between, answer.upper)
        return new

    def prove(self, ends: float) -> None:
        """A bound at the prices of the last rounds, each type with its share of the time; none if that is too short."""
        prices = self.master.solve()
        prices = prices if self.center is None else prices.towards(self.center, INERTIA)
        over = after(ends)
        time = RoundTime(lambda: stop_requested() or over(), ends, in_shares=True)
        self._keep(prices, self._priced(prices, time).upper)

    def _priced(self, prices: DualPrices, time: RoundTime) -> PricedTypes:
        """Patterns of all types that are better than the best known ones, and their bounds."""
        cost = self.master.cost_at(prices)
        question = TypeQuestion(
            inputs=self.inputs,
            order=self._largest_first(),
            cost=cost,
            target=self.master.best_known(cost) + TINY,
            boxes=self.boxes,
        )
        return price_types(question, self.master.pricer, time, self.engine)

    def _keep(self, prices: DualPrices, upper: FloatArray) -> None:
        """Keep the bound at some prices, if it is the best so far."""
        master = self.master
        bound = float(prices.pi @ master.subproblem.demand + prices.mu.sum() + master.types.number @ (upper + master.base))
        if bound < self.bound:
            self.bound, self.at = bound, prices

    def _largest_first(self) -> list[int]:
        """The types in an order in which each comes after those that it is below."""
        order: list[int] = np.argsort(-self.inputs.value.below.sum(axis=0), kind="stable").tolist()
        return order


def _below(master: AffinityMaster) -> BoolArray:
    """(type, type) does the first have no more free, allow no more, and run the same fixed containers as the second?"""
    subproblem, first = master.subproblem, master.types.first
    limits = subproblem.free[first].T, subproblem.allow[:, first], subproblem.set_free[:, first]
    rising = np.concatenate(limits).astype(np.int64).T
    below = np.zeros((len(first), len(first)), dtype=np.bool_)
    for t in range(len(first) if len(first) <= COMPARED else 0):
        same = (subproblem.fixed[:, first] == subproblem.fixed[:, first[t], None]).all(axis=0)
        below[t] = same & (rising >= rising[t]).all(axis=1)
        below[t, t] = False
    return below
