"""Good prices for any number of requests: from few cells and a sample to many cells and all, by a quasi-Newton method.

D(p) has corners, one per request. Rounding them off (a request gives up gradually while its cost approaches its value) makes it
smooth, and L-BFGS-B finds the least; then the corners are made sharper and the cells smaller. Each step starts where the last
ended. One evaluation takes O(requests + cells), whatever the lengths of the intervals.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bayplan.decide.schedule.market import Market
from bayplan.decide.schedule.prices import CellPrices, proven
from bayplan.kernels.schedule.bound import Bidders, smooth_surplus
from bayplan.model import Clock, FloatArray, IntArray, Progress, Tick
from bayplan.model.interrupt import StopFlag, stoppable

FEWEST_CELLS, FINER = 64, 4
MOST_PRICES = 2**14  # variables of the finest step
MEMORY = 20  # of L-BFGS


class Step(NamedTuple):
    """One round of the descent."""

    cells: int
    every: int  # of so many requests one takes part
    softness: float
    iterations: int


def steps_for(requests: int, instants: int, prices_per_cell: int) -> list[Step]:
    """From coarse to fine. The last ones have one cell per instant, if that is affordable."""
    finest = max(1, min(instants, MOST_PRICES // prices_per_cell))
    steps, cells, softness, sample = [], min(finest, FEWEST_CELLS), 0.2, 32_768
    while cells < finest:
        steps.append(Step(cells, max(1, requests // sample), softness, 60))
        cells, softness, sample = cells * FINER, softness / 2, sample * 4
    if finest == instants or not steps:
        steps += [Step(finest, 1, softness, 100) for softness in (0.02, 0.005, 0.001)]
    return steps


def descended(market: Market, clock: Clock, progress: Progress) -> tuple[float, CellPrices]:
    """The least bound found and its prices; that of no prices at all if there is no time."""
    best = unpriced(market)
    prices, (kinds, rows) = best[1], market.shape
    if not len(market.value) or not (market.share > 0).any():
        return best
    steps = steps_for(len(market.value), len(market.instants.time), kinds * rows)
    with stoppable() as stop:
        for done, step in enumerate(steps):
            if _late(clock, stop):
                break
            cells = np.unique(np.round(np.linspace(0, prices.edge[-1], step.cells + 1)).astype(np.int64))
            prices = _improved(market, prices.on(cells), step, lambda: _late(clock, stop))
            best = min(best, (proven(market, prices), prices), key=lambda some: some[0])
            progress(Tick(stage="bounding", done=(done + 1) / len(steps), score=best[0]))
    return best


def unpriced(market: Market) -> tuple[float, CellPrices]:
    """All room is free: the bound is the value of all that fit."""
    kinds, rows = market.shape
    prices = CellPrices(edge=np.array([0, len(market.instants.time)]), price=np.zeros((kinds, 1, rows)))
    return proven(market, prices), prices


def _late(clock: Clock, stop: StopFlag) -> bool:
    return stop.requested or (clock.budget.seconds is not None and clock.seconds >= clock.budget.seconds)


def _improved(market: Market, begin: CellPrices, step: Step, late: Callable[[], bool]) -> CellPrices:
    """Prices after some iterations of L-BFGS-B on a part of the requests and as large a part of the machines."""
    from scipy import optimize  # half a second to import

    bidders = market.bidders(begin.edge, slice(0, None, step.every))
    if not len(bidders.value):
        return begin
    machines = market.machines * (len(bidders.value) / len(market.value))
    unit = _unit(bidders, begin.edge)

    def objective(point: FloatArray) -> tuple[float, FloatArray]:
        prices = CellPrices(edge=begin.edge, price=point.reshape(begin.price.shape) * unit)
        return _smooth(bidders, machines, prices, step.softness, unit)

    def stop_if_late(_: FloatArray) -> None:
        if late():
            raise StopIteration

    minimize: Any = optimize.minimize  # its stubs know no shapes but lines
    found = minimize(
        objective,
        (begin.price / unit).ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * begin.price.size,
        callback=stop_if_late,
        options={"maxiter": step.iterations, "maxcor": MEMORY, "ftol": 1e-10, "gtol": 1e-12},
    )
    return CellPrices(edge=begin.edge, price=np.maximum(0.0, found.x).reshape(begin.price.shape) * unit)


def _unit(bidders: Bidders, edge: IntArray) -> float:
    """A typical price, so that variables are about one: all value over all room that is asked for."""
    instants = edge[bidders.cell[1]] + bidders.offset[1] - edge[bidders.cell[0]] - bidders.offset[0]
    return float(bidders.value.sum() / max(1e-12, (bidders.share.max(axis=(0, 2)) * instants).sum()))


def _smooth(bidders: Bidders, machines: FloatArray, prices: CellPrices, softness: float, unit: float) -> tuple[float, FloatArray]:
    """D(p) with rounded corners and its slope, both relative to all value."""
    total = float(bidders.value.sum())
    width = np.diff(prices.edge)[None, :, None]
    table = prices.for_kernel
    whole, part = np.zeros((2, *table.each.shape))
    left = smooth_surplus(bidders, table, softness, whole, part)
    after = np.cumsum(whole[:, ::-1], axis=1)[:, ::-1]
    load = width * after[:, 1:] + part[:, :-1]
    room = machines[:, None, None] * width
    return float((room * prices.price).sum() + left) / total, ((room - load) * (unit / total)).ravel()
