"""Several admissions that decide on the same requests, each with an alpha and with zones of its own, in one call per offer."""

import heapq
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bayplan.decide.admit import admission_snapshot as saved
from bayplan.decide.admit.booking_calendar import BookingCalendar
from bayplan.kernels.admit.bookings import BLOCK, Bookings
from bayplan.kernels.admit.decide import RequestScratch
from bayplan.kernels.admit.rehearse import REFUSED, Shadows, rehearse
from bayplan.model import ClusterRequest, IntArray, Zones


class ShadowBooking(NamedTuple):
    """A request that some shadows have accepted, its interval, and what it takes in each of its slots."""

    start: float
    end: float
    first: int  # slots
    last: int
    taken: IntArray  # (shadow,) the number of entries, or REFUSED
    resource: IntArray  # (shadow, entry)
    amount: IntArray  # (shadow, entry) of each of those


class ShadowAdmissions:
    """They accept a request if its value is above the cost of its greedy placement divided by alpha, and find no words for it.

    The bookings of all are parts of one array. Time comes from the offers.
    """

    def __init__(self, zones: Zones, slot: float, alphas: Sequence[float]) -> None:
        self.slot, self.now, n = slot, -math.inf, len(alphas)
        self.calendars = [BookingCalendar(zones) for _ in alphas]
        for calendar in self.calendars:
            calendar.keep_past(0)  # the past of a rehearsal is of no interest
        self.running: dict[str, list[ShadowBooking]] = {}  # several of one name have shadows of their own
        self.ends: list[tuple[float, str]] = []  # heap; may still contain released requests
        self.value_ratio = math.nan  # that the prices follow
        self.alpha, self.log_base = np.array(alphas), np.zeros(n)
        self.booked, self.is_busy = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.bool_)
        self.scratches: dict[int, tuple[RequestScratch, IntArray, IntArray, IntArray]] = {}
        self._stack(len(self.calendars[0].ledger.load))

    def offer(self, request: ClusterRequest, first: int, last: int, value_ratio: float) -> list[bool]:
        """(shadow,) is a request accepted that takes these slots, and is known to be valid? Prices follow this U.

        A name that still runs in a shadow, though it is free in the real admission, counts as refused there.
        """
        self._move_to(request.arrival)
        self._price_with(value_ratio)
        self._reach(last)
        self.is_busy[:] = False
        for booking in self.running.get(request.name, ()):
            self.is_busy |= booking.taken != REFUSED
        scratch, resource, amount, taken = self._scratch(request)
        needs = request.value, request.demand, request.traffic
        rehearse(self.arrays, first, last, *needs, self.calendars[0].view, scratch, resource, amount, taken)
        accepted = [count != REFUSED for count in taken.tolist()]
        if any(accepted):
            most = int(taken.max())
            lists = taken.copy(), resource[:, :most].copy(), amount[:, :most].copy()
            booking = ShadowBooking(request.start, request.end, first, last, *lists)
            self.running.setdefault(request.name, []).append(booking)
            heapq.heappush(self.ends, (request.end, request.name))
        return accepted

    def release(self, name: str, until: float) -> None:
        """End a request early where it runs: it keeps the slots that (now, until] touches."""
        kept: list[ShadowBooking] = []
        for booking in self.running.pop(name, ()):
            if until >= booking.end:
                kept.append(booking)
                continue
            since = max(self.now, booking.start)
            whole, remainder = divmod(until, self.slot)
            is_left = until > since
            last = int(whole) - (remainder == 0.0) if is_left else max(booking.first, int(self.now // self.slot)) - 1
            if last < booking.last:
                self._take_away(booking, last + 1)
            if is_left:
                kept.append(booking._replace(end=until, last=last))
                heapq.heappush(self.ends, (until, name))
        if kept:
            self.running[name] = kept

    def data(self) -> dict[str, Any]:
        """As plain data."""
        self._tell_calendars()
        return {
            "now": saved.time_data(self.now),
            "calendars": [saved.calendar_data(calendar) for calendar in self.calendars],
            "running": [[name, *_booking_data(booking)] for name, bookings in self.running.items() for booking in bookings],
        }

    def fill(self, data: Mapping[str, Any], value_ratio: float) -> None:
        """Continue from the data of a snapshot, at this U."""
        self.now = saved.time_of(data["now"])
        for calendar, entry in zip(self.calendars, data["calendars"], strict=True):
            calendar.keep_in(calendar.empty(len(calendar.ledger.load)))  # no part of the common array: it may grow
            saved.fill_calendar(calendar, entry)
        self.booked[:] = [calendar.booked for calendar in self.calendars]
        self._stack(max(len(calendar.ledger.load) for calendar in self.calendars))
        for name, *entry in data["running"]:
            booking = _booking_of(entry, self.calendars[0], len(self.alpha))
            self.running.setdefault(str(name), []).append(booking)
            self.ends.append((booking.end, str(name)))
        heapq.heapify(self.ends)
        self._price_with(value_ratio)

    def _stack(self, rows: int) -> None:
        """Keep the bookings of all shadows in one array of that number of rows."""
        some, n = self.calendars[0].empty(rows), len(self.alpha)
        load, price, block_load, block_price = (np.zeros((n, *array.shape), dtype=array.dtype) for array in some[:4])
        for a, calendar in enumerate(self.calendars):
            calendar.keep_in(Bookings(load[a], price[a], block_load[a], block_price[a], some.limit))
        own = self.alpha, self.log_base, self.booked, self.is_busy
        self.arrays = Shadows(load, price, block_load, block_price, some.limit, *own)

    def _reach(self, last: int) -> None:
        """Make sure that this slot has a row: twice as many rows, or as many as are needed."""
        calendar, rows = self.calendars[0], self.arrays.load.shape[1]
        if last >= calendar.origin + rows:
            needed = -(-(last + 1 - calendar.origin) // BLOCK) * BLOCK
            self._stack(max(needed, min(2 * rows, calendar.most_slots)))

    def _move_to(self, time: float) -> None:
        """Set the time; requests that have ended are dropped."""
        if time == self.now:
            return
        slot = int(time // self.slot)
        if self.now == -math.inf:
            for calendar in self.calendars:
                calendar.begin_at(slot)
            self.booked[:] = self.calendars[0].booked
        self.now = time
        while self.ends and self.ends[0][0] <= time:
            _, name = heapq.heappop(self.ends)
            left = [booking for booking in self.running.pop(name, ()) if booking.end > time]
            if left:
                self.running[name] = left
        if slot // BLOCK * BLOCK > self.calendars[0].origin:
            self._tell_calendars()
            for calendar in self.calendars:
                calendar.forget_before(slot)

    def _tell_calendars(self) -> None:
        """Tell each calendar how far the kernel has booked."""
        for calendar, booked in zip(self.calendars, self.booked.tolist(), strict=True):
            calendar.booked = booked

    def _price_with(self, value_ratio: float) -> None:
        """Prices follow U."""
        if value_ratio != self.value_ratio:
            self.value_ratio = value_ratio
            for a, calendar in enumerate(self.calendars):
                calendar.price_with(2 * (float(self.alpha[a]) * value_ratio + 1))  # [Online clusters] §V-A
                self.log_base[a] = calendar.log_base

    def _take_away(self, booking: ShadowBooking, first: int) -> None:
        """Take a booking out of the slots from this one on."""
        for a, taken in enumerate(booking.taken.tolist()):
            if taken != REFUSED:
                self.calendars[a].book(first, booking.last, booking.resource[a, :taken], -booking.amount[a, :taken])

    def _scratch(self, request: ClusterRequest) -> tuple[RequestScratch, IntArray, IntArray, IntArray]:
        """Work arrays for requests of that many members."""
        v, (n_z, n_r), n = len(request.members), self.calendars[0].zones.capacity.shape, len(self.alpha)
        if v not in self.scratches:
            lists = np.zeros((n, v * n_r + v * v), dtype=np.int64)
            scratch = RequestScratch(
                cost=np.zeros((v, n_z)),
                pair=np.zeros((v, v), dtype=np.int64),
                zone=np.zeros(v, dtype=np.int64),
                resource=lists[0],
                amount=lists[0],
            )
            self.scratches[v] = scratch, lists, lists.copy(), np.zeros(n, dtype=np.int64)
        return self.scratches[v]


def _booking_data(booking: ShadowBooking) -> list[Any]:
    return [figure.tolist() if isinstance(figure, np.ndarray) else figure for figure in booking]


def _booking_of(data: Sequence[Any], calendar: BookingCalendar, shadows: int) -> ShadowBooking:
    """A booking from plain data. Errors if it names a zone or a link that does not exist."""
    start, end, first, last, *lists = data
    taken, resource, amount = (np.array(figure, dtype=np.int64) for figure in lists)
    if taken.shape != (shadows,) or resource.shape != amount.shape or resource.shape[0] != shadows:
        raise ValueError(f"expected {shadows} rehearsals")
    if saved.outside(resource, calendar.resources) or taken.max() > resource.shape[1] or taken.min() < REFUSED:
        raise ValueError("a rehearsal names a zone or a link that does not exist")
    return ShadowBooking(float(start), float(end), int(first), int(last), taken, resource, amount)
