"""An answer in the making: the plans of accepted requests, what they take in every slot, and whether one more fits."""

import numpy as np

from bayplan.decide.admit.offline.time_expanded import TimeExpandedStream, flat_amounts, use_of_plan
from bayplan.model import FloatArray, IntArray, ints


class SlotLoads:
    """The zones of each accepted request, and the loads of all slots."""

    def __init__(self, expanded: TimeExpandedStream) -> None:
        n_z, n_r = expanded.stream.zones.capacity.shape
        self.expanded = expanded
        self.zone_of: list[IntArray | None] = [None] * len(expanded.value)
        self.value = 0.0  # in the unit of the stream
        self._demand = np.zeros((expanded.slots, n_z, n_r), dtype=np.int64)
        self._traffic = np.zeros((expanded.slots, n_z, n_z))

    def free(self, i: int) -> tuple[IntArray, FloatArray]:
        """(zone, resource) and (zone, zone): what is free during the whole time of a request."""
        zones, when = self.expanded.stream.zones, self._when(i)
        free = np.minimum(zones.request_cap, zones.capacity - self._demand[when].max(axis=0))
        return ints(free), np.maximum(self.expanded.bandwidth - self._traffic[when].max(axis=0), 0.0)

    def share(self, i: int) -> FloatArray:
        """(amount,) the largest share in use during the time of a request; removed traffic may leave a little below zero."""
        when = self._when(i)
        most = flat_amounts(self._demand[when].max(axis=0)[None], self._traffic[when].max(axis=0)[None])
        return np.asarray(np.maximum(most[0] * self.expanded.share, 0.0), dtype=np.float64)

    def fits(self, i: int, zone: IntArray) -> bool:
        """Does this plan fit?"""
        free, bandwidth = self.free(i)
        demand, traffic = use_of_plan(self.expanded.stream, i, zone)
        return bool((demand <= free).all() and (traffic <= bandwidth).all())

    def put(self, i: int, zone: IntArray) -> None:
        """Accept a request."""
        self._add(i, zone, 1)
        self.zone_of[i] = zone
        self.value = self._total()

    def remove(self, i: int) -> None:
        """Take back the acceptance of a request."""
        zone = self.zone_of[i]
        if zone is not None:
            self._add(i, zone, -1)
            self.zone_of[i] = None
            self.value = self._total()

    def copy(self) -> "SlotLoads":
        """An independent copy."""
        other = SlotLoads(self.expanded)
        other.zone_of, other.value = list(self.zone_of), self.value
        other._demand[:], other._traffic[:] = self._demand, self._traffic
        return other

    def _add(self, i: int, zone: IntArray, times: int) -> None:
        demand, traffic = use_of_plan(self.expanded.stream, i, zone)
        self._demand[self._when(i)] += times * demand
        self._traffic[self._when(i)] += times * traffic

    def _total(self) -> float:
        return float(sum(self.expanded.value[i] for i, zone in enumerate(self.zone_of) if zone is not None))

    def _when(self, i: int) -> slice:
        return slice(int(self.expanded.first[i]), int(self.expanded.last[i]))
