"""Cradle+ made better within a budget: a second answer by prices, then exchanges on a few machines at a time.

The argument is in docs/verbs/schedule-online.md. Never worth less than Cradle+; the best schedule seen is kept.
"""

from dataclasses import dataclass

import numpy as np

from bayplan.decide.schedule.answer import scheduled
from bayplan.decide.schedule.best_effort import best_effort
from bayplan.decide.schedule.bound import prices, upper_bound, wide_rows_pay
from bayplan.decide.schedule.cradle import cradle_choice
from bayplan.decide.schedule.exchanges import Exchanges
from bayplan.decide.schedule.online import served_at
from bayplan.decide.schedule.prices import PriceTable
from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.decide.schedule.signature import ScheduleOptions
from bayplan.model import UNPLACED, Budget, Clock, FloatArray, IntArray, Progress, Result, Schedule, Tick
from bayplan.model.interrupt import StopFlag, stoppable

MULTIPLES = (1.0, 1.05, 1.1, 1.2, 0.9)  # of the price, in the order in which they are tried
PRICING = 0.4  # of the seconds that are left after Cradle+
BATCH = 50  # exchanges between two looks at the clock
FEWEST, PER_REQUEST = 100, 0.2  # exchanges if the budget says nothing
AFTERWARDS = 0.1  # of the seconds, kept for the last best effort and the referee
SAME = 1e-12  # relative: what a sum of values may be off by


def local(
    problem: ScheduleProblem, options: ScheduleOptions, *, budget: Budget, seed: int, progress: Progress
) -> Result[Schedule]:
    """The best of Cradle+, of admission by prices in start order, and of exchanges from there. An iteration is one exchange.

    The bound is that of the prices, if there was time for them. It ends early if the bound is reached or all are served.
    """
    clock = budget.clock()
    with stoppable() as stop:
        best = Best(problem, best_effort(problem, cradle_choice(problem)))
        guide = Guide(clock=clock, stop=stop, progress=progress, best=best)
        bound = best.limit if best.reached else None
        if not guide.over:
            table = prices(problem, clock=guide.pricing(), progress=progress)
            bound = best.limit = _bound(problem, table, guide)
            _improve(problem, best, least_costs(problem, table), guide, seed)
    return scheduled(problem, best.machine_of, bound=bound if options.bound else None, seconds=clock.seconds)


class Best:
    """The most valuable schedule seen; of equal ones the first."""

    def __init__(self, problem: ScheduleProblem, machine_of: IntArray) -> None:
        self.value_of = problem.requests.value
        self.machine_of, self.value = machine_of, self._worth(machine_of)
        self.limit = float(self.value_of[problem.possible].sum())  # no schedule is worth more

    @property
    def reached(self) -> bool:
        """Is there nothing more to gain?"""
        return self.value >= self.limit * (1.0 - SAME)

    def offer(self, machine_of: IntArray) -> None:
        """Keep a copy if it is worth more."""
        value = self._worth(machine_of)
        if value > self.value:
            self.machine_of, self.value = machine_of.copy(), value

    def _worth(self, machine_of: IntArray) -> float:
        return float(self.value_of[machine_of != UNPLACED].sum())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Guide:
    """When to stop, and whom to tell."""

    clock: Clock
    stop: StopFlag
    progress: Progress
    best: Best

    @property
    def over(self) -> bool:
        """Is the time over, but for what comes afterwards, or nothing more to gain?"""
        seconds = self.clock.budget.seconds
        late = seconds is not None and self.clock.seconds >= (1 - AFTERWARDS) * seconds
        return late or self.stop.requested or self.best.reached

    def pricing(self) -> Clock:
        """A clock for finding prices."""
        seconds = self.clock.budget.seconds
        left = None if seconds is None else max(0.0, PRICING * (seconds - self.clock.seconds))
        return Budget(seconds=left, threads=self.clock.budget.threads).clock()

    def steps(self, requests: int) -> int | None:
        """Exchanges at most; None if only the clock says."""
        budget = self.clock.budget
        if budget.iterations is not None or budget.seconds is not None:
            return budget.iterations
        return max(FEWEST, int(PER_REQUEST * requests))


def _bound(problem: ScheduleProblem, table: PriceTable, guide: Guide) -> float:
    """That of the prices, or a better one by rows for wide requests."""
    if guide.over or not wide_rows_pay(problem):
        return table.bound
    return min(table.bound, upper_bound(problem, clock=guide.pricing(), progress=guide.progress))


def least_costs(problem: ScheduleProblem, table: PriceTable) -> FloatArray:
    """(request,) the price of its room on the kind where that is least; infinite where it fits nowhere."""
    kinds = [table.costs(problem, kind) for kind in np.flatnonzero(problem.fleet.machines).tolist()]
    least: FloatArray = np.minimum.reduce(kinds)
    return least


def _improve(problem: ScheduleProblem, best: Best, cost: FloatArray, guide: Guide, seed: int) -> None:
    """Admission by prices at several multiples, then exchanges from the best."""
    value = problem.requests.value
    strain = np.where(value > 0, cost / np.where(value > 0, value, 1.0), np.inf)
    for multiple in MULTIPLES:
        if not guide.over:
            best.offer(_filled(problem, served_at(problem, np.where(np.isfinite(cost), cost, 0.0), multiple), strain))
            guide.progress(Tick(stage="pricing", done=0.0, score=best.value))
    if not guide.over:
        _exchange(problem, best, Exchanges(problem, best.machine_of, strain, seed), guide)
        if not guide.clock.expired():
            best.offer(_filled(problem, best.machine_of, strain))


def _filled(problem: ScheduleProblem, machine_of: IntArray, strain: FloatArray) -> IntArray:
    """With whatever still fits; who pays least for its value comes first, who is worth nothing last."""
    order = np.argsort(strain, kind="stable")
    return best_effort(problem, machine_of, order[(machine_of[order] == UNPLACED) & problem.possible[order]])


def _exchange(problem: ScheduleProblem, best: Best, search: Exchanges, guide: Guide) -> None:
    """Exchanges until the budget is used up or nothing more can be gained."""
    done, most = 0, guide.steps(len(problem.requests.name))
    while search.possible and not guide.over and (most is None or done < most):
        steps = BATCH if most is None else min(BATCH, most - done)
        search.go(steps)
        done += steps
        best.offer(search.machine_of)
        guide.progress(Tick(stage="searching", done=done / most if most else _passed(guide.clock), score=best.value))


def _passed(clock: Clock) -> float:
    return min(1.0, clock.seconds / clock.budget.seconds) if clock.budget.seconds else 0.0
