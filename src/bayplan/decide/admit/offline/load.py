"""What the accepted requests take in every slot, and whether one more fits; the plans that make up an answer."""

import numpy as np

from bayplan.decide.admit.offline.ground import Ground, side_by_side, taken
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
        demand, traffic = taken(self.ground.stream, i, zone[None])
        return bool((demand[0] <= room).all() and (traffic[0] <= bandwidth).all())

    def put(self, i: int, zone: IntArray) -> None:
        """Accept a request."""
        demand, traffic = taken(self.ground.stream, i, zone[None])
        self._demand[self._when(i)] += demand[0]
        self._traffic[self._when(i)] += traffic[0]
        self.zone_of[i] = zone
        self.value = self._total()

    def _total(self) -> float:
        return float(sum(self.ground.stream.requests[i].value for i, zone in enumerate(self.zone_of) if zone is not None))

    def _when(self, i: int) -> slice:
        return slice(int(self.ground.first[i]), int(self.ground.last[i]))
