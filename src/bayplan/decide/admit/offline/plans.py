"""All plans of a request, where they are few: the columns of (2) written out."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bayplan.decide.admit.offline.ground import Ground, side_by_side, taken
from bayplan.model import FloatArray, IntArray, ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Plans:
    """Ways to place one request, and what each takes."""

    zone: IntArray  # (plan, member)
    use: FloatArray  # (plan, amount) as a share of the capacity


def how_many(ground: Ground, i: int) -> float:
    """S^V, those that do not fit included."""
    return float(len(ground.stream.zones.name)) ** len(ground.stream.requests[i].members)


def plans_of(ground: Ground, i: int) -> Plans:
    """Every plan that keeps (1d), and all capacities if the request is alone."""
    zones = ground.stream.zones
    every = _every(len(zones.name), len(ground.stream.requests[i].members))
    demand, traffic = taken(ground.stream, i, every)
    room = np.minimum(zones.request_cap, zones.capacity)
    fits = (demand <= room).all(axis=(1, 2)) & (traffic <= ground.bandwidth).all(axis=(1, 2))
    return Plans(zone=ints(every[fits]), use=side_by_side(demand[fits], traffic[fits]) * ground.share)


@lru_cache(maxsize=8)
def _every(zones: int, members: int) -> IntArray:
    return ints(np.indices((zones,) * members).reshape(members, -1).T)
