"""Good prices for any number of requests, by a quasi-Newton method: from few cells and a sample to many cells and all requests.

D(p) has a kink for each request. Rounding them off (a request gives up gradually while its cost approaches its value) makes it
smooth, and L-BFGS-B finds the minimum; then the kinks are made sharper and the cells smaller. Each step starts where the last
ended. One evaluation takes O(requests + cells), whatever the lengths of the intervals.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bayplan.decide.schedule.priced_requests import PricedRequests
from bayplan.decide.schedule.prices import CellPrices, proven
from bayplan.kernels.schedule.bound import PricedRequestArrays, smooth_surplus
from bayplan.model import Clock, FloatArray, IntArray, Progress, Tick
from bayplan.model.interrupt import StopFlag, stoppable

FEWEST_CELLS, FINER = 64, 4
MOST_PRICES = 2**14  # variables of the finest step
MEMORY = 20  # of L-BFGS


class DescentStep(NamedTuple):
    """One round of the descent."""

    cells: int
    every: int  # one in this many requests takes part
    softness: float
    iterations: int


def steps_for(requests: int, times: int, prices_per_cell: int) -> list[DescentStep]:
    """The steps from coarse to fine. The last ones have one cell per critical time, if that is affordable."""
    finest = max(1, min(times, MOST_PRICES // prices_per_cell))
    steps, cells, softness, sample = [], min(finest, FEWEST_CELLS), 0.2, 32_768
    while cells < finest:
        steps.append(DescentStep(cells, max(1, requests // sample), softness, 60))
        cells, softness, sample = cells * FINER, softness / 2, sample * 4
    if finest == times or not steps:
        steps += [DescentStep(finest, 1, softness, 100) for softness in (0.02, 0.005, 0.001)]
    return steps


def descend(priced: PricedRequests, clock: Clock, progress: Progress) -> tuple[float, CellPrices]:
    """The least bound found and its prices; the bound without prices if there is no time."""
    best = unpriced(priced)
    prices, (kinds, rows) = best[1], priced.shape
    if not len(priced.value) or not (priced.share > 0).any():
        return best
    steps = steps_for(len(priced.value), len(priced.critical.time), kinds * rows)
    with stoppable() as stop:
        for done, step in enumerate(steps):
            if _late(clock, stop):
                break
            cells = np.unique(np.round(np.linspace(0, prices.edge[-1], step.cells + 1)).astype(np.int64))
            prices = _improved(priced, prices.on(cells), step, lambda: _late(clock, stop))
            best = min(best, (proven(priced, prices), prices), key=lambda pair: pair[0])
            progress(Tick(stage="bounding", done=(done + 1) / len(steps), score=best[0]))
    return best


def unpriced(priced: PricedRequests) -> tuple[float, CellPrices]:
    """All prices zero: the bound is the value of all candidates."""
    kinds, rows = priced.shape
    prices = CellPrices(edge=np.array([0, len(priced.critical.time)]), price=np.zeros((kinds, 1, rows)))
    return proven(priced, prices), prices


def _late(clock: Clock, stop: StopFlag) -> bool:
    return stop.requested or (clock.budget.seconds is not None and clock.seconds >= clock.budget.seconds)


def _improved(priced: PricedRequests, begin: CellPrices, step: DescentStep, late: Callable[[], bool]) -> CellPrices:
    """Prices after some iterations of L-BFGS-B on a share of the requests and the same share of the machines."""
    from scipy import optimize  # half a second to import

    candidates = priced.for_kernel(begin.edge, slice(0, None, step.every))
    if not len(candidates.value):
        return begin
    machines = priced.machines * (len(candidates.value) / len(priced.value))
    unit = _unit(candidates, begin.edge)

    def objective(point: FloatArray) -> tuple[float, FloatArray]:
        prices = CellPrices(edge=begin.edge, price=point.reshape(begin.price.shape) * unit)
        return _smooth(candidates, machines, prices, step.softness, unit)

    def stop_if_late(_: FloatArray) -> None:
        if late():
            raise StopIteration

    minimize: Any = optimize.minimize  # its stubs accept only one-dimensional arrays
    minimum = minimize(
        objective,
        (begin.price / unit).ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * begin.price.size,
        callback=stop_if_late,
        options={"maxiter": step.iterations, "maxcor": MEMORY, "ftol": 1e-10, "gtol": 1e-12},
    )
    return CellPrices(edge=begin.edge, price=np.maximum(0.0, minimum.x).reshape(begin.price.shape) * unit)


def _unit(candidates: PricedRequestArrays, edge: IntArray) -> float:
    """A typical price, so that variables are about one: all value divided by all capacity that is requested."""
    times = edge[candidates.cell[1]] + candidates.offset[1] - edge[candidates.cell[0]] - candidates.offset[0]
    return float(candidates.value.sum() / max(1e-12, (candidates.share.max(axis=(0, 2)) * times).sum()))


def _smooth(
    candidates: PricedRequestArrays, machines: FloatArray, prices: CellPrices, softness: float, unit: float
) -> tuple[float, FloatArray]:
    """D(p) with rounded kinks and its gradient, both relative to all value."""
    total = float(candidates.value.sum())
    width = np.diff(prices.edge)[None, :, None]
    table = prices.for_kernel
    whole, part = np.zeros((2, *table.price.shape))
    left = smooth_surplus(candidates, table, softness, whole, part)
    after = np.cumsum(whole[:, ::-1], axis=1)[:, ::-1]
    load = width * after[:, 1:] + part[:, :-1]
    capacity = machines[:, None, None] * width
    return float((capacity * prices.price).sum() + left) / total, ((capacity - load) * (unit / total)).ravel()
