"""What a stream is to program (2) of 001: the slots in which something may be full, and what a plan takes there."""

from dataclasses import dataclass

import numpy as np

from bayplan.decide.admit.limits import expect_summable
from bayplan.decide.admit.oneshot.case import NOWHERE, Case
from bayplan.model import ClusterRequests, FloatArray, IntArray, floats, ints

SLACK = 1e-9  # of a bandwidth: sums of floats are not exact, and the referee grants as much


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ground:
    """Amounts m are the resources of each zone, zone by zone, then the links, from zone by from zone: M of 001.

    A use is a share of the capacity, so that every row of (2a) is at most 1. Of the slots only those are kept whose requests
    are not all in another: there a request has started when the slot begins, and one ends when it ends.
    """

    stream: ClusterRequests
    slots: int
    first: IntArray  # (request,) its first slot
    last: IntArray  # (request,) one after its last
    share: FloatArray  # (amount,) one by the capacity; 0 where there is none, for nothing fits there
    value: FloatArray  # (request,)

    @property
    def amounts(self) -> int:
        """How many resources of zones and links there are."""
        return len(self.share)

    @property
    def bandwidth(self) -> FloatArray:
        """(zone, zone) what a link can take, with what the referee grants."""
        return np.asarray(self.stream.zones.bandwidth * (1 + SLACK), dtype=np.float64)

    def case(self, i: int, price: FloatArray, *, room: IntArray | None = None, bandwidth: FloatArray | None = None) -> Case:
        """IQP (4) of a request at prices (amount,) of a whole capacity during all of its time."""
        zones, request = self.stream.zones, self.stream.requests[i]
        n_z, n_r = zones.capacity.shape
        unit = price * self.share
        link = np.where(zones.bandwidth > 0, unit[n_z * n_r :].reshape(n_z, n_z), NOWHERE)
        np.fill_diagonal(link, 0.0)
        return Case(
            cost=floats(request.demand @ unit[: n_z * n_r].reshape(n_z, n_r).T),
            demand=request.demand,
            room=ints(np.minimum(zones.request_cap, zones.capacity)) if room is None else room,
            traffic=request.traffic,
            link=floats(link[None]),
            pair=ints(np.zeros(request.traffic.shape)),
            bandwidth=self.bandwidth if bandwidth is None else bandwidth,
        )

    def during(self, price: FloatArray) -> FloatArray:
        """(request, amount) the price of all of the time of each request, of prices (slot, amount)."""
        until = np.vstack([np.zeros((1, self.amounts)), np.cumsum(price, axis=0)])
        return np.asarray(np.maximum(until[self.last] - until[self.first], 0.0), dtype=np.float64)


def taken(stream: ClusterRequests, i: int, plans: IntArray) -> tuple[IntArray, FloatArray]:
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


def taken_by(stream: ClusterRequests, i: int, zone: IntArray) -> tuple[IntArray, FloatArray]:
    """(zone, resource) and (zone, zone) of one plan."""
    request, n_z = stream.requests[i], len(stream.zones.name)
    demand, traffic = np.zeros(stream.zones.capacity.shape, dtype=np.int64), np.zeros((n_z, n_z))
    np.add.at(demand, zone, request.demand)
    np.add.at(traffic, np.ix_(zone, zone), request.traffic)
    np.fill_diagonal(traffic, 0.0)
    return demand, traffic


def use_of(ground: Ground, i: int, zone: IntArray) -> FloatArray:
    """(amount,) what a plan takes, as shares of the capacities."""
    demand, traffic = taken_by(ground.stream, i, zone)
    return np.asarray(side_by_side(demand[None], traffic[None])[0] * ground.share, dtype=np.float64)


def side_by_side(zone: IntArray | FloatArray, link: FloatArray) -> FloatArray:
    """(any, amount) of (any, zone, resource) and (any, zone, zone)."""
    flat = [some.reshape(len(some), some.shape[1] * some.shape[2]) for some in (zone, link)]
    return np.concatenate(flat, axis=1, dtype=np.float64)


def ground_of(stream: ClusterRequests) -> Ground:
    """The ground of a stream: O(requests log requests). InputError if its amounts cannot be added up."""
    expect_summable(stream)
    start = np.array([request.start for request in stream.requests], dtype=np.float64)
    end = np.array([request.end for request in stream.requests], dtype=np.float64)
    begins, ends = _slots(start, end)
    capacity = np.concatenate([stream.zones.capacity.ravel(), stream.zones.bandwidth.ravel()]).astype(np.float64)
    return Ground(
        stream=stream,
        slots=len(begins),
        first=ints(np.searchsorted(begins, start, side="left")),
        last=ints(np.searchsorted(ends, end, side="right")),
        share=floats(np.divide(1.0, capacity, out=np.zeros_like(capacity), where=capacity > 0)),
        value=floats([request.value for request in stream.requests]),
    )


def _slots(start: FloatArray, end: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Begin and end of each slot that begins with a start and ends with an end."""
    times = np.unique(np.concatenate([start, end]))
    kept = np.isin(times[:-1], start) & np.isin(times[1:], end)
    return times[:-1][kept], times[1:][kept]
