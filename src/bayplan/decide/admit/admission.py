"""A live admission: requests are offered one by one, and each is let in and placed, or refused, at once (001 Algorithm 4)."""

import heapq
import math
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bayplan.decide.admit import snapshot as form
from bayplan.decide.admit.estimates import Estimates
from bayplan.decide.admit.faults import as_request, faults_of, missing_of, number
from bayplan.decide.admit.limits import BEYOND, most_members
from bayplan.decide.admit.placer import Found, Placer
from bayplan.decide.admit.rehearsal import Rehearsal
from bayplan.decide.admit.sentences import why_accepted, why_no_room, why_too_dear
from bayplan.decide.admit.signature import AdmitOptions
from bayplan.decide.admit.snapshot import Booking
from bayplan.decide.admit.verdict import History, Parameters, Rates, Running, Verdict
from bayplan.decide.admit.window import Window
from bayplan.errors import Fault, InputError
from bayplan.kernels.admit.use import sound, value_ratio
from bayplan.model import ClusterRequest, Zones, floats, ints

FAR = 2.0**52  # slots from time 0: numbers of slots are exact up to here


class Admission:
    """Zones, what is booked in them from now on, and what it costs to get in.

    Thread-safe: one lock is held during every public call, so calls from several threads have the effect of some order of them.
    Time is that of the requests and of `advance`, never a clock's; an offer moves it to the request's arrival. A request takes
    every slot of length `options.slot` that its (start, end] touches, slot t being (t * slot, (t + 1) * slot]. Slots that have
    passed are dropped. A name is free again once its request has ended, was released, or was refused.

    Bad input raises InputError with numbered faults, and changes nothing. Values are assumed to be in the unit of the amounts:
    001 asks for 1 <= value / use <= U.
    """

    def __init__(self, zones: Zones, options: AdmitOptions | None = None, method: str = "primal-dual", seed: int = 0) -> None:
        self.zones, self.method, self.seed = zones, method, seed
        self.options = AdmitOptions() if options is None else options
        self._window = Window(zones)
        links = int(self._window.is_link.sum())
        self._estimates = Estimates(self.options, method, zones.capacity.size + links)  # |M| of 001 section III
        self._placer = Placer(self._window, self.options, method, seed)
        self._most = np.minimum(zones.request_cap, zones.capacity)  # (zone, resource) of an empty zone
        self._largest = self._most.max(axis=0, initial=0)  # (resource,)
        self._many = most_members(zones)
        self._lock = threading.RLock()
        self._now, self._last_arrival = -math.inf, -math.inf
        self._offers, self._accepted, self._value = 0, 0, 0.0
        self._running: dict[str, Booking] = {}
        self._ends: list[tuple[float, str]] = []  # heap; what was released may still be in it
        self._rehearsal = Rehearsal(lambda some: Admission(zones, some, seed=seed), self.options) if method == "learned" else None
        self._heed()
        self._settle()

    # ---- what changes it

    def offer(self, request: ClusterRequest) -> Verdict:
        """Accepted and placed, or refused, and why. InputError if the request makes no sense: then nothing has changed."""
        with self._lock:
            if not self._is_sound(request):
                request = self._sound_after_all(request)
            first, last = self._slots(request.start, request.end)
            self._move_to(request.arrival)
            self._last_arrival = request.arrival
            self._offers += 1
            self._learn(request, first, last)
            found = self._placer.place(request, first, last, self._offers)
            verdict = self._judged(request, found)
            if verdict.accepted:
                self._let_in(request, found, verdict, first, last)
            if self._estimates.guesses_alpha and 0 < found.cost < math.inf and self._estimates.wants_audit():
                self._estimates.audit(self._placer.case(request, found.desk), found.cost)  # counts from the next offer on
            if self._rehearsal is not None:
                self._rehearsal.hear(request)
                self._heed()
            return verdict

    def release(self, name: str, at: float | None = None) -> None:
        """End an accepted request at that time (now) instead of at its end: it keeps the slots that (now, at] touches.

        An end that is not earlier changes nothing. The value that was accepted stays accepted.
        """
        with self._lock:
            booking = self._running.get(name) if isinstance(name, str) else None
            if booking is None:
                raise _wrong("E2010", str(name), "no request of this name runs or is booked")
            until = self._now if at is None else self._expect_time(at, "release")
            if self._rehearsal is not None:
                self._rehearsal.release(name, until)
            if until >= booking.end:
                return
            since = max(self._now, booking.start)
            kept = self._slots(since, until)[1] if until > since else max(booking.first, self._slot(self._now)) - 1
            if kept < booking.last:
                self._window.book(kept + 1, booking.last, booking.resource, -booking.amount)
            if until > since:
                self._running[name] = booking._replace(end=until, last=kept)
                heapq.heappush(self._ends, (until, name))
            else:
                del self._running[name]

    def advance(self, time: float) -> None:
        """It is that time now; what has ended is forgotten."""
        with self._lock:
            self._move_to(self._expect_time(time, "advance"))

    # ---- what can be read

    @property
    def now(self) -> float:
        """The time of the last offer or `advance`; minus infinity before."""
        with self._lock:
            return self._now

    @property
    def offers(self) -> int:
        """How many were judged."""
        with self._lock:
            return self._offers

    @property
    def accepted(self) -> int:
        """How many of them were let in."""
        with self._lock:
            return self._accepted

    @property
    def value(self) -> float:
        """Of all that were let in."""
        with self._lock:
            return self._value

    @property
    def parameters(self) -> Parameters:
        """U, alpha and the base of the prices, each said to be given or estimated."""
        with self._lock:
            return self._estimates.parameters

    @property
    def running(self) -> tuple[Running, ...]:
        """Accepted and not over, in the order in which they were accepted; also those that have not started."""
        with self._lock:
            return tuple(
                Running(name=name, zone=ints(b.zone), start=b.start, end=b.end, value=b.value)
                for name, b in self._running.items()
            )

    def prices(self, time: float | None = None) -> Rates:
        """What one unit costs in the slot that begins at, or holds, that time (now)."""
        with self._lock:
            self._settle()
            slot = self._readable(time)
            return self._rates(slot, self._window.prices(slot))

    def utilisation(self, time: float | None = None) -> Rates:
        """Shares in use of the same slot; 0 of nothing is 0."""
        with self._lock:
            slot = self._readable(time)
            return self._rates(slot, self._window.loads(slot) / np.maximum(self._window.limit, 1))

    def history(self) -> History:
        """Prices of slots that have passed, as far back as kept, and of those ahead that are booked."""
        with self._lock:
            self._settle()
            window = self._window
            rows = [*window.past, *((t, window.prices(t)) for t in range(window.origin, window.booked + 1))]
            price = np.array([row for _, row in rows]).reshape(len(rows), window.resources)
            start = floats([t * self.options.slot for t, _ in rows])
            return History(start=start, zone=window.by_zone(price), link=window.by_link(price))

    # ---- snapshots

    def snapshot(self) -> dict[str, Any]:
        """All that later decisions depend on, as plain data that JSON can hold. Prices of the past are not among it."""
        with self._lock:
            rehearsed = {} if self._rehearsal is None else {"rehearsal": self._rehearsal.data()}
            return {
                **rehearsed,
                "bayplan-admission": form.VERSION,
                "zones": form.zones_data(self.zones),
                "options": form.options_data(self.options),
                "method": self.method,
                "seed": self.seed,
                "now": form.time_data(self._now),
                "last_arrival": form.time_data(self._last_arrival),
                "offers": self._offers,
                "accepted": self._accepted,
                "value": self._value,
                "estimates": form.estimates_data(self._estimates),
                "running": [form.booking_data(name, booking) for name, booking in self._running.items()],
                "window": form.window_data(self._window, self._slot(self._now)),
            }

    @classmethod
    def restore(cls, data: Mapping[str, Any]) -> "Admission":
        """An admission that decides from here on exactly as the one that the snapshot was taken of."""
        with form.read(data):
            zones, options = form.zones_of(data["zones"]), form.options_of(data["options"])
            made = cls(zones, options, str(data["method"]), int(data["seed"]))
            made._now, made._last_arrival = form.time_of(data["now"]), form.time_of(data["last_arrival"])
            made._offers, made._accepted = int(data["offers"]), int(data["accepted"])
            made._value = float(data["value"])
            form.fill_estimates(made._estimates, data["estimates"])
            form.fill_window(made._window, data["window"])
            made._running = dict(form.booking_of(entry, made._window) for entry in data["running"])
            made._ends = sorted((booking.end, name) for name, booking in made._running.items())
            if made._rehearsal is not None:
                made._rehearsal.fill(data["rehearsal"], cls.restore)
            made._settle()
        return made

    # ---- how

    def _is_sound(self, request: ClusterRequest) -> bool:
        """Quickly: is there no fault? Anything unusual is looked at again, and slowly."""
        if type(request) is not ClusterRequest or type(request.name) is not str or request.name in self._running:
            return False
        v, slot = len(request.members), self.options.slot
        return (
            0 < v == len(set(request.members))
            and v <= self._many
            and type(request.members) is tuple
            and set(map(type, request.members)) == {str}
            and request.demand.shape == (v, len(self.zones.resources))
            and request.traffic.shape == (v, v)
            and self._now <= request.arrival <= request.start < request.end
            and 0.0 <= request.value < BEYOND
            and request.arrival / slot > -FAR
            and request.end / slot < FAR
            and request.end - request.arrival < slot * self._window.most_ahead
            and sound(request.demand, request.traffic, self._most)
        )

    def _sound_after_all(self, request: Any) -> ClusterRequest:
        faults = list(missing_of(request))
        if faults:
            raise InputError("offer", faults)
        faults = list(faults_of(request, self.zones, self._most))
        arrival, end = number(request.arrival), number(request.end)
        if arrival < self._now:
            code = "E2002" if arrival < self._last_arrival else "E2001"
            problem = "it arrives before the last one" if code == "E2002" else "it arrives in the past"
            before = max(self._last_arrival, self._now)
            faults.append(_fault(code, request.name, problem, f"{arrival:g}", f"{before:g} or later"))
        if isinstance(request.name, str) and request.name in self._running and not self._running[request.name].end <= arrival:
            faults.append(_fault("E2009", request.name, "a request of this name runs or is booked"))
        if math.isfinite(arrival) and math.isfinite(end) and self._is_too_far(arrival, end):
            most = f"at most {self._window.most_ahead} slots after its arrival"
            faults.append(_fault("E2012", request.name, "the end is too far ahead", f"{end:g}", most))
        if faults:
            raise InputError("offer", faults)
        return as_request(request)

    def _is_too_far(self, arrival: float, end: float) -> bool:
        slot = self.options.slot
        far = max(abs(arrival / slot), abs(end / slot)) >= FAR
        return far or end - arrival >= slot * self._window.most_ahead

    def _expect_time(self, time: float, what: str) -> float:
        """A time from now on."""
        given = number(time)
        if not math.isfinite(given):
            raise _wrong("E2007", what, "the time is not a finite number", str(time), "a finite number")
        if given < self._now:
            raise _wrong("E2011", what, "the time lies in the past", f"{given:g}", f"{self._now:g} or later")
        if abs(given / self.options.slot) >= FAR:
            raise _wrong("E2012", what, "the time is too far ahead", f"{given:g}", "fewer than 2^52 slots from 0")
        return given

    def _slot(self, time: float) -> int:
        """The slot that a request takes first if it starts then; divided exactly."""
        return int(time // self.options.slot) if time > -math.inf else 0

    def _slots(self, start: float, end: float) -> tuple[int, int]:
        """The first and the last slot that (start, end] touches."""
        whole, rest = divmod(end, self.options.slot)
        return int(start // self.options.slot), int(whole) - (rest == 0.0)

    def _readable(self, time: float | None) -> int:
        if time is None:
            return self._slot(self._now)
        return max(self._slot(self._expect_time(time, "reading")), self._slot(self._now))

    def _rates(self, slot: int, figure: Any) -> Rates:
        window = self._window
        return Rates(start=slot * self.options.slot, zone=window.by_zone(figure), link=window.by_link(figure))

    def _move_to(self, time: float) -> None:
        """Later, or now. The caller knows that it is not before."""
        if time == self._now:
            return
        slot = self._slot(time)
        if self._now == -math.inf:
            self._window.begin_at(slot)
        self._now = time
        while self._ends and self._ends[0][0] <= time:
            end, name = heapq.heappop(self._ends)
            if name in self._running and self._running[name].end == end:
                del self._running[name]
        self._window.forget_before(slot)

    def _learn(self, request: ClusterRequest, first: int, last: int) -> None:
        """What the request shows of the stream is known before it is judged."""
        estimates = self._estimates
        if estimates.guesses_value_ratio:
            side = self._placer.desk(len(request.members)).zone
            asked = request.demand, request.traffic, self._largest
            estimates.saw_value_ratio(value_ratio(request.value, *asked, estimates.value_ratio, side))
        if self.method == "swmoa":
            estimates.saw_slots(first, last)
        self._settle()

    def _heed(self) -> None:
        """The alpha that has earned most so far counts from the next offer on."""
        if self._rehearsal is not None:
            self._estimates.takes_alpha(self._rehearsal.alpha)

    def _settle(self) -> None:
        """Prices follow the parameters."""
        self._window.price_with(self._estimates.parameters.base)

    def _judged(self, request: ClusterRequest, found: Found) -> Verdict:
        known = self._estimates.parameters
        utility = request.value - found.cost / known.alpha  # Algorithm 4 line 6
        fits = found.cost < math.inf and found.over < 0
        accepted = fits and (utility > 0 or self.method == "available")  # line 5, and room in every slot
        if accepted:
            why, cause = why_accepted(request, found, known)
        elif fits or (found.cost < math.inf and utility <= 0):
            why, cause = why_too_dear(self._window, request, found, known)
        else:
            oneshot = self.options.oneshot if self.method != "available" else "A_r"
            why, cause = why_no_room(self._window, request, found, oneshot)
        zone = ints(found.desk.zone) if accepted else None
        return Verdict(
            name=request.name,
            accepted=accepted,
            zone=zone,
            value=request.value,
            cost=found.cost,
            utility=utility,
            why=why,
            cause=cause,
            parameters=known,
        )

    def _let_in(self, request: ClusterRequest, found: Found, verdict: Verdict, first: int, last: int) -> None:
        """Algorithm 4 lines 7 to 12."""
        resource, amount = found.desk.resource[: found.taken].copy(), found.desk.amount[: found.taken].copy()
        self._window.book(first, last, resource, amount)
        assert verdict.zone is not None
        self._running[request.name] = Booking(
            verdict.zone, request.start, request.end, request.value, first, last, resource, amount
        )
        heapq.heappush(self._ends, (request.end, request.name))
        self._accepted += 1
        self._value += request.value


def _fault(code: str, name: object, problem: str, value: str = "", expected: str = "") -> Fault:
    return Fault(code=code, kind="request", name=str(name), problem=problem, value=value, expected=expected)


def _wrong(code: str, what: str, problem: str, value: str = "", expected: str = "") -> InputError:
    """What a call other than an offer asks for cannot be; it is named by the request, or by what is asked."""
    fault = _fault(code, what, problem, value, expected)
    return InputError(what, [fault if code == "E2010" else replace(fault, kind="call")])
