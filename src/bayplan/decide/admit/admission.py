"""A live admission: each request is accepted and placed, or refused, when it is offered ([Online clusters] Algorithm 4)."""

import heapq
import math
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bayplan.decide.admit import admission_snapshot as saved
from bayplan.decide.admit.admission_snapshot import Booking
from bayplan.decide.admit.booking_calendar import BookingCalendar
from bayplan.decide.admit.decision import AdmissionDecision, PriceHistory, PriceParameters, RunningRequest, SlotRates
from bayplan.decide.admit.explanations import explain_accepted, explain_no_capacity, explain_too_expensive
from bayplan.decide.admit.faults import TOO_LARGE, as_request, missing_fields, most_members, number, request_faults
from bayplan.decide.admit.options import AdmitOptions
from bayplan.decide.admit.parameters import ParameterEstimates
from bayplan.decide.admit.rehearsal import Rehearsal
from bayplan.decide.admit.request_placer import PricedPlacement, RequestPlacer
from bayplan.errors import Fault, InputError
from bayplan.kernels.admit.resource_use import value_ratio, well_formed
from bayplan.model import ClusterRequest, IntArray, Zones, floats, ints

FAR = 2.0**52  # slots from time 0: numbers of slots are exact up to here


class Admission:
    """Zones, the bookings in them from now on, and the prices that decide on the next request; see `bayplan.Admission`."""

    def __init__(self, zones: Zones, options: AdmitOptions | None = None, method: str = "primal-dual", seed: int = 0) -> None:
        self.zones, self.method, self.seed = zones, method, seed
        self.options = AdmitOptions() if options is None else options
        self._calendar = BookingCalendar(zones)
        links = int(self._calendar.is_link.sum())
        self._estimates = ParameterEstimates(self.options, method, zones.capacity.size + links)  # |M| of [Online clusters] §III
        self._placer = RequestPlacer(self._calendar, self.options, method, seed)
        self._most = np.minimum(zones.request_cap, zones.capacity)  # (zone, resource) of an empty zone
        self._largest = self._most.max(axis=0, initial=0)  # (resource,)
        self._most_members = most_members(zones)
        self._lock = threading.RLock()
        self._now, self._last_arrival = -math.inf, -math.inf
        self._offers, self._accepted, self._value = 0, 0, 0.0
        self._running: dict[str, Booking] = {}
        self._ends: list[tuple[float, str]] = []  # heap; may still contain released requests
        self._rehearsal = None
        if method == "learned":
            self._rehearsal = Rehearsal(zones, self.options.slot)
        self._take_alpha()
        self._update_prices()

    # ---- changing it

    def offer(self, request: ClusterRequest) -> AdmissionDecision:
        """Accepted and placed, or refused, and why. InputError if the request is faulty: then nothing has changed."""
        with self._lock:
            if not self._is_plainly_valid(request):
                request = self._validated(request)
            first, last = self._slots(request.start, request.end)
            self._move_to(request.arrival)
            self._last_arrival = request.arrival
            self._offers += 1
            self._learn(request, first, last)
            placement = self._placer.place(request, first, last, self._offers)
            decision = self._decide(request, placement)
            if self._estimates.estimates_alpha and 0 < placement.cost < math.inf and self._estimates.audit_is_due():
                problem = self._placer.problem_of(request, first, last)
                self._estimates.audit(problem, placement.cost)  # in effect from the next offer on
            if decision.accepted:
                assert decision.zone is not None
                self._accept(request, placement, decision.zone, first, last)
            if self._rehearsal is not None:
                self._rehearsal.offer(request, first, last, self._estimates.value_ratio)
                self._take_alpha()
            return decision

    def release(self, name: str, at: float | None = None) -> None:
        """End an accepted request early, at that time (default: now): it keeps the slots that (now, at] touches.

        A time that is not earlier than its end changes nothing. Its value still counts as accepted.
        """
        with self._lock:
            booking = self._running.get(name) if isinstance(name, str) else None
            if booking is None:
                raise _call_error("E2010", str(name), "no request of this name runs or is booked")
            until = self._now if at is None else self._expect_time(at, "release")
            if self._rehearsal is not None:
                self._rehearsal.release(name, until)
            if until >= booking.end:
                return
            since = max(self._now, booking.start)
            kept = self._slots(since, until)[1] if until > since else max(booking.first, self._slot(self._now)) - 1
            if kept < booking.last:
                self._calendar.book(kept + 1, booking.last, booking.resource, -booking.amount)
            if until > since:
                self._running[name] = booking._replace(end=until, last=kept)
                heapq.heappush(self._ends, (until, name))
            else:
                del self._running[name]

    def advance(self, time: float) -> None:
        """Set the time; requests that have ended are dropped."""
        with self._lock:
            self._move_to(self._expect_time(time, "advance"))

    # ---- reading it

    @property
    def now(self) -> float:
        """The time of the last offer or `advance`; minus infinity before."""
        with self._lock:
            return self._now

    @property
    def offers(self) -> int:
        """The number of requests offered."""
        with self._lock:
            return self._offers

    @property
    def accepted(self) -> int:
        """The number of requests accepted."""
        with self._lock:
            return self._accepted

    @property
    def value(self) -> float:
        """The sum of the values of all accepted requests."""
        with self._lock:
            return self._value

    @property
    def parameters(self) -> PriceParameters:
        """U, alpha and the base of the prices, and whether each is given or estimated."""
        with self._lock:
            return self._estimates.parameters

    @property
    def running(self) -> tuple[RunningRequest, ...]:
        """Accepted requests that have not ended, in the order of acceptance; also those that have not started."""
        with self._lock:
            return tuple(
                RunningRequest(name=name, zone=ints(b.zone), start=b.start, end=b.end, value=b.value)
                for name, b in self._running.items()
            )

    def prices(self, time: float | None = None) -> SlotRates:
        """What one unit costs in the slot that begins at, or contains, that time (default: now)."""
        with self._lock:
            self._update_prices()
            slot = self._slot_to_read(time)
            return self._rates(slot, self._calendar.prices(slot))

    def utilisation(self, time: float | None = None) -> SlotRates:
        """The share in use, in the slot of that time (default: now); 0 where there is no capacity."""
        with self._lock:
            slot = self._slot_to_read(time)
            return self._rates(slot, self._calendar.loads(slot) / np.maximum(self._calendar.limit, 1))

    def history(self) -> PriceHistory:
        """Prices of past slots, as far back as they are kept, and of future slots up to the last booking."""
        with self._lock:
            self._update_prices()
            calendar = self._calendar
            rows = [*calendar.past, *((t, calendar.prices(t)) for t in range(calendar.origin, calendar.booked + 1))]
            price = np.array([row for _, row in rows]).reshape(len(rows), calendar.resources)
            start = floats([t * self.options.slot for t, _ in rows])
            return PriceHistory(start=start, zone=calendar.by_zone(price), link=calendar.by_link(price))

    # ---- snapshots

    def keep_past(self, slots: int) -> None:
        """Keep the prices of at most that many past slots, for `history`."""
        with self._lock:
            self._calendar.keep_past(slots)

    def snapshot(self, *, past: bool = False) -> dict[str, Any]:
        """All that later decisions depend on, as plain data for JSON; with `past`, the prices of past slots too."""
        with self._lock:
            rehearsed = {} if self._rehearsal is None else {"rehearsal": self._rehearsal.data()}
            before = {"past": saved.past_data(self._calendar)} if past else {}
            return {
                **rehearsed,
                **before,
                "bayplan-admission": saved.VERSION,
                "zones": saved.zones_data(self.zones),
                "options": saved.options_data(self.options),
                "method": self.method,
                "seed": self.seed,
                "now": saved.time_data(self._now),
                "last_arrival": saved.time_data(self._last_arrival),
                "offers": self._offers,
                "accepted": self._accepted,
                "value": self._value,
                "estimates": saved.estimates_data(self._estimates),
                "running": [saved.booking_data(name, booking) for name, booking in self._running.items()],
                "calendar": saved.calendar_data(self._calendar),
            }

    @classmethod
    def restore(cls, data: Mapping[str, Any]) -> "Admission":
        """An admission that continues exactly where the snapshot was taken."""
        with saved.reading(data):
            zones, options = saved.zones_of(data["zones"]), saved.options_of(data["options"])
            made = cls(zones, options, str(data["method"]), int(data["seed"]))
            made._now, made._last_arrival = saved.time_of(data["now"]), saved.time_of(data["last_arrival"])
            made._offers, made._accepted = int(data["offers"]), int(data["accepted"])
            made._value = float(data["value"])
            saved.fill_estimates(made._estimates, data["estimates"])
            saved.fill_calendar(made._calendar, data["calendar"])
            saved.fill_past(made._calendar, data.get("past", ()))
            made._running = dict(saved.booking_of(entry, made._calendar) for entry in data["running"])
            made._ends = sorted((booking.end, name) for name, booking in made._running.items())
            if made._rehearsal is not None:
                made._rehearsal.fill(data["rehearsal"], made._estimates.value_ratio)
            made._update_prices()
        return made

    # ---- details

    def _is_plainly_valid(self, request: ClusterRequest) -> bool:
        """A fast check that passes only requests without any fault; all others get the full check of `_validated`."""
        if type(request) is not ClusterRequest or type(request.name) is not str or request.name in self._running:
            return False
        v, slot = len(request.members), self.options.slot
        return (
            0 < v == len(set(request.members))
            and v <= self._most_members
            and type(request.members) is tuple
            and set(map(type, request.members)) == {str}
            and request.demand.shape == (v, len(self.zones.resources))
            and request.traffic.shape == (v, v)
            and self._now <= request.arrival <= request.start < request.end
            and 0.0 <= request.value < TOO_LARGE
            and request.arrival / slot > -FAR
            and request.end / slot < FAR
            and request.end - request.arrival < slot * self._calendar.most_ahead
            and well_formed(request.demand, request.traffic, self._most)
        )

    def _validated(self, request: Any) -> ClusterRequest:
        """The request; InputError with all of its faults if it has any."""
        faults = list(missing_fields(request))
        if faults:
            raise InputError("offer", faults)
        faults = list(request_faults(request, self.zones, self._most))
        arrival, end = number(request.arrival), number(request.end)
        if arrival < self._now:
            code = "E2002" if arrival < self._last_arrival else "E2001"
            problem = "it arrives before the last one" if code == "E2002" else "it arrives in the past"
            before = max(self._last_arrival, self._now)
            faults.append(_fault(code, request.name, problem, f"{arrival:g}", f"{before:g} or later"))
        if isinstance(request.name, str) and request.name in self._running and not self._running[request.name].end <= arrival:
            faults.append(_fault("E2009", request.name, "a request of this name runs or is booked"))
        if math.isfinite(arrival) and math.isfinite(end) and self._is_too_far(arrival, end):
            most = f"at most {self._calendar.most_ahead} slots after its arrival"
            faults.append(_fault("E2012", request.name, "the end is too far ahead", f"{end:g}", most))
        if faults:
            raise InputError("offer", faults)
        return as_request(request)

    def _is_too_far(self, arrival: float, end: float) -> bool:
        slot = self.options.slot
        far = max(abs(arrival / slot), abs(end / slot)) >= FAR
        return far or end - arrival >= slot * self._calendar.most_ahead

    def _expect_time(self, time: float, call: str) -> float:
        """The time as a number; InputError if it lies in the past or too far ahead."""
        given = number(time)
        if not math.isfinite(given):
            raise _call_error("E2007", call, "the time is not a finite number", str(time), "a finite number")
        if given < self._now:
            raise _call_error("E2011", call, "the time lies in the past", f"{given:g}", f"{self._now:g} or later")
        if abs(given / self.options.slot) >= FAR:
            raise _call_error("E2012", call, "the time is too far ahead", f"{given:g}", "fewer than 2^52 slots from 0")
        return given

    def _slot(self, time: float) -> int:
        """The first slot of a request that starts then."""
        return int(time // self.options.slot) if time > -math.inf else 0

    def _slots(self, start: float, end: float) -> tuple[int, int]:
        """The first and the last slot that (start, end] touches."""
        whole, remainder = divmod(end, self.options.slot)
        return int(start // self.options.slot), int(whole) - (remainder == 0.0)

    def _slot_to_read(self, time: float | None) -> int:
        if time is None:
            return self._slot(self._now)
        return max(self._slot(self._expect_time(time, "reading")), self._slot(self._now))

    def _rates(self, slot: int, figure: Any) -> SlotRates:
        calendar = self._calendar
        return SlotRates(start=slot * self.options.slot, zone=calendar.by_zone(figure), link=calendar.by_link(figure))

    def _move_to(self, time: float) -> None:
        """Set the time; the caller knows that it is not in the past."""
        if time == self._now:
            return
        slot = self._slot(time)
        if self._now == -math.inf:
            self._calendar.begin_at(slot)
        self._now = time
        while self._ends and self._ends[0][0] <= time:
            end, name = heapq.heappop(self._ends)
            if name in self._running and self._running[name].end == end:
                del self._running[name]
        self._calendar.forget_before(slot)

    def _learn(self, request: ClusterRequest, first: int, last: int) -> None:
        """Update the estimates and the prices with a request, before it is decided."""
        estimates = self._estimates
        if estimates.estimates_value_ratio:
            work = self._placer.scratch(len(request.members)).zone
            needs = request.demand, request.traffic, self._largest
            estimates.observe_value_ratio(value_ratio(request.value, *needs, estimates.value_ratio, work))
        if self.method == "swmoa":
            estimates.observe_slots(first, last)
        self._update_prices()

    def _take_alpha(self) -> None:
        """The alpha that has earned most so far is in effect from the next offer on."""
        if self._rehearsal is not None:
            self._estimates.set_alpha(self._rehearsal.alpha)

    def _update_prices(self) -> None:
        """Prices follow the current parameters."""
        self._calendar.price_with(self._estimates.parameters.base)

    def _decide(self, request: ClusterRequest, placement: PricedPlacement) -> AdmissionDecision:
        """Algorithm 4 lines 5 and 6, with the reason in words."""
        parameters = self._estimates.parameters
        utility = request.value - placement.cost / parameters.alpha  # Algorithm 4 line 6
        fits = placement.cost < math.inf and placement.over < 0
        accepted = fits and (utility > 0 or self.method == "available")  # line 5, and it fits in every slot
        if accepted:
            why, cause = explain_accepted(request, placement, parameters)
        elif fits or (placement.cost < math.inf and utility <= 0):
            why, cause = explain_too_expensive(self._calendar, request, placement, parameters)
        else:
            one_shot = self.options.one_shot if self.method != "available" else "A_r"
            why, cause = explain_no_capacity(self._calendar, request, placement, one_shot)
        zone = ints(placement.scratch.zone) if accepted else None
        return AdmissionDecision(
            name=request.name,
            accepted=accepted,
            zone=zone,
            value=request.value,
            cost=placement.cost,
            utility=utility,
            why=why,
            cause=cause,
            parameters=parameters,
        )

    def _accept(self, request: ClusterRequest, placement: PricedPlacement, zone: IntArray, first: int, last: int) -> None:
        """Book an accepted request (Algorithm 4 lines 7 to 12)."""
        scratch, taken = placement.scratch, placement.taken
        resource, amount = scratch.resource[:taken].copy(), scratch.amount[:taken].copy()
        self._calendar.book(first, last, resource, amount)
        self._running[request.name] = Booking(zone, request.start, request.end, request.value, first, last, resource, amount)
        heapq.heappush(self._ends, (request.end, request.name))
        self._accepted += 1
        self._value += request.value


def _fault(code: str, name: object, problem: str, value: str = "", expected: str = "") -> Fault:
    return Fault(code=code, kind="request", name=str(name), problem=problem, value=value, expected=expected)


def _call_error(code: str, subject: str, problem: str, value: str = "", expected: str = "") -> InputError:
    """The error of a call other than `offer`, named by the request or by the call."""
    fault = _fault(code, subject, problem, value, expected)
    return InputError(subject, [fault if code == "E2010" else replace(fault, kind="call")])
