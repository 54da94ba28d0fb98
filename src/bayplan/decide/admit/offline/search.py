"""The best answer and the best bound of a stream, improved step by step, each step only as long as there is a gap and time."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from bayplan.decide.admit.offline.aggregate import aggregate
from bayplan.decide.admit.offline.book import Book
from bayplan.decide.admit.offline.columns import Column, Generation
from bayplan.decide.admit.offline.greedy import by_worth, insert, keep, rounded, worth_of
from bayplan.decide.admit.offline.ground import Ground
from bayplan.decide.admit.offline.improve import improve
from bayplan.decide.admit.offline.load import Load
from bayplan.decide.admit.offline.plans import how_many, plans_of
from bayplan.decide.admit.offline.whole import choose
from bayplan.model import Budget, Clock, Progress, Tick
from bayplan.model.interrupt import StopFlag

CLOSE = 1e-9  # relative: answer and bound have met
WRITTEN = 60_000  # plans of one request, at most, that are gone through for a proof
COLUMNS = 30_000  # of a program in whole numbers
NODES = 100  # of HiGHS for each iteration, where a budget has no seconds
EXCHANGES = 10  # attempts to make room in one go: so many for each request, and for each iteration if a budget has them
MANY = 3000  # requests, beyond which the bound is that of the totals
ROWS = 30_000  # of a master: beyond that it is not written


class Search:
    """An answer, a bound, and the steps that bring them together."""

    def __init__(
        self, ground: Ground, clock: Clock, stop: StopFlag, *, seed: int, progress: Progress, only_bound: bool = False
    ) -> None:
        self.ground, self.clock, self.stop, self.seed, self.progress = ground, clock, stop, seed, progress
        self.few = len(ground.value) <= MANY
        self.load = Load(ground)
        totals = aggregate(ground, self._late(0.25 if self.few or not only_bound else 1.0))
        self.bound = totals.bound
        self.price = totals.spread(ground)  # (slot, amount) those of the bound
        self.worth = worth_of(totals.value, totals.cost)
        self.order = by_worth(self.worth)
        self.columns: list[Column] = []
        self.complete = False  # no better answer has a plan that is not among the columns

    @property
    def over(self) -> bool:
        """Answer and bound have met, or there is no time left."""
        met = self.bound - self.load.value <= CLOSE * max(1.0, self.load.value)
        return met or self.stop.requested or self.clock.expired()

    def insert(self) -> None:
        """A first answer, by value for cost."""
        insert(self.load, self.order, self.ground.during(self.price), self._late(0.5), seed=self.seed)
        self._tell()

    def improve(self) -> None:
        """A better answer by making room for those refused."""
        limit = self.clock.budget.iterations
        rounds = EXCHANGES * (len(self.order) if limit is None else min(limit, len(self.order)))
        total = self.ground.during(self.price)
        load = improve(self.load, self.worth, total, self._late(0.9 if self.columns else 0.3), rounds=rounds, seed=self.seed)
        self.load = max(self.load, load, key=lambda some: some.value)
        self._tell()

    def generate(self) -> None:
        """The bound of the relaxation of (2), or that of as many rounds as time allows, and an answer rounded from it."""
        if not self.few or self.ground.slots * self.ground.amounts > ROWS:
            return
        generation = Generation(Book(self.ground), self.price, self.bound)
        for i, zone in enumerate(self.load.zone_of):
            if zone is not None:
                generation.add(i, zone)
        generation.run(self.part(0.6), self.stop, seed=self.seed, enough=self.load.value, progress=self.progress)
        state = generation.state
        self.bound, self.price, self.columns = state.bound, state.price, state.columns
        self._finish(rounded(self.ground, state.columns, state.share))

    def choose(self) -> None:
        """The best choice of the columns that may be in a better answer; if those are all plans that may be, a bound too."""
        columns = self._worth_it(self.columns)
        if not columns or len(columns) > COLUMNS:
            return
        left = self.part(0.8 if self.complete else 0.4).budget
        nodes = None if left.seconds is not None or left.iterations is None else NODES * left.iterations
        chosen = choose(self.ground, columns, self.load, seconds=left.seconds, nodes=nodes, seed=self.seed)
        if self.complete and chosen.bound is not None:
            self.bound = min(self.bound, max(chosen.bound, self.load.value))
        load = Load(self.ground)
        keep(load, chosen.columns)
        self._finish(load)

    def prove(self) -> None:
        """The best choice of all plans that may be part of a better answer, if they are few enough to go through."""
        self._write_out()
        if self.complete:
            self.choose()

    def _write_out(self) -> None:
        columns: list[Column] = []
        total = self.ground.during(self.price)
        for i in range(len(self.ground.value)):
            if how_many(self.ground, i) > WRITTEN or len(columns) > COLUMNS or self.stop.requested or self.clock.expired():
                return
            plans = plans_of(self.ground, i)
            worth = self.ground.value[i] - plans.use @ total[i]
            good = np.flatnonzero(max(0.0, float(worth.max(initial=0.0))) - worth <= self._gap())
            columns += [Column(i, plans.zone[j], plans.use[j]) for j in good.tolist()]
        self.columns, self.complete = columns, True

    def part(self, share: float) -> Clock:
        """A clock for a share of the seconds that are left."""
        budget = self.clock.budget
        left = None if budget.seconds is None else max(0.0, share * (budget.seconds - self.clock.seconds))
        return Budget(seconds=left, iterations=budget.iterations, threads=budget.threads).clock()

    def _late(self, share: float) -> Callable[[], bool]:
        """Is a share of the seconds that are left now used up, or has somebody asked to stop?"""
        clock = replace(self.part(share), budget=replace(self.part(share).budget, iterations=None))
        return lambda: self.stop.requested or clock.expired()

    def _gap(self) -> float:
        """What a plan may lose against the best of its request at the prices of the bound (reduced costs), rounding included."""
        return (self.bound - self.load.value) + 1e-7 * max(1.0, self.bound)

    def _worth_it(self, columns: list[Column]) -> list[Column]:
        """Columns without those that lose more than the gap."""
        total = self.ground.during(self.price)
        worth = np.array([self.ground.value[some.request] - float(some.use @ total[some.request]) for some in columns])
        return [some for some, loss in zip(columns, -worth, strict=True) if loss <= self._gap()]

    def _finish(self, load: Load) -> None:
        """Fill an answer up by insertion, and keep it if it is the best."""
        insert(load, self.order, self.ground.during(self.price), self._late(1.0), seed=self.seed)
        if load.value > self.load.value:
            self.load = load
        self._tell()

    def _tell(self) -> None:
        done = self.load.value / self.bound if self.bound > 0 else 1.0
        self.progress(Tick(stage="searching", done=min(1.0, done), score=self.load.value))
