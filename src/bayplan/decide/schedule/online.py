"""`online`: final decisions at arrival, by prices; what [Cradle] leaves to future work (docs/verbs/schedule-online.md).

A request's end is known when it starts, as in [Cradle]; later requests are not. With a forecast the prices of the resources over
time come from the linear program of the forecast, and the multiple of the prices to ask for is tried out on the forecast.
Without a forecast prices are learnt from the requests that have come so far.
"""

import numpy as np

from bayplan.decide.schedule.arrivals import free_tree, none_served, stream_of
from bayplan.decide.schedule.bound import prices
from bayplan.decide.schedule.options import ScheduleOptions
from bayplan.decide.schedule.problem import ScheduleProblem, schedule_result
from bayplan.errors import UsageError
from bayplan.kernels.schedule.online import LearntPrices, RequestValues, serve_by_price
from bayplan.model import Budget, Clock, FloatArray, IntArray, Progress, Result, Schedule, Tick, TimedRequests

MULTIPLES = (0.5, 0.7, 0.85, 1.0, 1.1, 1.2, 1.5, 2.0, 3.0, 4.5)  # of the price that a request must be worth
FIRST_MULTIPLE = MULTIPLES.index(1.0)
UNTIL_PRICES, UNTIL_REHEARSALS = 0.5, 0.8  # of the seconds: when these end
CELLS = 32  # of the time of a forecast, each with one price: the peaks of one day do not return at the same second


def online(
    problem: ScheduleProblem, options: ScheduleOptions, *, budget: Budget, seed: int, progress: Progress
) -> Result[Schedule]:
    """Each request is served or refused when it starts, knowing only those before and the forecast. No random numbers."""
    clock = budget.clock()
    if problem.fleet.size == 0:
        return schedule_result(problem, none_served(problem.requests), seconds=clock.seconds)
    machine_of = learning(problem) if options.forecast is None else foreseeing(problem, options.forecast, clock, progress)
    return schedule_result(problem, machine_of, seconds=clock.seconds)


def learning(problem: ScheduleProblem) -> IntArray:
    """(request,) machine or `UNPLACED`, by prices learnt from the stream so far."""
    return _served(problem, np.zeros(0), MULTIPLES, FIRST_MULTIPLE)


def foreseeing(problem: ScheduleProblem, forecast: TimedRequests, clock: Clock, progress: Progress) -> IntArray:
    """(request,) machine or `UNPLACED`, by the prices of a forecast, at the multiple that is best for the forecast itself."""
    if len(forecast.resources) != len(problem.requests.resources):
        n, expected = len(forecast.resources), len(problem.requests.resources)
        raise UsageError(f"the forecast has {n} resources; expected {expected}, as the requests have")
    if not len(forecast.name) or not len(problem.requests.name):
        return learning(problem)
    rehearsal = ScheduleProblem(requests=forecast, fleet=problem.fleet)
    forecast_prices = ForecastPrices(rehearsal, clock, progress)
    best = _rehearsed(rehearsal, forecast_prices.costs(rehearsal), clock, progress)
    return served_at(problem, forecast_prices.costs(problem), best)


def _rehearsed(rehearsal: ScheduleProblem, cost: FloatArray, clock: Clock, progress: Progress) -> float:
    """The multiple that serves the most value of the forecast; those near 1 are tried first, as long as there is time."""
    best, most = 1.0, -1.0
    for done, multiple in enumerate(sorted(MULTIPLES, key=lambda multiple: abs(multiple - 1.0))):
        if done and clock.budget.seconds is not None and clock.seconds > UNTIL_REHEARSALS * clock.budget.seconds:
            break
        value = float(rehearsal.requests.value[served_at(rehearsal, cost, multiple) >= 0].sum())
        if value > most:
            best, most = multiple, value
        progress(Tick(stage="rehearsing", done=(done + 1) / len(MULTIPLES), score=most))
    return best


