"""Upper bounds of what any schedule is worth, and the prices that prove them, for every answer to have a gap."""

from dataclasses import replace

import numpy as np

from bayplan.decide.schedule.descent import descended, unpriced
from bayplan.decide.schedule.market import Market, market_of, wide_in
from bayplan.decide.schedule.price_program import best_prices
from bayplan.decide.schedule.prices import CellPrices, PriceTable, proven
from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.model import BoolArray, Clock, Progress, Result, Schedule, Status

MOST_FOR_PROGRAM = 10_000  # pairs of request and kind: with more, descent is faster and comes within 1e-3 of the best
SECONDS_FOR_PROGRAM = 30.0  # if the budget says nothing
FEW = 2_000  # requests: rows for the wide ones cost next to nothing
FOR_PROGRAM = 0.8  # of the time, at most


def upper_bound(problem: ScheduleProblem, *, clock: Clock, progress: Progress) -> float:
    """No schedule is worth more. Proven whatever the budget; with no time at all it is the value of all that fit somewhere."""
    return _priced(market_of(problem, wide_rows=wide_rows_pay(problem)), clock, progress)[0]


def wide_rows_pay(problem: ScheduleProblem) -> bool:
    """Are rows for the wide requests worth their time, as they cost little or bring much?"""
    return len(problem.requests.name) <= FEW or _much_is_wide(problem)


def prices(problem: ScheduleProblem, *, clock: Clock, progress: Progress) -> PriceTable:
    """What each kind of machine's room is worth at each instant, and the bound that it proves."""
    market = market_of(problem)
    bound, found = _priced(market, clock, progress)
    width = np.diff(found.edge)
    return PriceTable(time=market.instants.time, price=np.repeat(found.price, width, axis=1), bound=bound)


def bounded(problem: ScheduleProblem, found: Result[Schedule], *, clock: Clock, progress: Progress) -> Result[Schedule]:
    """The answer of any scheduler with the best bound that the rest of the time gives; optimal if it meets it."""
    if found.solution is None or found.status is Status.OPTIMAL:
        return found
    value = found.score["value"]
    known = upper_bound(problem, clock=clock, progress=progress)
    bound = max(value, known if found.bound is None else min(found.bound, known))
    optimal = bound - value <= 1e-9 * max(1.0, value)
    return replace(found, bound=bound, status=Status.OPTIMAL if optimal else found.status)


def best_cell_prices(problem: ScheduleProblem, allowed: BoolArray, *, clock: Clock) -> tuple[Market, CellPrices]:
    """The best prices of the requests where they are `allowed` (kind, request), with rows for the wide ones."""
    market = market_of(problem, allowed, wide_rows=True)
    return market, _priced(market, clock, lambda _: None)[1]


def _priced(market: Market, clock: Clock, progress: Progress) -> tuple[float, CellPrices]:
    """The least bound, and the prices that prove it: those of the linear program if it is small, else by descent."""
    limit = SECONDS_FOR_PROGRAM if clock.budget.seconds is None else clock.budget.seconds - clock.seconds
    if 0 < int(market.allowed.sum()) <= MOST_FOR_PROGRAM and limit > 0:
        exact = best_prices(market, seconds=FOR_PROGRAM * limit, threads=clock.budget.threads)
        if exact is not None:
            return min((proven(market, exact), exact), unpriced(market), key=lambda some: some[0])
    return descended(market, clock, progress)


def _much_is_wide(problem: ScheduleProblem) -> bool:
    """Is at least half of the value in requests that take more than half of some machine?"""
    wide = np.zeros(len(problem.requests.name), dtype=np.bool_)
    for q in np.flatnonzero(problem.fleet.machines).tolist():
        wide |= wide_in(problem, q).any(axis=1) & problem.fits(q)
    return float(problem.requests.value[wide].sum()) >= 0.5 * float(problem.requests.value[problem.possible].sum())
