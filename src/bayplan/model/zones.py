"""Zones with links, and the groups of communicating containers that ask for admission ([Online clusters])."""

from dataclasses import dataclass

import numpy as np

from bayplan.errors import ModelError
from bayplan.model.arrays import FloatArray, IntArray, floats, ints
from bayplan.model.cluster import Resource


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Zones:
    """Where clusters of containers can go: K capacities a zone, and directed links."""

    name: tuple[str, ...]  # (zone,)
    resources: tuple[Resource, ...]
    capacity: IntArray  # (zone, resource) C of [Online clusters] (1b)
    request_cap: IntArray  # (zone, resource) B of [Online clusters] (1d): the most that one request may take there
    bandwidth: IntArray  # (zone, zone) D of [Online clusters] (1e), from, to; 0 where there is no link: forbidden, not free

    def __post_init__(self) -> None:
        for field in ("capacity", "request_cap", "bandwidth"):
            object.__setattr__(self, field, ints(getattr(self, field)))
        n, k = len(self.name), len(self.resources)
        shapes = [self.capacity.shape, self.request_cap.shape, self.bandwidth.shape]
        if shapes != [(n, k), (n, k), (n, n)]:
            raise ModelError(f"zones: arrays of shapes {shapes} for {n} zones and {k} resources")
        if min(a.min(initial=0) for a in (self.capacity, self.request_cap, self.bandwidth)) < 0:
            raise ModelError("zones: an amount is negative")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ClusterRequest:
    """A group of containers that comes and goes as one, during (start, end]."""

    name: str
    members: tuple[str, ...]  # (member,)
    demand: IntArray  # (member, resource)
    traffic: FloatArray  # (member, member) from, to, in the unit of the links; 0 on the diagonal
    arrival: float
    start: float
    end: float
    value: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "demand", ints(self.demand))
        object.__setattr__(self, "traffic", floats(self.traffic))
        v = len(self.members)
        if v == 0 or self.demand.shape[:1] != (v,) or self.traffic.shape != (v, v):
            raise ModelError(f"request '{self.name}': demand {self.demand.shape}, traffic {self.traffic.shape} for {v} members")
        if not self.arrival <= self.start < self.end:
            raise ModelError(f"request '{self.name}': times {self.arrival}, {self.start}, {self.end} are not in order")
        amounts = np.concatenate([self.demand.ravel().astype(float), self.traffic.ravel(), [self.value]])
        if not np.isfinite([self.start, self.end, self.arrival]).all() or not (np.isfinite(amounts) & (amounts >= 0)).all():
            raise ModelError(f"request '{self.name}': an amount is negative or not finite")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterRequests:
    """The zones and the requests, in order of arrival."""

    zones: Zones
    requests: tuple[ClusterRequest, ...]

    def __post_init__(self) -> None:
        arrivals = [request.arrival for request in self.requests]
        if arrivals != sorted(arrivals):
            raise ModelError("cluster requests are not in order of arrival")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Acceptance:
    """Per request None if it is refused, else one zone index per member."""

    zone_of: tuple[IntArray | None, ...]  # (request,), each (member,)

    def __post_init__(self) -> None:
        zone_of = tuple(None if zones is None else ints(zones) for zones in self.zone_of)
        object.__setattr__(self, "zone_of", zone_of)
        if any(zones is not None and (zones.ndim != 1 or zones.min(initial=0) < 0) for zones in zone_of):
            raise ModelError("an acceptance is None or one zone index per member, for each request")

    @property
    def accepted(self) -> IntArray:
        """Requests that are accepted."""
        return ints([i for i, zones in enumerate(self.zone_of) if zones is not None])
