"""`offline`: the best answer to a stream that is known from the start, and a bound, improved step by step."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from bayplan.decide.admit.decision import Refusal, RefusalCause, RefusalKind, admission_result
from bayplan.decide.admit.offline.aggregate_bound import aggregate_bound
from bayplan.decide.admit.offline.cheapest_plans import CheapestPlans, count_plans, enumerate_plans
from bayplan.decide.admit.offline.column_generation import Column, ColumnGeneration
from bayplan.decide.admit.offline.insertion import accept_columns, by_value_for_cost, improve, insert, rounded, value_for_cost
from bayplan.decide.admit.offline.integer_program import choose_columns
from bayplan.decide.admit.offline.slot_loads import SlotLoads
from bayplan.decide.admit.offline.time_expanded import TimeExpandedStream, time_expanded
from bayplan.decide.admit.options import AdmitOptions
from bayplan.model import Acceptance, Budget, Clock, ClusterRequests, Progress, Result, Tick, gap_closed, silent
from bayplan.model.interrupt import StopFlag, stoppable

ROUNDING = 1e-7  # of the bound: more than reduced costs are wrong
MOST_PLANS = 60_000  # of one request: with more, no proof by enumeration
MOST_COLUMNS = 30_000  # of an integer program
NODES = 100  # of HiGHS for each iteration, where a budget has no seconds
EXCHANGES = 10  # attempts to improve, for each request, or for each iteration if the budget has fewer
MOST_REQUESTS = 3000  # with more, the bound is that of the aggregate
MOST_ROWS = 30_000  # of a master problem: with more, no column generation


def offline(
    stream: ClusterRequests, options: AdmitOptions, *, budget: Budget, seed: int, progress: Progress
) -> Result[Acceptance]:
    """The most value that can be accepted (IP (1) of [Online clusters]), all requests known from the start; always with a bound.

    Insertion, then column generation on the compact-exponential program (2), then an integer program over the columns; where few
    plans can be part of a better answer, over all of them, which proves the optimum. Times are exact, not rounded to slots.
    """
    clock = budget.clock()
    with stoppable() as stop:
        search = OfflineSearch(time_expanded(stream), clock, stop, seed=seed, progress=progress)
        search.insert()
        _run_steps(search, (search.improve, search.generate, search.choose, search.prove, search.improve))
    return admission_result(
        stream,
        search.incumbent.zone_of,
        left_out=_refusals(search),
        bound=search.bound * search.expanded.unit,
        seconds=clock.seconds,
    )


def offline_bound(stream: ClusterRequests, *, budget: Budget = Budget(), seed: int = 0, progress: Progress = silent) -> float:
    """A proven bound: no answer to the stream is worth more. Any number of requests; the more time, the closer it gets."""
    with stoppable() as stop:
        search = OfflineSearch(time_expanded(stream), budget.clock(), stop, seed=seed, progress=progress, only_bound=True)
        steps = (search.insert, search.generate, search.choose, search.prove)
        _run_steps(search, steps if search.is_small else ())
    return search.bound * search.expanded.unit


def _run_steps(search: "OfflineSearch", steps: Sequence[Callable[[], None]]) -> None:
    for step in steps:
        if not search.over:
            step()


def _refusals(search: "OfflineSearch") -> tuple[Refusal, ...]:
    requests, refused = search.expanded.stream.requests, [i for i, zone in enumerate(search.incumbent.zone_of) if zone is None]
    kinds = [_kind(search, i) for i in refused]
    return tuple(Refusal(requests[i].name, kind, RefusalCause(kind=kind)) for i, kind in zip(refused, kinds, strict=True))


def _kind(search: "OfflineSearch", i: int) -> RefusalKind:
    if search.worth[i] > 0:
        return RefusalKind.NOT_CHOSEN
    return RefusalKind.FITS_NOWHERE_ALONE if search.expanded.value[i] > 0 else RefusalKind.NO_VALUE


class OfflineSearch:
    """The incumbent, the bound, and the steps that bring them together, each only as long as there is a gap and time."""

    def __init__(
        self,
        expanded: TimeExpandedStream,
        clock: Clock,
        stop: StopFlag,
        *,
        seed: int,
        progress: Progress,
        only_bound: bool = False,
    ) -> None:
        self.expanded, self.clock, self.stop, self.seed, self.progress = expanded, clock, stop, seed, progress
        self.is_small = len(expanded.value) <= MOST_REQUESTS
        self.incumbent = SlotLoads(expanded)
        totals = aggregate_bound(expanded, self._late(0.25 if self.is_small or not only_bound else 1.0))
        self.bound = totals.bound
        self.price = totals.spread(expanded)  # (slot, amount) that prove the bound
        self.worth = value_for_cost(totals.value, totals.cost)
        self.order = by_value_for_cost(self.worth)
        self.columns: list[Column] = []
        self.complete = False  # do the columns include every plan of every better answer?

    @property
    def over(self) -> bool:
        """Have incumbent and bound met, or is there no time left?"""
        return gap_closed(self.incumbent.value, self.bound) or self.stop.requested or self.clock.expired()

    def insert(self) -> None:
        """A first answer: insertion by value for cost."""
        insert(self.incumbent, self.order, self.expanded.during(self.price), self._late(0.5), seed=self.seed)
        self._report()

    def improve(self) -> None:
        """A better answer: refused requests in exchange for accepted ones."""
        limit = self.clock.budget.iterations
        rounds = EXCHANGES * (len(self.order) if limit is None else min(limit, len(self.order)))
        total = self.expanded.during(self.price)
        late = self._late(0.9 if self.columns else 0.3)
        improved = improve(self.incumbent, self.worth, total, late, rounds=rounds, seed=self.seed)
        self.incumbent = max(self.incumbent, improved, key=lambda loads: loads.value)
        self._report()

    def generate(self) -> None:
        """The bound of the relaxation of (2), or of as many rounds as time allows, and an answer rounded from it."""
        if not self.is_small or self.expanded.slots * self.expanded.amounts > MOST_ROWS:
            return
        generation = ColumnGeneration(CheapestPlans(self.expanded), self.price, self.bound)
        for i, zone in enumerate(self.incumbent.zone_of):
            if zone is not None:
                generation.add(i, zone)
        generation.run(self.part(0.6), self.stop, seed=self.seed, enough=self.incumbent.value, progress=self.progress)
        state = generation.state
        self.bound, self.price, self.columns = state.bound, state.price, state.columns
        self._finish(rounded(self.expanded, state.columns, state.share))

    def choose(self) -> None:
        """The best choice among columns that may be part of a better answer."""
        self._choose(0.4)

    def _choose(self, share: float, *, exact: bool = False) -> None:
        """The best choice among promising columns; a bound too, if these are all such plans and the search is exact."""
        columns = self._promising(self.columns)
        if len(columns) > MOST_COLUMNS or not (columns or exact):
            return
        left = self.part(share).budget
        nodes = None if left.seconds is not None or left.iterations is None else NODES * left.iterations
        chosen = choose_columns(
            self.expanded, columns, self.incumbent, seconds=left.seconds, nodes=nodes, seed=self.seed, exact=exact
        )
        if self.complete and chosen.bound is not None:  # every answer that is better than the incumbent is a choice of these
            self.bound = min(self.bound, max(chosen.bound, self.incumbent.value))
        loads = SlotLoads(self.expanded)
        accept_columns(loads, chosen.columns)
        self._finish(loads)

    def prove(self) -> None:
        """The best choice of all plans that may be part of a better answer, if they are few enough to enumerate."""
        self._enumerate_columns()
        for share, exact in ((0.4, False), (0.8, True)):  # the first is faster, the second proves
            if self.complete and not self.over:
                self._choose(share, exact=exact)

    def _enumerate_columns(self) -> None:
        columns: list[Column] = []
        total = self.expanded.during(self.price)
        for i in range(len(self.expanded.value)):
            if count_plans(self.expanded, i) > MOST_PLANS or len(columns) > MOST_COLUMNS:
                return
            if self.stop.requested or self.clock.expired():
                return
            plans = enumerate_plans(self.expanded, i)
            worth = self.expanded.value[i] - plans.use @ total[i]
            promising = np.flatnonzero(max(0.0, float(worth.max(initial=0.0))) - worth <= self._gap())
            columns += [Column(i, plans.zone[j], plans.use[j]) for j in promising.tolist()]
        self.columns, self.complete = columns, True

    def part(self, share: float) -> Clock:
        """A clock for a share of the seconds that are left."""
        budget = self.clock.budget
        left = self.clock.left(share)
        return Budget(seconds=left, iterations=budget.iterations, threads=budget.threads).clock()

    def _late(self, share: float) -> Callable[[], bool]:
        """A function that says whether this share of the seconds left is used up, or a stop was requested."""
        clock = replace(self.part(share), budget=replace(self.part(share).budget, iterations=None))
        return lambda: self.stop.requested or clock.expired()

    def _gap(self) -> float:
        """The largest reduced cost that a plan in a better answer can have at the prices of the bound, rounding included."""
        return (self.bound - self.incumbent.value) + ROUNDING * self.bound

    def _promising(self, columns: list[Column]) -> list[Column]:
        """Columns whose reduced cost is within the gap."""
        total = self.expanded.during(self.price)
        value = self.expanded.value
        loss = [float(column.use @ total[column.request]) - value[column.request] for column in columns]
        return [column for column, lost in zip(columns, loss, strict=True) if lost <= self._gap()]

    def _finish(self, loads: SlotLoads) -> None:
        """Add to an answer by insertion, and keep it if it is the best."""
        insert(loads, self.order, self.expanded.during(self.price), self._late(1.0), seed=self.seed)
        if loads.value > self.incumbent.value:
            self.incumbent = loads
        self._report()

    def _report(self) -> None:
        done = self.incumbent.value / self.bound if self.bound > 0 else 1.0
        self.progress(Tick(stage="searching", done=min(1.0, done), score=self.incumbent.value * self.expanded.unit))
