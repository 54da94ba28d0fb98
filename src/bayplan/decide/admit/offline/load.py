"""What the accepted requests take in every slot, and whether one more fits; the plans that make up an answer."""

import numpy as np

from bayplan.decide.admit.offline.ground import Ground, side_by_side, taken_by
from bayplan.model import FloatArray, IntArray, ints


class Load:
    """Loads of the slots of a ground, and who makes them."""

    def __init__(self, ground: Ground) -> None:
        n_z, n_r = ground.stream.zones.capacity.shape
        self.ground = ground
        self.zone_of: list[IntArray | None] = [None] * len(ground.value)
        self.value = 0.0
        self._demand = np.zeros((ground.slots, n_z, n_r), dtype=np.int64)
        self._traffic = np.zeros((ground.slots, n_z, n_z))

    def free(self, i: int) -> tuple[IntArray, FloatArray]:
        """(zone, resource) and (zone, zone): what a request finds during all of its time; never below zero."""
        zones, when = self.ground.stream.zones, self._when(i)
        room = np.minimum(zones.request_cap, zones.capacity - self._demand[when].max(axis=0))
        return ints(room), np.maximum(self.ground.bandwidth - self._traffic[when].max(axis=0), 0.0)

    def share(self, i: int) -> FloatArray:
        """(amount,) the fullest that each amount is during a request's time."""
        when = self._when(i)
        most = side_by_side(self._demand[when].max(axis=0)[None], self._traffic[when].max(axis=0)[None])
        return np.asarray(most[0] * self.ground.share, dtype=np.float64)

    def fits(self, i: int, zone: IntArray) -> bool:
        """Is there room for this plan?"""
        room, bandwidth = self.free(i)
        demand, traffic = taken_by(self.ground.stream, i, zone)
        return bool((demand <= room).all() and (traffic <= bandwidth).all())

    def put(self, i: int, zone: IntArray) -> None:
        """Accept a request."""
        self._add(i, zone, 1)
        self.zone_of[i] = zone
        self.value = self._total()

    def remove(self, i: int) -> None:
        """Refuse an accepted request after all."""
        zone = self.zone_of[i]
        if zone is not None:
            self._add(i, zone, -1)
            self.zone_of[i] = None
            self.value = self._total()

    def copy(self) -> "Load":
        """Another, with the same in it."""
        other = Load(self.ground)
        other.zone_of, other.value = list(self.zone_of), self.value
        other._demand[:], other._traffic[:] = self._demand, self._traffic
        return other

    def _add(self, i: int, zone: IntArray, times: int) -> None:
        demand, traffic = taken_by(self.ground.stream, i, zone)
        self._demand[self._when(i)] += times * demand
        self._traffic[self._when(i)] += times * traffic

    def _total(self) -> float:
        return float(sum(self.ground.stream.requests[i].value for i, zone in enumerate(self.zone_of) if zone is not None))

    def _when(self, i: int) -> slice:
        return slice(int(self.ground.first[i]), int(self.ground.last[i]))
