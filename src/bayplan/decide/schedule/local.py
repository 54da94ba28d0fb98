"""`local`: Cradle+ improved within a budget, by a second schedule from prices, then by exchanges on a few machines at a time.

The reasoning is in docs/verbs/schedule-online.md. Never worth less than Cradle+; the best schedule seen is kept.
"""

from dataclasses import dataclass

import numpy as np

from bayplan.decide.schedule.best_effort import best_effort, profile_of
from bayplan.decide.schedule.bound import prices, upper_bound, wide_rows_pay
from bayplan.decide.schedule.cradle import cradle_choice
from bayplan.decide.schedule.online import served_at
from bayplan.decide.schedule.options import ScheduleOptions
from bayplan.decide.schedule.prices import PriceTable
from bayplan.decide.schedule.problem import ScheduleProblem, schedule_result
from bayplan.kernels.schedule.exchange import PASSES, ExchangePool, ExchangeScratch, exchanges
from bayplan.model import UNPLACED, Budget, Clock, FloatArray, IntArray, Progress, Result, Schedule, Tick, gap_closed
from bayplan.model.arrays import random_state
from bayplan.model.interrupt import StopFlag, stoppable

MULTIPLES = (1.0, 1.05, 1.1, 1.2, 0.9)  # of the price, in the order in which they are tried
PRICING = 0.4  # of the seconds that are left after Cradle+
BATCH = 50  # exchanges between two readings of the clock
FEWEST, PER_REQUEST = 100, 0.2  # exchanges if the budget has no limit
RESERVE = 0.1  # of the seconds, for the last best effort and the referee
ROUNDING = 1e-12  # relative: the error of a sum of values
CHANGES_PER_CELL = 4  # starts and ends of one machine in one cell, if all machines are equally busy
FEWEST_CELLS, MOST_CELLS = 4, 1024
MOST_PAIRS = 1 << 21  # of machine and cell
WINDOW = 3  # cells of one exchange
MACHINES = 4  # in one exchange at most
MOST_EJECTED = 4096  # requests in one exchange at most
HOPELESS = 1.5  # cost per value: unplaced requests above it are never tried
PRICE_WEIGHT = 0.5  # in an exchange a request counts with its value less this share of its cost


def local(
    problem: ScheduleProblem, options: ScheduleOptions, *, budget: Budget, seed: int, progress: Progress
) -> Result[Schedule]:
    """The best of Cradle+, of serving by prices in start order, and of exchanges from there. An iteration is one exchange.

    The bound is that of the prices, if there was time for them. It ends early if the bound is reached or all requests are served.
    """
    clock = budget.clock()
    with stoppable() as stop:
        best = BestSchedule(problem, best_effort(problem, cradle_choice(problem)))
        limits = SearchLimits(clock=clock, stop=stop, progress=progress, best=best)
        bound = best.limit if best.reached else None
        if not limits.over:
            table = prices(problem, clock=limits.pricing(), progress=progress)
            bound = best.limit = _bound(problem, table, limits)
            _improve(problem, best, least_costs(problem, table), limits, seed)
    return schedule_result(problem, best.machine_of, bound=bound if options.bound else None, seconds=clock.seconds)


class BestSchedule:
    """The most valuable schedule seen; of equal ones the first."""

    def __init__(self, problem: ScheduleProblem, machine_of: IntArray) -> None:
        self.value_of = problem.requests.value
        self.machine_of, self.value = machine_of, self._worth(machine_of)
        self.limit = float(self.value_of[problem.possible].sum())  # no schedule is worth more

    @property
    def reached(self) -> bool:
        """Has the value reached the limit?"""
        return gap_closed(self.value, self.limit)

    def offer(self, machine_of: IntArray) -> None:
        """Keep a copy if it is worth more."""
        value = self._worth(machine_of)
        if value > self.value:
            self.machine_of, self.value = machine_of.copy(), value

    def _worth(self, machine_of: IntArray) -> float:
        return float(self.value_of[machine_of != UNPLACED].sum())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SearchLimits:
    """The clock, interrupts and progress of the search."""

    clock: Clock
    stop: StopFlag
    progress: Progress
    best: BestSchedule

    @property
    def over(self) -> bool:
        """Is the time over, except for the reserve, or nothing left to gain?"""
        seconds = self.clock.budget.seconds
        late = seconds is not None and self.clock.seconds >= (1 - RESERVE) * seconds
        return late or self.stop.requested or self.best.reached

    def pricing(self) -> Clock:
        """The clock of the search for prices."""
        left = self.clock.left(PRICING)
        return Budget(seconds=left, threads=self.clock.budget.threads).clock()

    def steps(self, requests: int) -> int | None:
        """The most exchanges; None if only the clock limits them."""
        budget = self.clock.budget
        if budget.iterations is not None or budget.seconds is not None:
            return budget.iterations
        return max(FEWEST, int(PER_REQUEST * requests))


