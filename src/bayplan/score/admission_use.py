"""The use of zones and links over time by the accepted requests of a stream."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayplan.model import Acceptance, ClusterRequests, FloatArray, IntArray, Resource, Zones, floats

COLUMNS = 240  # intervals at most: a picture shows no more
LINKS = "links"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UseOverTime:
    """Shares of capacity in use, on average over each interval of time."""

    resources: tuple[Resource, ...]
    edge: FloatArray  # (interval + 1,) times
    zone: FloatArray  # (interval, zone, resource); NaN where a zone has none
    link: FloatArray  # (interval, zone, zone); NaN where there is no link
    total: FloatArray  # (interval, resource + 1) of all zones together, and of all links

    def totals(self) -> Iterator[tuple[str, float, float]]:
        """For each resource and for the links: name, mean share, and the share of the fullest interval."""
        for k, name in enumerate([*(resource.name for resource in self.resources), LINKS]):
            share = self.total[:, k]
            if len(share) and np.isfinite(share).all():
                yield name, float(share.mean()), float(share.max())


class _Use(NamedTuple):
    """What accepted requests take: where, how much, from when to when."""

    place: IntArray  # (entry,)
    amount: FloatArray  # (entry, kind)
    start: FloatArray  # (entry,)
    end: FloatArray


def use_over_time(stream: ClusterRequests, acceptance: Acceptance, slot: float) -> UseOverTime:
    """Shares in use, by slots of that length, or by intervals of several slots if there are too many."""
    zones, edge = stream.zones, edges(stream, slot)
    n_z, n_r = zones.capacity.shape
    demand = _demand(stream, acceptance, n_r)
    zone = _means(demand, n_z, edge)
    link = _means(_traffic(stream, acceptance, n_z), n_z * n_z, edge)[:, :, 0]
    bandwidth = _linked(zones)
    whole = np.concatenate([zone.sum(axis=1), link.sum(axis=1, keepdims=True)], axis=1)
    has = np.append(zones.capacity.sum(axis=0, dtype=np.float64), bandwidth.sum())
    return UseOverTime(
        resources=zones.resources,
        edge=edge,
        zone=_share(zone, zones.capacity.astype(np.float64)),
        link=_share(link.reshape(-1, n_z, n_z), bandwidth),
        total=_share(whole, has),
    )


def edges(stream: ClusterRequests, slot: float) -> FloatArray:
    """(interval + 1,) times from the first start to the last end, on the grid of slots."""
    if not stream.requests:
        return floats([0.0, slot])
    first = math.floor(min(request.start for request in stream.requests) / slot)
    last = math.ceil(max(request.end for request in stream.requests) / slot)
    each = max(1, -(-(last - first) // COLUMNS))
    return floats((first + each * np.arange(-(-(last - first) // each) + 1)) * slot)


def _linked(zones: Zones) -> FloatArray:
    return floats(zones.bandwidth * (1.0 - np.eye(len(zones.name))))


def _share(amount: FloatArray, has: FloatArray) -> FloatArray:
    return floats(np.divide(amount, has, out=np.full(amount.shape, np.nan), where=np.broadcast_to(has > 0, amount.shape)))


def _demand(stream: ClusterRequests, acceptance: Acceptance, n_r: int) -> _Use:
    accepted = [(request, zone) for request, zone in zip(stream.requests, acceptance.zone_of, strict=True) if zone is not None]
    size = [len(zone) for _, zone in accepted]
    return _Use(
        place=np.concatenate([zone for _, zone in accepted]) if accepted else np.zeros(0, dtype=np.int64),
        amount=np.concatenate([request.demand for request, _ in accepted]).astype(np.float64) if accepted else np.zeros((0, n_r)),
        start=np.repeat([request.start for request, _ in accepted], size),
        end=np.repeat([request.end for request, _ in accepted], size),
    )


def _traffic(stream: ClusterRequests, acceptance: Acceptance, n_z: int) -> _Use:
    place, amount, start, end = [], [], [], []
    for request, zone in zip(stream.requests, acceptance.zone_of, strict=True):
        if zone is None:
            continue
        v, w = np.nonzero(request.traffic)
        a, b = zone[v], zone[w]
        apart = a != b
        place.append((a * n_z + b)[apart])
        amount.append(request.traffic[v, w][apart])
        start.append(np.full(int(apart.sum()), request.start))
        end.append(np.full(int(apart.sum()), request.end))
    if not place:
        return _Use(np.zeros(0, dtype=np.int64), np.zeros((0, 1)), np.zeros(0), np.zeros(0))
    return _Use(np.concatenate(place), np.concatenate(amount)[:, None], np.concatenate(start), np.concatenate(end))


def _means(use: _Use, places: int, edge: FloatArray) -> FloatArray:
    """(interval, place, kind) the mean load over each interval of time.

    The integral of a load that begins in an interval grows by the remainder of that interval, then by whole intervals; the same
    holds for its end.
    """
    intervals, wide = len(edge) - 1, float(edge[1] - edge[0])
    now = np.zeros((intervals + 1, places, use.amount.shape[1]))
    later = np.zeros_like(now)
    for time, sign in ((use.start, 1.0), (use.end, -1.0)):
        interval = np.clip(((time - edge[0]) // wide).astype(np.int64), 0, intervals)
        remainder = np.where(interval < intervals, edge[0] + (interval + 1) * wide - time, 0.0) / wide
        np.add.at(now, (interval, use.place), sign * remainder[:, None] * use.amount)
        np.add.at(later, (np.minimum(interval + 1, intervals), use.place), sign * use.amount)
    return np.maximum((now + np.cumsum(later, axis=0))[:intervals], 0.0)
