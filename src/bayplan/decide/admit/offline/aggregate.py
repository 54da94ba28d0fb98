"""A bound for streams of any length: all zones taken for one, and all links for one.

Every plan of a request takes its whole demand from the zones together, and from the links together at least the least traffic
between groups of its members that each fit into some zone. So with p_mt now prices of these totals

    D(p) = sum p + sum_i max(0, b_i - sum over its slots of f_im p_mt)      f_im a share of the total capacity

is a bound of (2) for any p >= 0. It is minimised by a quasi-Newton method on a smooth function that lies a little above it.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from bayplan.decide.admit.offline.ground import SLACK, Ground, side_by_side
from bayplan.kernels.admit.cut import least_cut
from bayplan.model import ClusterRequest, FloatArray, IntArray, Zones, floats, ints

SOFT = (0.3, 0.03, 0.003)  # how smooth, in turn, relative to a mean value
STEPS = 150  # of the quasi-Newton method, for each
CUT_NODES = 20_000  # of the search for the least traffic


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Aggregate:
    """Prices of the totals, and their bound."""

    bound: float
    price: FloatArray  # (slot, resource) of a total capacity; the links' total comes last
    value: FloatArray  # (request,) 0 where a request fits nowhere
    cost: FloatArray  # (request,)

    def spread(self, ground: Ground) -> FloatArray:
        """(slot, amount) the prices of each zone and link that are the same everywhere for one unit: their bound is no higher."""
        zones, links = ground.stream.zones, _links(ground.stream.zones)
        total = np.maximum(zones.capacity.sum(axis=0, dtype=np.float64), 1)
        zone = self.price[:, None, :-1] * (zones.capacity / total)
        link = self.price[:, -1, None, None] * (links / max(1.0, float(links.sum())))
        return side_by_side(zone, link)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Totals:
    """D(p) and its slope."""

    ground: Ground
    value: FloatArray  # (request,)
    use: FloatArray  # (request, total)

    def gain(self, price: FloatArray) -> FloatArray:
        """(request,) value less cost at prices (slot, total)."""
        until = np.vstack([np.zeros((1, price.shape[1])), np.cumsum(price, axis=0)])
        cost = ((until[self.ground.last] - until[self.ground.first]) * self.use).sum(axis=1)
        return np.asarray(self.value - cost, dtype=np.float64)

    def bound(self, price: FloatArray) -> float:
        """D(p)."""
        return float(price.sum() + np.maximum(self.gain(price), 0.0).sum())

    def smooth(self, price: FloatArray, soft: float) -> tuple[float, FloatArray]:
        """A little more than D(p), and its slope: max(0, g) becomes soft * ln(1 + exp(g / soft))."""
        gain = self.gain(price) / soft
        chosen = 1.0 / (1.0 + np.exp(-np.clip(gain, -500, 500)))
        total = soft * np.logaddexp(0.0, gain).sum()
        slots, totals = price.shape
        change = np.zeros((slots + 1, totals))
        for m in range(totals):
            taken = chosen * self.use[:, m]
            change[:, m] = np.bincount(self.ground.first, taken, slots + 1) - np.bincount(self.ground.last, taken, slots + 1)
        return float(price.sum() + total), 1.0 - np.cumsum(change, axis=0)[:-1]


def aggregate(ground: Ground, late: Callable[[], bool]) -> Aggregate:
    """The bound of the totals; at the latest when time is over, whatever it has reached."""
    totals = _totals(ground, late)
    price = np.zeros((ground.slots, totals.use.shape[1]))
    best, kept = totals.bound(price), price
    scale = float(totals.value.mean()) if len(totals.value) else 0.0
    for soft in SOFT if scale > 0 else ():
        price = _minimised(totals, price, soft, scale, late)
        if (bound := totals.bound(price)) < best:
            best, kept = bound, price
    return Aggregate(bound=best, price=floats(kept), value=totals.value, cost=floats(totals.value - totals.gain(kept)))


class _LateError(Exception):
    """Time is over."""


def _minimised(totals: Totals, price: FloatArray, soft: float, scale: float, late: Callable[[], bool]) -> FloatArray:
    """Better prices than these. `scale`: prices and heights of about 1 suit the method."""
    last = [price.ravel() / scale]

    def at(flat: FloatArray) -> tuple[float, FloatArray]:
        if late():
            raise _LateError
        height, slope = totals.smooth(flat.reshape(price.shape) * scale, soft * scale)
        return height / scale, slope.ravel()

    def keep(flat: FloatArray) -> None:
        last[0] = flat.copy()

    settings: dict[str, Any] = {
        "jac": True,
        "bounds": [(0.0, None)] * price.size,
        "callback": keep,
        "options": {"maxiter": STEPS, "maxcor": 20, "ftol": 1e-10, "gtol": 1e-6},
    }
    with suppress(_LateError):
        minimize(at, last[0], method="L-BFGS-B", **settings)
    return np.maximum(last[0].reshape(price.shape) * scale, 0.0)


def _totals(ground: Ground, late: Callable[[], bool]) -> Totals:
    """What each request takes of all zones and of all links; what was not looked at in time takes nothing of the links."""
    zones = ground.stream.zones
    total = np.append(zones.capacity.sum(axis=0, dtype=np.float64), _links(zones).sum() * (1 + SLACK))
    share = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
    use = np.zeros((len(ground.value), len(total)))
    fits = np.ones(len(ground.value), dtype=np.bool_)
    room = ints(np.minimum(zones.request_cap, zones.capacity).max(axis=0))
    over = False
    for i, request in enumerate(ground.stream.requests):
        use[i, :-1] = request.demand.sum(axis=0)
        over = over or (i % 64 == 0 and late())
        if not over and (use[i, :-1] > room).any():
            cut = _cut(request, room, len(zones.name))
            fits[i] = np.isfinite(cut)
            use[i, -1] = cut if fits[i] else 0.0
    return Totals(ground=ground, value=floats(ground.value * fits), use=floats(use * share))


def _cut(request: ClusterRequest, room: IntArray, groups: int) -> float:
    """The least traffic between zones that a request needs; infinite if no zone has room for one of its members."""
    members = len(request.members)
    work = np.zeros((groups, len(room)), dtype=np.int64)
    both = request.traffic + request.traffic.T
    group, paid = np.zeros(members, dtype=np.int64), np.zeros(members + 1)
    cut = least_cut(request.demand, room, both, groups, CUT_NODES, work, group, paid)
    return max(0.0, float(cut))


def _links(zones: Zones) -> FloatArray:
    """(zone, zone) bandwidth, none from a zone to itself."""
    return np.asarray(zones.bandwidth * (1.0 - np.eye(len(zones.name))), dtype=np.float64)
