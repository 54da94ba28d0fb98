"""The time-expanded form of a stream, program (2) of [Online clusters]: the slots that matter, and what a plan takes in them."""

import math
from dataclasses import dataclass

import numpy as np

from bayplan.decide.admit.faults import expect_summable
from bayplan.decide.admit.one_shot.one_shot_problem import IMPOSSIBLE, OneShotProblem
from bayplan.model import ClusterRequests, FloatArray, IntArray, floats, ints

SLACK = 1e-9  # relative, of a bandwidth: sums of floats are not exact, and the referee has the same tolerance
LIFT = 1e-10  # relative: more than the rounding error of sums of a million terms
ROUNDING = 1e-14  # of each value: the rounding error of value - cost
BITS = 50  # of a price: few enough for sums of prices, and so differences of sums, to be exact


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TimeExpandedStream:
    """The slots of a stream, and when each request runs.

    Amounts m are the resources of each zone, zone by zone, then the links, by the zone they start from: M of [Online clusters].
    A use is a share of the capacity, so that every row of (2a) is at most 1. A slot is kept only if no other slot has all of its
    requests: then a request starts when the slot begins, and one ends when it ends.
    """

    stream: ClusterRequests
    slots: int
    first: IntArray  # (request,) its first slot
    last: IntArray  # (request,) the slot after its last
    share: FloatArray  # (amount,) 1 / capacity; 0 where there is none
    unit: float  # a power of two; so dividing by it is exact
    value: FloatArray  # (request,) in this unit: the largest is about 1, since tolerances of solvers are absolute

    @property
    def amounts(self) -> int:
        """The number of resources of all zones and of links."""
        return len(self.share)

    @property
    def links(self) -> int:
        """The number of links, which are the last of the amounts."""
        return self.stream.zones.bandwidth.size

    @property
    def bandwidth(self) -> FloatArray:
        """(zone, zone) the bandwidth of each link, with the tolerance of the referee."""
        return np.asarray(self.stream.zones.bandwidth * (1 + SLACK), dtype=np.float64)

    def one_shot_problem(
        self, i: int, price: FloatArray, *, free: IntArray | None = None, bandwidth: FloatArray | None = None
    ) -> OneShotProblem:
        """IQP (4) of a request at prices (amount,) of a whole capacity during the whole time of the request."""
        zones, request = self.stream.zones, self.stream.requests[i]
        n_z, n_r = zones.capacity.shape
        unit = price * self.share
        link = np.where(zones.bandwidth > 0, unit[n_z * n_r :].reshape(n_z, n_z), IMPOSSIBLE)
        np.fill_diagonal(link, 0.0)
        return OneShotProblem(
            cost=floats(request.demand @ unit[: n_z * n_r].reshape(n_z, n_r).T),
            demand=request.demand,
            free=ints(np.minimum(zones.request_cap, zones.capacity)) if free is None else free,
            traffic=request.traffic,
            link=floats(link[None]),
            pair=ints(np.zeros(request.traffic.shape)),
            bandwidth=self.bandwidth if bandwidth is None else bandwidth,
        )

    def during(self, price: FloatArray) -> FloatArray:
        """(request, amount) the sum of prices (slot, amount) over the slots of each request."""
        until = np.vstack([np.zeros((1, self.amounts)), np.cumsum(price, axis=0)])
        return np.asarray(np.maximum(until[self.last] - until[self.first], 0.0), dtype=np.float64)


def use_of_plans(stream: ClusterRequests, i: int, plans: IntArray) -> tuple[IntArray, FloatArray]:
    """(plan, zone, resource) demand and (plan, zone, zone) traffic of plans (plan, member) of one request."""
    request, n_z = stream.requests[i], len(stream.zones.name)
    which = np.arange(len(plans))
    demand = np.zeros((len(plans), *stream.zones.capacity.shape), dtype=np.int64)
    traffic = np.zeros((len(plans), n_z, n_z))
    for v in range(len(request.members)):
        demand[which, plans[:, v]] += request.demand[v]
        for w in np.flatnonzero(request.traffic[v]).tolist():
            traffic[which, plans[:, v], plans[:, w]] += request.traffic[v, w]
    traffic[:, np.arange(n_z), np.arange(n_z)] = 0.0
    return demand, traffic


def use_of_plan(stream: ClusterRequests, i: int, zone: IntArray) -> tuple[IntArray, FloatArray]:
    """(zone, resource) demand and (zone, zone) traffic of one plan."""
    request, n_z = stream.requests[i], len(stream.zones.name)
    demand, traffic = np.zeros(stream.zones.capacity.shape, dtype=np.int64), np.zeros((n_z, n_z))
    np.add.at(demand, zone, request.demand)
    np.add.at(traffic, np.ix_(zone, zone), request.traffic)
    np.fill_diagonal(traffic, 0.0)
    return demand, traffic


def use_shares(expanded: TimeExpandedStream, i: int, zone: IntArray) -> FloatArray:
    """(amount,) what a plan takes, as shares of the capacities."""
    demand, traffic = use_of_plan(expanded.stream, i, zone)
    return np.asarray(flat_amounts(demand[None], traffic[None])[0] * expanded.share, dtype=np.float64)


def flat_amounts(zone: IntArray | FloatArray, link: FloatArray) -> FloatArray:
    """(n, amount) from (n, zone, resource) and (n, zone, zone)."""
    flat = [part.reshape(len(part), part.shape[1] * part.shape[2]) for part in (zone, link)]
    return np.concatenate(flat, axis=1, dtype=np.float64)


def time_expanded(stream: ClusterRequests) -> TimeExpandedStream:
    """A stream in time-expanded form, in O(requests log requests). InputError if its amounts are too large to be added."""
    expect_summable(stream)
    start = np.array([request.start for request in stream.requests], dtype=np.float64)
    end = np.array([request.end for request in stream.requests], dtype=np.float64)
    begins, ends = _slots(start, end)
    capacity = np.concatenate([stream.zones.capacity.ravel(), stream.zones.bandwidth.ravel()]).astype(np.float64)
    unit = _unit(max((request.value for request in stream.requests), default=0.0))
    return TimeExpandedStream(
        stream=stream,
        slots=len(begins),
        first=ints(np.searchsorted(begins, start, side="left")),
        last=ints(np.searchsorted(ends, end, side="right")),
        share=floats(np.divide(1.0, capacity, out=np.zeros_like(capacity), where=capacity > 0)),
        unit=unit,
        value=floats([request.value / unit for request in stream.requests]),
    )


def _unit(largest: float) -> float:
    """The power of two that is just not above a value."""
    return math.ldexp(1.0, math.frexp(largest)[1] - 1) if largest > 0 else 1.0


def exact_prices(price: FloatArray) -> FloatArray:
    """Prices (slot, ...) rounded down to multiples of a unit so large that sums of them over slots are exact."""
    most = float(price.sum(axis=0).max(initial=0.0))
    if most <= 0.0:
        return price
    unit = 2.0 ** (math.ceil(math.log2(most)) - BITS)
    return np.asarray(np.floor(price / unit) * unit, dtype=np.float64)


def safe_bound(total: float, value: FloatArray) -> float:
    """A sum D(p) at exact prices, raised by more than its rounding error. `value` (request,)."""
    return total * (1.0 + LIFT) + ROUNDING * float(value.sum())


def _slots(start: FloatArray, end: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Begin and end of each slot that begins with a start and ends with an end."""
    times = np.unique(np.concatenate([start, end]))
    kept = np.isin(times[:-1], start) & np.isin(times[1:], end)
    return times[:-1][kept], times[1:][kept]
