"""How full zones and links are while a stream runs."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bayplan.model import Acceptance, ClusterRequests, FloatArray, IntArray, Resource, Zones, floats

COLUMNS = 240  # pieces of time at most: more cannot be seen
LINKS = "links"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UseOverTime:
    """Shares of capacity, on average over each piece of time."""

    resources: tuple[Resource, ...]
    edge: FloatArray  # (piece + 1,) moments between the pieces
    zone: FloatArray  # (piece, zone, resource); not a number where a zone has none
    link: FloatArray  # (piece, zone, zone); not a number where there is no link
    total: FloatArray  # (piece, resource + 1) of all zones together, and of all links

    def totals(self) -> Iterator[tuple[str, float, float]]:
        """Each resource, and the links: its mean and its highest piece."""
        for k, name in enumerate([*(resource.name for resource in self.resources), LINKS]):
            share = self.total[:, k]
            if len(share) and np.isfinite(share).all():
                yield name, float(share.mean()), float(share.max())


class _Taken(NamedTuple):
    """What accepted requests take: of a place, how much, from when to when."""

    place: IntArray  # (entry,)
    amount: FloatArray  # (entry, kind)
    start: FloatArray  # (entry,)
    end: FloatArray


def use_over_time(stream: ClusterRequests, acceptance: Acceptance, slot: float) -> UseOverTime:
    """The shares, by slots of that length, or by pieces of several of them if there are too many."""
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
    """(piece + 1,) from the first start to the last end, on the grid of slots."""
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


def _demand(stream: ClusterRequests, acceptance: Acceptance, n_r: int) -> _Taken:
    some = [(request, zone) for request, zone in zip(stream.requests, acceptance.zone_of, strict=True) if zone is not None]
    size = [len(zone) for _, zone in some]
    return _Taken(
        place=np.concatenate([zone for _, zone in some]) if some else np.zeros(0, dtype=np.int64),
        amount=np.concatenate([request.demand for request, _ in some]).astype(np.float64) if some else np.zeros((0, n_r)),
        start=np.repeat([request.start for request, _ in some], size),
        end=np.repeat([request.end for request, _ in some], size),
    )


def _traffic(stream: ClusterRequests, acceptance: Acceptance, n_z: int) -> _Taken:
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
        return _Taken(np.zeros(0, dtype=np.int64), np.zeros((0, 1)), np.zeros(0), np.zeros(0))
    return _Taken(np.concatenate(place), np.concatenate(amount)[:, None], np.concatenate(start), np.concatenate(end))


def _means(taken: _Taken, places: int, edge: FloatArray) -> FloatArray:
    """(piece, place, kind) the mean load over each piece of time.

    The integral of a load that begins in a piece grows by the rest of that piece, then by whole pieces; likewise its end.
    """
    pieces, wide = len(edge) - 1, float(edge[1] - edge[0])
    now = np.zeros((pieces + 1, places, taken.amount.shape[1]))
    later = np.zeros_like(now)
    for moment, sign in ((taken.start, 1.0), (taken.end, -1.0)):
        piece = np.clip(((moment - edge[0]) // wide).astype(np.int64), 0, pieces)
        rest = np.where(piece < pieces, edge[0] + (piece + 1) * wide - moment, 0.0) / wide
        np.add.at(now, (piece, taken.place), sign * rest[:, None] * taken.amount)
        np.add.at(later, (np.minimum(piece + 1, pieces), taken.place), sign * taken.amount)
    return np.maximum((now + np.cumsum(later, axis=0))[:pieces], 0.0)
