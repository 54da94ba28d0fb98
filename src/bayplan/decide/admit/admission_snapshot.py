"""A live admission to plain data and back: integers exactly, floats as they are."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from bayplan.decide.admit.booking_calendar import BookingCalendar
from bayplan.decide.admit.one_shot.one_shot_problem import OneShotOptions
from bayplan.decide.admit.options import AdmitOptions
from bayplan.decide.admit.parameters import ParameterEstimates
from bayplan.errors import Fault, InputError, ModelError
from bayplan.kernels.admit.bookings import BLOCK
from bayplan.model import IntArray, Resource, Zones, ints

VERSION = 3


class Booking(NamedTuple):
    """An accepted request: its zones, its interval, and what it takes in each of its slots."""

    zone: IntArray  # (member,)
    start: float
    end: float
    value: float
    first: int  # slots
    last: int
    resource: IntArray
    amount: IntArray  # of each of those


@contextmanager
def reading(data: Mapping[str, Any]) -> Iterator[None]:
    """Translate every error while reading the data into InputError with a numbered fault."""
    version = data.get("bayplan-admission") if isinstance(data, Mapping) else None
    if version != VERSION:
        raise _wrong("E2013", "the version is not known", repr(version), f'"bayplan-admission": {VERSION}')
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, ModelError) as error:
        raise _wrong("E2014", f"a part is missing or wrong: {type(error).__name__} {error}") from error


def zones_data(zones: Zones) -> dict[str, Any]:
    """Zones as plain data."""
    return {
        "name": list(zones.name),
        "resources": [asdict(resource) for resource in zones.resources],
        "capacity": zones.capacity.tolist(),
        "request_cap": zones.request_cap.tolist(),
        "bandwidth": zones.bandwidth.tolist(),
    }


def zones_of(data: Mapping[str, Any]) -> Zones:
    """Zones from plain data; arrays without zones keep their shape."""
    n_z, n_r = len(data["name"]), len(data["resources"])
    return Zones(
        name=tuple(data["name"]),
        resources=tuple(Resource(**resource) for resource in data["resources"]),
        capacity=ints(np.array(data["capacity"], dtype=np.int64).reshape(n_z, n_r)),
        request_cap=ints(np.array(data["request_cap"], dtype=np.int64).reshape(n_z, n_r)),
        bandwidth=ints(np.array(data["bandwidth"], dtype=np.int64).reshape(n_z, n_z)),
    )


def options_data(options: AdmitOptions) -> dict[str, Any]:
    """Options as plain data."""
    return asdict(options)


def options_of(data: Mapping[str, Any]) -> AdmitOptions:
    """Options from plain data."""
    return AdmitOptions(**{**data, "one_shot_options": OneShotOptions(**data["one_shot_options"])})


def time_data(time: float) -> float | None:
    """A time as plain data; None for minus infinity."""
    return None if time == -math.inf else time


def time_of(time: float | None) -> float:
    """A time from plain data."""
    return -math.inf if time is None else float(time)


def estimates_data(estimates: ParameterEstimates) -> dict[str, Any]:
    """Estimates as plain data."""
    return {
        "value_ratio": estimates.value_ratio,
        "alpha": estimates.alpha,
        "first": estimates.first,
        "last": estimates.last,
        "priced": estimates.priced,
    }


def fill_estimates(estimates: ParameterEstimates, data: Mapping[str, Any]) -> None:
    """Continue with estimates from plain data."""
    estimates.restore(float(data["value_ratio"]), float(data["alpha"]), data["first"], data["last"], int(data["priced"]))


def booking_data(name: str, booking: Booking) -> dict[str, Any]:
    """One accepted request as plain data."""
    return {"name": name, **{k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in booking._asdict().items()}}


def booking_of(data: Mapping[str, Any], calendar: BookingCalendar) -> tuple[str, Booking]:
    """A booking from plain data. InputError if it names a zone or link that does not exist."""
    given: dict[str, Any] = {k: ints(v) if k in ("zone", "resource", "amount") else v for k, v in data.items() if k != "name"}
    booking = Booking(**given)
    if outside(booking.zone, len(calendar.zones.name)) or outside(booking.resource, calendar.resources):
        raise _wrong("E2015", f"request '{data['name']}' names a zone or a link that does not exist")
    return str(data["name"]), booking


def calendar_data(calendar: BookingCalendar) -> dict[str, Any]:
    """Bookings from the current block of slots on: slot, resources, and the amount of each."""
    slots = []
    for t in range(calendar.origin, calendar.booked + 1):
        load = calendar.loads(t)
        used = np.flatnonzero(load)
        if len(used):
            slots.append([t, used.tolist(), load[used].tolist()])
    return {"origin": calendar.origin, "booked": calendar.booked, "slots": slots}


def fill_calendar(calendar: BookingCalendar, data: Mapping[str, Any]) -> None:
    """Book what the data says. Errors if a load names no resource, or exceeds its capacity."""
    calendar.begin_at(int(data["origin"]))
    if calendar.origin != data["origin"] or data["booked"] - calendar.origin >= calendar.most_slots + BLOCK:
        raise ValueError("the slots are not in order")
    for t, resource, amount in data["slots"]:
        which, load = ints(resource), ints(amount)
        if outside(which, calendar.resources):
            raise _wrong("E2015", f"slot {t} names a zone or a link that does not exist")
        if not calendar.origin <= t <= data["booked"] or (load < 0).any() or (load > calendar.limit[which]).any():
            raise ValueError(f"the loads of slot {t} are not possible")
        calendar.book(t, t, which, load)
    calendar.booked = int(data["booked"])
    calendar.reach(calendar.booked)


def past_data(calendar: BookingCalendar) -> list[list[Any]]:
    """Prices of past slots: slot, resources that had a price, and each of these prices."""
    priced = ((t, np.flatnonzero(price), price) for t, price in calendar.past)
    return [[t, which.tolist(), price[which].tolist()] for t, which, price in priced]


def fill_past(calendar: BookingCalendar, data: Sequence[Sequence[Any]]) -> None:
    """Continue with the prices of past slots."""
    for t, which, given in data:
        if outside(ints(which), calendar.resources):
            raise _wrong("E2015", f"slot {t} of the past names a zone or a link that does not exist")
        price = np.zeros(calendar.resources)
        price[ints(which)] = given
        calendar.past.append((int(t), price))


def outside(index: IntArray, length: int) -> bool:
    """Is one of the indices not below that length?"""
    return bool(((index < 0) | (index >= length)).any())


def _wrong(code: str, problem: str, value: str = "", expected: str = "") -> InputError:
    return InputError("snapshot", [Fault(code=code, kind="snapshot", name="", problem=problem, value=value, expected=expected)])
