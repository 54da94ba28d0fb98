"""Upper bounds on the value of any schedule, and the prices that prove them: they give every answer a gap."""

from dataclasses import replace

import numpy as np

from bayplan.decide.schedule.price_descent import descend, unpriced
from bayplan.decide.schedule.priced_requests import PricedRequests, priced_requests, wide_requests
from bayplan.decide.schedule.prices import CellPrices, PriceTable, best_prices, proven
from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.model import BoolArray, Clock, Progress, Result, Schedule, Status, verdict

MOST_FOR_PROGRAM = 10_000  # pairs of request and kind: with more, descent is faster and comes within 1e-3 of the best
SECONDS_FOR_PROGRAM = 30.0  # if the budget has no seconds
FEW_REQUESTS = 2_000  # requests: up to here rows for the wide ones cost next to nothing
FOR_PROGRAM = 0.8  # of the time, at most


def upper_bound(problem: ScheduleProblem, *, clock: Clock, progress: Progress) -> float:
    """A proven bound: no schedule is worth more. Without any time it is the value of all requests that fit on some machine."""
    return _best_prices(priced_requests(problem, wide_rows=wide_rows_pay(problem)), clock, progress)[0]


def wide_rows_pay(problem: ScheduleProblem) -> bool:
    """Are rows for the wide requests worth their time: do they cost little, or gain much?"""
    return len(problem.requests.name) <= FEW_REQUESTS or _much_is_wide(problem)


def prices(problem: ScheduleProblem, *, clock: Clock, progress: Progress) -> PriceTable:
    """The price of each kind of machine at each critical time, and the bound that these prices prove."""
    priced = priced_requests(problem)
    bound, cells = _best_prices(priced, clock, progress)
    width = np.diff(cells.edge)
    return PriceTable(time=priced.critical.time, price=np.repeat(cells.price, width, axis=1), bound=bound)


def bounded(problem: ScheduleProblem, result: Result[Schedule], *, clock: Clock, progress: Progress) -> Result[Schedule]:
    """The result of any scheduler with the best bound that can be proven in the time left; optimal if value and bound meet."""
    if result.solution is None or result.status is Status.OPTIMAL:
        return result
    value = result.score["value"]
    proven_bound = upper_bound(problem, clock=clock, progress=progress)
    status, bound = verdict("value", value, proven_bound if result.bound is None else min(result.bound, proven_bound))
    return replace(result, bound=bound, status=status)


def best_cell_prices(problem: ScheduleProblem, allowed: BoolArray, *, clock: Clock) -> tuple[PricedRequests, CellPrices]:
    """The candidates `allowed` (kind, request), and the best prices for them, with rows for the wide ones."""
    priced = priced_requests(problem, allowed, wide_rows=True)
    return priced, _best_prices(priced, clock, lambda _: None)[1]


def _best_prices(priced: PricedRequests, clock: Clock, progress: Progress) -> tuple[float, CellPrices]:
    """The least bound found and the prices that prove it: from the linear program if that is small, else by descent."""
    limit = SECONDS_FOR_PROGRAM if clock.budget.seconds is None else clock.budget.seconds - clock.seconds
    if 0 < int(priced.allowed.sum()) <= MOST_FOR_PROGRAM and limit > 0:
        exact = best_prices(priced, seconds=FOR_PROGRAM * limit, threads=clock.budget.threads)
        if exact is not None:
            return min((proven(priced, exact), exact), unpriced(priced), key=lambda pair: pair[0])
    return descend(priced, clock, progress)


def _much_is_wide(problem: ScheduleProblem) -> bool:
    """Is at least half of the value in requests that take more than half of some machine?"""
    wide = np.zeros(len(problem.requests.name), dtype=np.bool_)
    for q in np.flatnonzero(problem.fleet.machines).tolist():
        wide |= wide_requests(problem, q).any(axis=1) & problem.fits(q)
    return float(problem.requests.value[wide].sum()) >= 0.5 * float(problem.requests.value[problem.possible].sum())
