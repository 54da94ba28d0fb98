"""The fewest machines that serve a share, and what the bounds on several numbers of machines prove together."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from bayplan.api.schedule_sweeper import Sweeper, on_machines
from bayplan.api.schedule_wishes import MOST_MACHINES
from bayplan.report.answers.sweep_tables import FewestMachines, SweepPoint
from bayplan.score.timed_load import load_factor

SLACK = 1e-9  # relative: what rounding may take from a line of bounds


def fewest(sweeper: Sweeper, share: float, over: Callable[[], bool]) -> FewestMachines | None:
    """The number of machines that serves the share while one less does not, by bisection; None if it was cut short.

    Exact for the method: both answers were asked for. What is asked on the way gets no bound, which takes longer than the
    answer; these two do. A method whose served share sometimes falls with more machines could serve the share on still fewer.
    """
    requests = len(sweeper.question.problem.requests.name)
    need = math.ceil(share * requests - 1e-9)
    low = max((m for m, point in sweeper.known.items() if point.served < need), default=-1)
    enough = [m for m, point in sweeper.known.items() if point.served >= need]
    high = min((m for m in enough if m > low), default=None)
    if high is None:
        high = _enough(sweeper, need, max(low, 0), over)
    if high is None:
        best = max((point.served for point in sweeper.known.values()), default=0)
        if over():
            return None
        return FewestMachines(share=share, machines=None, served=best / max(1, requests), one_less=None, at_least=None)
    low = max((m for m, point in sweeper.known.items() if point.served < need and m < high), default=-1)
    while high - low > 1:
        if over():
            return None
        middle = (low + high) // 2
        low, high = (low, middle) if sweeper.at(middle, 0.5, bounded=False).served >= need else (middle, high)
    for machines in (low, high):
        sweeper.bound(machines, over)
    less = sweeper.known[low].served / max(1, requests) if low >= 0 else None
    least = proven_fewest(sweeper, share)
    return FewestMachines(
        share=share, machines=high, served=sweeper.known[high].served / max(1, requests), one_less=less, at_least=least
    )


def _enough(sweeper: Sweeper, need: int, low: int, over: Callable[[], bool]) -> int | None:
    """A number of machines above `low` that serves so many, by doubling up to one machine per request; None if none does."""
    problem = on_machines(sweeper.question, 1)
    load = load_factor(problem.requests, problem.fleet)
    most = min(MOST_MACHINES, max(1, len(problem.requests.name)))
    machines = max(low + 1, math.ceil(load) if math.isfinite(load) else 1)
    while not over():
        machines = min(machines, max(most, low))
        if sweeper.at(machines, 0.5, bounded=False).served >= need:
            return machines
        if machines >= most:
            return None
        machines *= 2
    return None


def tightened(points: Sequence[SweepPoint], unit: float) -> list[SweepPoint]:
    """The same points with every bound as low as the others prove.

    Prices found for K machines bound every number of machines: no schedule on K' is worth more than D + (K' - K) x the price
    of a machine. `unit`: by so much D may have been rounded down, because values are multiples of it. And more machines are
    never worth less. A bound that another number of machines has proven takes its price, too: it rises by that.
    """
    lines = [(p.machines, p.bound + unit, p.price) for p in points if p.bound is not None and p.price is not None]
    found: list[SweepPoint] = []
    above = math.inf
    for point in reversed(points):
        if point.bound is None:
            found.append(point)
            continue
        by_line, price = min(((at + (point.machines - m) * each, each) for m, at, each in lines), default=(math.inf, None))
        lifted = by_line * (1 + SLACK) if by_line >= 0 else math.inf
        above = min(above, point.bound, math.floor(lifted / unit) * unit if unit and lifted < math.inf else lifted)
        own = point.bound <= above
        found.append(replace(point, bound=max(point.value, above), price=point.price if own else price))
    return found[::-1]


def proven_fewest(sweeper: Sweeper, share: float) -> int | None:
    """No schedule on fewer machines serves the share: by the bounds, if all requests are worth the same; else None."""
    value = sweeper.question.problem.requests.value
    lines = [(p.machines, p.bound, p.price) for p in sweeper.points if p.bound is not None and p.price is not None]
    if not lines or not len(value) or value.min() != value.max() or value[0] <= 0:
        return None
    need = math.ceil(share * len(value) - 1e-9) * float(value[0])
    least = 0
    for machines, bound, price in lines:
        if bound < need * (1 - SLACK):  # not even here; with each machine more it rises by the price
            short = need - bound - sweeper.unit
            least = max(least, machines + 1, machines + (math.ceil(short / price * (1 - SLACK)) if price > 0 else 1))
    return least or None
