"""A bound for streams of any length: all zones are treated as one, and all links as one.

Every plan of a request takes its whole demand from the zones together, and from the links together at least the least traffic
between groups of its members that each fit into some zone. So with p_mt as prices of these totals

    D(p) = sum p + sum_i max(0, b_i - sum over its slots of f_im p_mt)      f_im a share of the total capacity

is a bound of (2) for any p >= 0. It is minimised by a quasi-Newton method on a smooth function that lies a little above it.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

from bayplan.decide.admit.offline.time_expanded import SLACK, TimeExpandedStream, exact_prices, flat_amounts, safe_bound
from bayplan.kernels.admit.least_cut import least_cut
from bayplan.model import ClusterRequest, FloatArray, IntArray, Zones, floats, ints

SOFT = (0.3, 0.03, 0.003)  # smoothing in turn, relative to a mean value
STEPS = 150  # iterations of the quasi-Newton method, for each smoothing
CUT_NODES = 20_000  # of the search for the least traffic


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AggregateBound:
    """Prices of the totals, and the bound that they prove."""

    bound: float
    price: FloatArray  # (slot, resource) of a total capacity; the links' total comes last
    value: FloatArray  # (request,) 0 where a request fits nowhere
    cost: FloatArray  # (request,)

    def spread(self, expanded: TimeExpandedStream) -> FloatArray:
        """(slot, amount) prices of each zone and link, equal per unit in all zones and on all links: their bound is no higher."""
        zones, links = expanded.stream.zones, _links(expanded.stream.zones)
        total = np.maximum(zones.capacity.sum(axis=0, dtype=np.float64), 1)
        zone = self.price[:, None, :-1] * (zones.capacity / total)
        link = self.price[:, -1, None, None] * (links / max(1.0, float(links.sum())))
        return flat_amounts(zone, link)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AggregateDemand:
    """What each request takes of the totals; D(p) and its gradient."""

    expanded: TimeExpandedStream
    value: FloatArray  # (request,)
    use: FloatArray  # (request, total)

    def gain(self, price: FloatArray) -> FloatArray:
        """(request,) value less cost at prices (slot, total)."""
        until = np.vstack([np.zeros((1, price.shape[1])), np.cumsum(price, axis=0)])
        cost = ((until[self.expanded.last] - until[self.expanded.first]) * self.use).sum(axis=1)
        return np.asarray(self.value - cost, dtype=np.float64)

    def bound(self, price: FloatArray) -> float:
        """D(p) at exact prices, raised by more than its rounding error."""
        return safe_bound(float(price.sum() + np.maximum(self.gain(price), 0.0).sum()), self.value)

    def smooth(self, price: FloatArray, soft: float) -> tuple[float, FloatArray]:
        """A smooth function just above D(p), and its gradient: max(0, g) becomes soft * ln(1 + exp(g / soft))."""
        gain = self.gain(price) / soft
        chosen = 1.0 / (1.0 + np.exp(-np.clip(gain, -500, 500)))
        total = soft * np.logaddexp(0.0, gain).sum()
        slots, totals = price.shape
        change = np.zeros((slots + 1, totals))
        for m in range(totals):
            taken = chosen * self.use[:, m]
            change[:, m] = np.bincount(self.expanded.first, taken, slots + 1) - np.bincount(self.expanded.last, taken, slots + 1)
        return float(price.sum() + total), 1.0 - np.cumsum(change, axis=0)[:-1]


def aggregate_bound(expanded: TimeExpandedStream, late: Callable[[], bool]) -> AggregateBound:
    """The bound of the totals; when it is late, the best so far."""
    totals = _aggregate_demand(expanded, late)
    price = np.zeros((expanded.slots, totals.use.shape[1]))
    best, kept = totals.bound(price), price
    scale = float(totals.value.mean()) if len(totals.value) else 0.0
    for soft in SOFT if scale > 0 else ():
        price = exact_prices(_minimised(totals, price, soft, scale, late))
        if (bound := totals.bound(price)) < best:
            best, kept = bound, price
    return AggregateBound(bound=best, price=floats(kept), value=totals.value, cost=floats(totals.value - totals.gain(kept)))


class _LateError(Exception):
    """Raised inside the minimiser to stop it."""


def _minimised(totals: AggregateDemand, price: FloatArray, soft: float, scale: float, late: Callable[[], bool]) -> FloatArray:
    """Better prices than these. `scale` makes prices and function values about 1, which suits the method."""
    last = [price.ravel() / scale]

    def at(flat: FloatArray) -> tuple[float, FloatArray]:
        if late():
            raise _LateError
        value, gradient = totals.smooth(flat.reshape(price.shape) * scale, soft * scale)
        return value / scale, gradient.ravel()

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


def _aggregate_demand(expanded: TimeExpandedStream, late: Callable[[], bool]) -> AggregateDemand:
    """What each request takes of all zones and of all links; requests not examined in time take nothing of the links."""
    zones = expanded.stream.zones
    total = np.append(zones.capacity.sum(axis=0, dtype=np.float64), _links(zones).sum() * (1 + SLACK))
    share = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0)
    use = np.zeros((len(expanded.value), len(total)))
    fits = np.ones(len(expanded.value), dtype=np.bool_)
    free = ints(np.minimum(zones.request_cap, zones.capacity).max(axis=0))
    over = False
    for i, request in enumerate(expanded.stream.requests):
        use[i, :-1] = request.demand.sum(axis=0)
        over = over or (i % 64 == 0 and late())
        if not over and (use[i, :-1] > free).any():
            cut = _cut(request, free, len(zones.name))
            fits[i] = np.isfinite(cut)
            use[i, -1] = cut if fits[i] else 0.0
    return AggregateDemand(expanded=expanded, value=floats(expanded.value * fits), use=floats(use * share))


def _cut(request: ClusterRequest, free: IntArray, groups: int) -> float:
    """The least traffic between zones that a request needs; infinite if a member fits into no zone."""
    members = len(request.members)
    work = np.zeros((groups, len(free)), dtype=np.int64)
    both = request.traffic + request.traffic.T
    group, paid = np.zeros(members, dtype=np.int64), np.zeros(members + 1)
    cut = least_cut(request.demand, free, both, groups, CUT_NODES, work, group, paid)
    return max(0.0, float(cut))


def _links(zones: Zones) -> FloatArray:
    """(zone, zone) bandwidth, 0 from a zone to itself."""
    return np.asarray(zones.bandwidth * (1.0 - np.eye(len(zones.name))), dtype=np.float64)
