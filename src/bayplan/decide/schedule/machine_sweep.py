"""One scheduler on several numbers of machines, and the fewest machines that serve a share of the requests."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from bayplan.decide.schedule.bound import prices
from bayplan.decide.schedule.options import ScheduleOptions, Scheduler
from bayplan.decide.schedule.prices import common_unit
from bayplan.decide.schedule.problem import ScheduleProblem
from bayplan.model import Budget, Clock, Progress, TimedRequests, silent, verdict
from bayplan.score.machine_sweep import SLACK, FewestMachines, SweepPoint
from bayplan.score.schedule_figures import served_by
from bayplan.score.timed_load import load_factor

MOST_MACHINES = 1_000_000
FOR_BOUND = 0.3  # of the seconds of a point, if a bound is wanted


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PointInputs:
    """What all points of a sweep have in common."""

    requests: TimedRequests
    options: ScheduleOptions
    scheduler: Scheduler
    seed: int


@dataclass(slots=True)
class MachineSweep:
    """Answers by number of machines, each computed once; it can be stopped between any two."""

    requests: TimedRequests
    options: ScheduleOptions
    method: str
    scheduler: Scheduler
    seed: int
    known: dict[int, SweepPoint]
    clock: Clock
    progress: Progress = silent

    @property
    def points(self) -> list[SweepPoint]:
        """What is known, by number of machines."""
        return sorted(self.known.values(), key=lambda point: point.machines)

    @property
    def inputs(self) -> PointInputs:
        """What every point is computed from."""
        return PointInputs(requests=self.requests, options=self.options, scheduler=self.scheduler, seed=self.seed)

    @property
    def unit(self) -> float:
        """How much a bound is rounded down at most: values are multiples of it."""
        return float(common_unit(self.requests.value))

    def at(self, machines: int, share: float, *, bounded: bool = True) -> SweepPoint:
        """The answer on that many machines, with `share` of the time that is left."""
        if machines not in self.known:
            self.known[machines] = self.solve(machines, share, bounded=bounded)
        return self.known[machines]

    def bound(self, machines: int, over: Callable[[], bool]) -> None:
        """Add a bound to an answer that was computed without one, if there is time."""
        if machines in self.known and self.known[machines].bound is None and not over():
            self.known[machines] = self.solve(machines, 0.5)

    def solve(self, machines: int, share: float, *, bounded: bool = True) -> SweepPoint:
        """One answer and, if it is wanted, its bound."""
        budget = replace(self.clock.budget, seconds=self.clock.left(share))
        return sweep_point(self.inputs, machines, budget=budget, bounded=bounded)


def sweep_point(inputs: PointInputs, machines: int, *, budget: Budget, bounded: bool = True) -> SweepPoint:
    """The answer on a number of machines and, if it is wanted, its bound."""
    requests, options = inputs.requests, inputs.options
    problem = ScheduleProblem.alike(requests, machines)
    clock, wants_bound = budget.clock(), options.bound and bounded
    own = budget if budget.seconds is None or not wants_bound else replace(budget, seconds=(1 - FOR_BOUND) * budget.seconds)
    result = inputs.scheduler(problem, options, budget=own, seed=inputs.seed, progress=silent)
    table = prices(problem, clock=clock, progress=silent) if wants_bound and machines else None
    bound = table.bound if table is not None else 0.0 if wants_bound else None  # nothing is served without machines
    served = served_by(requests, result.solution)
    value = float(requests.value[served].sum())
    return SweepPoint(
        machines=machines,
        served=int(served.sum()),
        value=value,
        bound=verdict("value", value, bound).bound,
        price=None if table is None else float(table.value_of_one_more[0]),
        seconds=clock.seconds,
    )


def fewest(sweep: MachineSweep, share: float, over: Callable[[], bool]) -> FewestMachines | None:
    """The number of machines that serves the share while one less does not, by bisection; None if it was cut short.

    Exact for the method: both answers were computed. Answers on the way get no bound, which takes longer than the answer; these
    two do. A method whose served share sometimes falls with more machines could serve the share on still fewer.
    """
    requests = len(sweep.requests.name)
    needed = math.ceil(share * requests - 1e-9)
    low = max((m for m, point in sweep.known.items() if point.served < needed), default=-1)
    enough = [m for m, point in sweep.known.items() if point.served >= needed]
    high = min((m for m in enough if m > low), default=None)
    if high is None:
        high = _enough(sweep, needed, max(low, 0), over)
    if high is None:
        best = max((point.served for point in sweep.known.values()), default=0)
        if over():
            return None
        return FewestMachines(share=share, machines=None, served=best / max(1, requests), one_less=None, at_least=None)
    low = max((m for m, point in sweep.known.items() if point.served < needed and m < high), default=-1)
    while high - low > 1:
        if over():
            return None
        middle = (low + high) // 2
        low, high = (low, middle) if sweep.at(middle, 0.5, bounded=False).served >= needed else (middle, high)
    for machines in (low, high):
        sweep.bound(machines, over)
    less = sweep.known[low].served / max(1, requests) if low >= 0 else None
    served = sweep.known[high].served / max(1, requests)
    return FewestMachines(share=share, machines=high, served=served, one_less=less, at_least=proven_fewest(sweep, share))


def _enough(sweep: MachineSweep, needed: int, low: int, over: Callable[[], bool]) -> int | None:
    """A number of machines above `low` that serves `needed` requests, by doubling up to one per request; None if none does."""
    load = load_factor(sweep.requests, ScheduleProblem.alike(sweep.requests, 1).fleet)
    most = min(MOST_MACHINES, max(1, len(sweep.requests.name)))
    machines = max(low + 1, math.ceil(load) if math.isfinite(load) else 1)
    while not over():
        machines = min(machines, max(most, low))
        if sweep.at(machines, 0.5, bounded=False).served >= needed:
            return machines
        if machines >= most:
            return None
        machines *= 2
    return None


def proven_fewest(sweep: MachineSweep, share: float) -> int | None:
    """No schedule on fewer machines serves the share: by the bounds, if all requests are worth the same; else None."""
    value = sweep.requests.value
    lines = [(p.machines, p.bound, p.price) for p in sweep.points if p.bound is not None and p.price is not None]
    if not lines or not len(value) or value.min() != value.max() or value[0] <= 0:
        return None
    needed = math.ceil(share * len(value) - 1e-9) * float(value[0])
    least = 0
    for machines, bound, price in lines:
        if bound < needed * (1 - SLACK):  # not even here; with each machine more it rises by the price
            short = needed - bound - sweep.unit
            least = max(least, machines + 1, machines + (math.ceil(short / price * (1 - SLACK)) if price > 0 else 1))
    return least or None
