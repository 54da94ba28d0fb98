"""Upper bounds of what any schedule is worth, and the prices that prove them, for every answer to have a gap."""

from dataclasses import replace

import numpy as np

from bayplan.decide.schedule.descent import descended
from bayplan.decide.schedule.market import Market, market_of, wide_in
from bayplan.decide.schedule.price_program import best_prices
from bayplan.decide.schedule.prices import CellPrices, PriceTable, proven
from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.model import BoolArray, Clock, Progress, Result, Schedule, Status

MOST_FOR_PROGRAM = 20_000  # pairs of request and kind: the linear program takes about 0.1 ms for each
SECONDS_FOR_PROGRAM = 30.0  # if the budget says nothing


def upper_bound(problem: ScheduleProblem, *, clock: Clock, progress: Progress) -> float:
    """No schedule is worth more. Proven whatever the budget; with no time at all it is the value of all that fit somewhere."""
    wide = _much_is_wide(problem)
    return _priced(market_of(problem, wide_rows=wide), clock, progress)[0]


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
    """The least bound, and the prices that prove it: by descent, then by the linear program if it is small."""
    best = descended(market, clock, progress)
    limit = SECONDS_FOR_PROGRAM if clock.budget.seconds is None else clock.budget.seconds - clock.seconds
    if not 0 < int(market.allowed.sum()) <= MOST_FOR_PROGRAM or limit <= 0:
        return best
    exact = best_prices(market, seconds=limit, threads=clock.budget.threads)
    return best if exact is None else min(best, (proven(market, exact), exact), key=lambda some: some[0])


def _much_is_wide(problem: ScheduleProblem) -> bool:
    """Is at least half of the value in requests that take more than half of some machine?"""
    wide = np.zeros(len(problem.requests.name), dtype=np.bool_)
    for q in np.flatnonzero(problem.fleet.machines).tolist():
        wide |= wide_in(problem, q).any(axis=1) & problem.fits(q)
    return float(problem.requests.value[wide].sum()) >= 0.5 * float(problem.requests.value[problem.possible].sum())
