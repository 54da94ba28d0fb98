"""Answers on several numbers of machines, and what their bounds prove together."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from bayplan.model.result import relative_gap, verdict

SLACK = 1e-9  # relative: the rounding error of a line of bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPoint:
    """The answer on a number of machines."""

    machines: int
    served: int
    value: float
    bound: float | None  # no schedule on that many machines is worth more
    price: float | None  # what a proven bound gains at most with each further machine
    seconds: float

    @property
    def gap(self) -> float | None:
        """As in every result."""
        return None if self.bound is None else relative_gap("value", self.value, self.bound)


@dataclass(frozen=True, slots=True, kw_only=True)
class FewestMachines:
    """The fewest machines that serve a stated share."""

    share: float  # that is to be served
    machines: int | None  # None: not even the most that were tried
    served: float  # the share that they serve; the largest that was seen if there are none
    one_less: float | None  # the share that one machine less serves; None for no machines
    at_least: int | None  # proven: no schedule on fewer machines serves the share; None if nothing is proven


def slopes(points: Sequence[SweepPoint]) -> list[float | None]:
    """What each machine more adds to the value, from each point to the next; None at the last."""
    steps = [(b.value - a.value) / (b.machines - a.machines) for a, b in pairwise(points)]
    return [*steps, *([None] if points else [])]


def tightened(points: Sequence[SweepPoint], unit: float) -> list[SweepPoint]:
    """The same points, by number of machines, with every bound as low as the others prove.

    Prices found for K machines bound every number of machines: no schedule on K' is worth more than D + (K' - K) x the price
    of a machine. `unit`: how much D may have been rounded down, because values are multiples of it. And more machines are never
    worth less. A bound that another number of machines has proven takes its price, too: it rises by that.
    """
    lines = [(p.machines, p.bound + unit, p.price) for p in points if p.bound is not None and p.price is not None]
    tight: list[SweepPoint] = []
    above = math.inf
    for point in reversed(points):
        if point.bound is None:
            tight.append(point)
            continue
        by_line, price = min(((at + (point.machines - m) * each, each) for m, at, each in lines), default=(math.inf, None))
        lifted = by_line * (1 + SLACK) if by_line >= 0 else math.inf
        above = min(above, point.bound, math.floor(lifted / unit) * unit if unit and lifted < math.inf else lifted)
        own = point.bound <= above
        proven = verdict("value", point.value, above).bound
        tight.append(replace(point, bound=proven, price=point.price if own else price))
    return tight[::-1]
