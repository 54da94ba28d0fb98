"""What every scheduler is asked: these requests, those machines."""

from dataclasses import dataclass

import numpy as np

from bayplan.errors import ModelError
from bayplan.model import BoolArray, Fleet, FloatArray, TimedRequests


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScheduleProblem:
    """Choose which requests to serve and on which machine, so that no machine is over capacity at any time."""

    requests: TimedRequests
    fleet: Fleet

    def __post_init__(self) -> None:
        if self.fleet.capacity.shape[1] != len(self.requests.resources):
            raise ModelError(
                f"a fleet of {self.fleet.capacity.shape[1]} resources for requests of {len(self.requests.resources)}"
            )

    @classmethod
    def alike(cls, requests: TimedRequests, machines: int) -> "ScheduleProblem":
        """On so many machines of the requests' own size."""
        return cls(requests=requests, fleet=Fleet.alike(machines, requests.capacity))

    def fits(self, kind: int) -> BoolArray:
        """(request,) would it run on an empty machine of this kind?"""
        return np.asarray((self.requests.demand <= self.fleet.capacity[kind]).all(axis=1), dtype=np.bool_)

    def share(self, kind: int) -> FloatArray:
        """(request, resource) a_j, b_j, ... of 002: demand in machines of this kind; nothing of a resource it lacks is 0."""
        capacity = self.fleet.capacity[kind]
        return np.where(
            capacity > 0, self.requests.demand / np.maximum(capacity, 1), np.where(self.requests.demand > 0, np.inf, 0.0)
        )

    @property
    def possible(self) -> BoolArray:
        """(request,) is there a machine that it would run on if that were empty?"""
        kinds = [self.fits(kind) for kind in np.flatnonzero(self.fleet.machines).tolist()]
        return np.logical_or.reduce(kinds) if kinds else np.zeros(len(self.requests.name), dtype=np.bool_)