def served_at(problem: ScheduleProblem, cost: FloatArray, multiple: float) -> IntArray:
    """(request,) machine or `UNPLACED`: in start order, each request worth that multiple of its cost, if it fits on a machine."""
    return _served(problem, cost, (multiple,), 0)


class ForecastPrices:
    """Prices over the time of a forecast, smoothed; after its end they repeat."""

    def __init__(self, rehearsal: ScheduleProblem, clock: Clock, progress: Progress) -> None:
        seconds = clock.budget.seconds
        limit = None if seconds is None else UNTIL_PRICES * seconds
        table = prices(rehearsal, clock=Budget(seconds=limit, threads=clock.budget.threads).clock(), progress=progress)
        self.begin = float(rehearsal.requests.start.min())
        self.period = float(rehearsal.requests.end.max()) - self.begin
        self.edge = self.begin + self.period * np.linspace(0.0, 1.0, CELLS + 1)
        total = np.pad(np.cumsum(table.price, axis=1), ((0, 0), (1, 0), (0, 0)))
        self.paid = total[:, np.searchsorted(table.time, self.edge)]  # (kind, edge, resource) since the beginning

    def costs(self, problem: ScheduleProblem) -> FloatArray:
        """(request,) its cost on the kind of machine where that is least; 0 where it fits nowhere.

        If the first request starts within the time of the forecast, times are the same; otherwise both start together.
        """
        first = float(problem.requests.start.min())
        later = 0.0 if self.begin <= first < self.begin + self.period else first - self.begin
        least = np.full(len(problem.requests.name), np.inf)
        for kind in np.flatnonzero(problem.fleet.machines).tolist():
            total = self._until(problem.requests.end - later, kind) - self._until(problem.requests.start - later, kind)
            fits = problem.fits(kind)
            cost = (np.where(fits[:, None], problem.share(kind), 0.0) * total).sum(axis=1)
            least = np.where(fits, np.minimum(least, cost), least)
        return np.where(np.isfinite(least), least, 0.0)

    def _until(self, time: FloatArray, kind: int) -> FloatArray:
        """(request, resource) the price of a whole machine from the start until then."""
        lap = np.floor((time - self.begin) / self.period)
        within, paid = time - lap * self.period, self.paid[kind]
        part = [np.interp(within, self.edge, paid[:, r]) for r in range(paid.shape[1])]
        total: FloatArray = lap[:, None] * paid[-1] + np.stack(part, axis=1)
        return total


def _served(problem: ScheduleProblem, given: FloatArray, multiples: tuple[float, ...], lead: int) -> IntArray:
    """(request,) machine or `UNPLACED`, by given costs, or by learnt ones if none are given."""
    machine_of, resources = none_served(problem.requests), problem.fleet.capacity.shape[1]
    price, used, tried, kept, free = np.zeros((5, resources))
    learnt = LearntPrices(
        price=price,
        used=used,
        tried=tried,
        best=kept,
        free=free,
        multiple=np.array(multiples),
        load=np.zeros((len(multiples), resources)),
        done=np.zeros(len(multiples)),
        member=np.zeros(len(machine_of), dtype=np.int64),
    )
    serve_by_price(stream_of(problem.requests), _bids(problem, given), free_tree(problem.fleet), lead, learnt, machine_of)
    return machine_of


def _bids(problem: ScheduleProblem, given: FloatArray) -> RequestValues:
    """Requests as shares of the whole fleet; a resource that no machine has counts as zero."""
    capacity = problem.fleet.capacity[problem.fleet.kind_of]
    total = np.maximum(capacity.sum(axis=0, dtype=np.float64), 1.0)
    return RequestValues(
        value=np.array(problem.requests.value),
        lasts=problem.requests.end - problem.requests.start,
        share=problem.requests.demand / total,
        given=given,
        weight=1.0 / np.maximum(capacity, 1),
        total=total,
    )
