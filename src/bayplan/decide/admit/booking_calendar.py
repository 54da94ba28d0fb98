"""Booked amounts and prices of all slots from now on: a ring of rows that grows when a request reaches further ahead."""

from collections import deque

import numpy as np

from bayplan.decide.admit.faults import TOO_LARGE, zone_faults
from bayplan.errors import InputError
from bayplan.kernels.admit.bookings import BLOCK, Bookings, add_booking, clear_blocks, price_all
from bayplan.kernels.admit.decide import SlotView
from bayplan.model import FloatArray, IntArray, Zones, floats

CELLS = 2**25  # (slot, resource) pairs kept at most: half a gigabyte
PAST_CELLS = 2**22  # prices of the past kept at most
FIRST_ROWS = 2 * BLOCK
LINK_BITS = 56  # a link's bandwidth is between 2^55 and 2^56 units of load


class BookingCalendar:
    """What is booked in each slot of each zone and link, and the price that follows from it.

    Loads are whole numbers, so bookings that are released leave exactly zero, in any order.

    Traffic is kept in units of 2^-k with k chosen per link, and rounded down: with a million requests at once on one link by less
    than a tenth of the tolerance of the referee.
    """

    def __init__(self, zones: Zones) -> None:
        if faults := list(zone_faults(zones)):
            raise InputError("zones", faults)
        n_z, n_r = zones.capacity.shape
        self.zones = zones
        self.is_link = zones.bandwidth > 0
        np.fill_diagonal(self.is_link, False)
        self.view = _empty_view(zones, self.is_link)
        traffic_limit = np.floor(zones.bandwidth * self.view.scale).astype(np.int64)
        self.limit: IntArray = np.concatenate([zones.capacity.ravel(), traffic_limit.ravel()])
        self.resources = n_z * n_r + n_z * n_z
        self.most_slots = max(2 * FIRST_ROWS, CELLS // max(1, self.resources)) // BLOCK * BLOCK
        self.most_ahead = (
            self.most_slots - 2 * BLOCK
        )  # slots of one request, wherever in their blocks its first and last slot lie
        self.ledger = self.empty(FIRST_ROWS)
        self.origin = 0  # the first slot that has a row
        self.booked = -1  # the last slot in which something may be booked
        self.log_base = 0.0
        self.past: deque[tuple[int, FloatArray]] = deque(maxlen=max(BLOCK, PAST_CELLS // max(1, self.resources)))

    def empty(self, rows: int) -> Bookings:
        """Rows in which nothing is booked."""
        blocks, m = rows // BLOCK, self.resources
        return Bookings(
            load=np.zeros((rows, m), dtype=np.int64),
            price=np.zeros((rows, m)),
            block_load=np.zeros((blocks, m), dtype=np.int64),
            block_price=np.zeros((blocks, m)),
            limit=self.limit,
        )

    def keep_past(self, slots: int) -> None:
        """Keep the prices of at most that many past slots."""
        self.past = deque(self.past, maxlen=slots)

    def forget_before(self, slot: int) -> None:
        """Drop all whole blocks of slots before this one; their prices are kept for a while in `past`."""
        origin = slot // BLOCK * BLOCK
        if origin <= self.origin:
            return
        last = min(origin - 1, self.booked)
        if last >= self.origin:
            rows = len(self.ledger.load)
            self.past.extend((t, self.ledger.price[t % rows].copy()) for t in range(self.origin, last + 1))
            clear_blocks(self.ledger, self.origin // BLOCK, last // BLOCK)
        self.origin = origin

    def begin_at(self, slot: int) -> None:
        """Start time at this slot; nothing is booked yet."""
        self.origin = slot // BLOCK * BLOCK
        self.booked = self.origin - 1

    def book(self, first: int, last: int, resource: IntArray, amount: IntArray) -> None:
        """Add amounts of either sign to slots first..last."""
        self.reach(last)
        add_booking(self.ledger, first, last, self.log_base, resource, amount)
        self.booked = max(self.booked, last)

    def reach(self, last: int) -> None:
        """Make sure that this slot has a row: twice as many rows, or as many as are needed."""
        rows = len(self.ledger.load)
        if last < self.origin + rows:
            return
        needed = -(-(last + 1 - self.origin) // BLOCK) * BLOCK
        self.keep_in(self.empty(max(needed, min(2 * rows, self.most_slots))))

    def keep_in(self, new: Bookings) -> None:
        """From now on use these rows, which are empty, and no fewer than now."""
        slots = np.arange(self.origin, self.origin + len(self.ledger.load))
        blocks = slots[::BLOCK] // BLOCK
        for before, after, which in zip(self.ledger[:4], new[:4], (slots, slots, blocks, blocks), strict=True):
            after[which % len(after)] = before[which % len(before)]
        self.ledger = new

    def price_with(self, base: float) -> None:
        """Compute all prices again if the base has changed."""
        log_base = float(np.log(base))
        if log_base != self.log_base:
            self.log_base = log_base
            price_all(self.ledger, log_base)

    def prices(self, slot: int) -> FloatArray:
        """(resource,) prices of a slot from now on."""
        rows = len(self.ledger.load)
        return self.ledger.price[slot % rows] if self.origin <= slot <= self.booked else np.zeros(self.resources)

    def loads(self, slot: int) -> IntArray:
        """(resource,) loads of a slot from now on."""
        rows = len(self.ledger.load)
        nothing: IntArray = np.zeros(self.resources, dtype=np.int64)
        return self.ledger.load[slot % rows] if self.origin <= slot <= self.booked else nothing

    def by_zone(self, figure: FloatArray) -> FloatArray:
        """(..., zone, resource): the part for zones of an array (..., resource)."""
        n_z, n_r = self.zones.capacity.shape
        return floats(figure[..., : n_z * n_r].reshape(*figure.shape[:-1], n_z, n_r))

    def by_link(self, figure: FloatArray) -> FloatArray:
        """(..., zone, zone): the part for links of an array (..., resource); NaN where there is no link."""
        n_z, n_r = self.zones.capacity.shape
        square = figure[..., n_z * n_r :].reshape(*figure.shape[:-1], n_z, n_z)
        return floats(np.where(self.is_link, square, np.nan))


def _empty_view(zones: Zones, is_link: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> SlotView:
    """Arrays for prices and free amounts during one request; the scale makes every bandwidth a number of `LINK_BITS` bits."""
    n_z, n_r = zones.capacity.shape
    _, bits = np.frexp(zones.bandwidth.astype(np.float64))  # bandwidth = f * 2^bits, 1/2 <= f < 1
    scale = np.where(is_link, np.ldexp(1.0, LINK_BITS - bits), 0.0)
    unit = np.concatenate([np.ones(n_z * n_r), np.where(is_link, scale, 1.0).ravel()])
    return SlotView(
        cap=np.minimum(zones.request_cap, TOO_LARGE),
        scale=scale,
        unit=unit,
        price=np.zeros(len(unit)),
        peak=np.zeros(len(unit), dtype=np.int64),
        free=np.zeros((n_z, n_r), dtype=np.int64),
        link=np.zeros((1, n_z, n_z)),
        bandwidth=np.zeros((n_z, n_z)),
    )