def _bound(problem: ScheduleProblem, table: PriceTable, limits: SearchLimits) -> float:
    """The bound of the prices, or a better one with rows for wide requests."""
    if limits.over or not wide_rows_pay(problem):
        return table.bound
    return min(table.bound, upper_bound(problem, clock=limits.pricing(), progress=limits.progress))


def least_costs(problem: ScheduleProblem, table: PriceTable) -> FloatArray:
    """(request,) its cost on the kind of machine where that is least; infinite where it fits nowhere."""
    kinds = [table.costs(problem, kind) for kind in np.flatnonzero(problem.fleet.machines).tolist()]
    least: FloatArray = np.minimum.reduce(kinds)
    return least


def _improve(problem: ScheduleProblem, best: BestSchedule, cost: FloatArray, limits: SearchLimits, seed: int) -> None:
    """Serve by prices at several multiples, then exchange from the best."""
    value = problem.requests.value
    cost_per_value = np.where(value > 0, cost / np.where(value > 0, value, 1.0), np.inf)
    for multiple in MULTIPLES:
        if not limits.over:
            best.offer(_filled(problem, served_at(problem, np.where(np.isfinite(cost), cost, 0.0), multiple), cost_per_value))
            limits.progress(Tick(stage="pricing", done=0.0, score=best.value))
    if not limits.over:
        _exchange(problem, best, ExchangeSearch(problem, best.machine_of, cost_per_value, seed), limits)
        if not limits.clock.expired():
            best.offer(_filled(problem, best.machine_of, cost_per_value))


def _filled(problem: ScheduleProblem, machine_of: IntArray, cost_per_value: FloatArray) -> IntArray:
    """The schedule with all requests that still fit: the least cost per value first, requests without value last."""
    order = np.argsort(cost_per_value, kind="stable")
    return best_effort(problem, machine_of, order[(machine_of[order] == UNPLACED) & problem.possible[order]])


def _exchange(problem: ScheduleProblem, best: BestSchedule, search: "ExchangeSearch", limits: SearchLimits) -> None:
    """Exchanges until the budget is used up or nothing more can be gained."""
    done, most = 0, limits.steps(len(problem.requests.name))
    while search.possible and not limits.over and (most is None or done < most):
        steps = BATCH if most is None else min(BATCH, most - done)
        search.go(steps)
        done += steps
        best.offer(search.machine_of)
        limits.progress(Tick(stage="searching", done=done / most if most else _passed(limits.clock), score=best.value))


def _passed(clock: Clock) -> float:
    """The share of the seconds that has passed."""
    return min(1.0, clock.seconds / clock.budget.seconds) if clock.budget.seconds else 0.0


class ExchangeSearch:
    """A schedule and what is free on its machines over time; `go` keeps both consistent."""

    def __init__(self, problem: ScheduleProblem, machine_of: IntArray, cost_per_value: FloatArray, seed: int) -> None:
        self.machine_of = machine_of.copy()
        self._profile = profile_of(problem, self.machine_of, cells=_cell_count(problem, machine_of))
        value = problem.requests.value
        member = np.flatnonzero(((cost_per_value <= HOPELESS) | (machine_of != UNPLACED)) & (value > 0))
        member = member[np.argsort(self._profile.first[member], kind="stable")]
        self._pool = ExchangePool(
            request=member,
            first=self._profile.first[member],
            cost_ratio=cost_per_value,
            score=np.where(
                np.isfinite(cost_per_value),
                (1.0 - PRICE_WEIGHT * np.where(np.isfinite(cost_per_value), cost_per_value, 0.0)) * value,
                0.0,
            ),
        )
        self._draft = ExchangeScratch(
            machine=np.zeros(MACHINES, dtype=np.int64),
            out=np.zeros(MOST_EJECTED, dtype=np.int64),
            origin=np.zeros(MOST_EJECTED, dtype=np.int64),
            into=np.zeros(len(member), dtype=np.int64),
            limit=np.zeros(PASSES),
        )
        self._random_state = random_state(seed)

    @property
    def possible(self) -> bool:
        """Is there any request to exchange?"""
        return len(self._pool.request) > 0

    def go(self, steps: int) -> None:
        """Make that many exchanges, each kept if it is not worse."""
        exchanges(self._profile, self._pool, self._random_state, WINDOW, 0.0, steps, self._draft, self.machine_of)


def _cell_count(problem: ScheduleProblem, machine_of: IntArray) -> int:
    """The number of cells: few starts and ends of one machine in each."""
    machines = problem.fleet.size
    busy = 2 * int((machine_of != UNPLACED).sum()) // (machines * CHANGES_PER_CELL)
    return max(FEWEST_CELLS, min(busy, MOST_CELLS, MOST_PAIRS // machines))
