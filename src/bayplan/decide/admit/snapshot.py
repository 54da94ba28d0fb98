"""A live admission as plain data, and back: integers exactly, floats as they are."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from bayplan.decide.admit.estimates import Estimates
from bayplan.decide.admit.oneshot.signature import OneShotOptions
from bayplan.decide.admit.signature import AdmitOptions
from bayplan.decide.admit.window import Window
from bayplan.errors import Fault, InputError, ModelError
from bayplan.kernels.admit.ledger import BLOCK
from bayplan.model import IntArray, Resource, Zones, ints

VERSION = 1


class Booking(NamedTuple):
    """An accepted request: where, when, and what it takes in each of its slots."""

    zone: IntArray  # (member,)
    start: float
    end: float
    value: float
    first: int  # slots
    last: int
    resource: IntArray
    amount: IntArray  # of each of those


@contextmanager
def read(data: Mapping[str, Any]) -> Iterator[None]:
    """Whatever is wrong with the data inside is said as a numbered fault."""
    version = data.get("bayplan-admission") if isinstance(data, Mapping) else None
    if version != VERSION:
        raise _wrong("E2013", "the version is not known", repr(version), f'"bayplan-admission": {VERSION}')
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, ModelError) as error:
        raise _wrong("E2014", f"a part is missing or wrong: {type(error).__name__} {error}") from error


def zones_data(zones: Zones) -> dict[str, Any]:
    """Names, resources and amounts."""
    return {
        "name": list(zones.name),
        "resources": [asdict(resource) for resource in zones.resources],
        "capacity": zones.capacity.tolist(),
        "request_cap": zones.request_cap.tolist(),
        "bandwidth": zones.bandwidth.tolist(),
    }


def zones_of(data: Mapping[str, Any]) -> Zones:
    """The way back; no zones keep their shape."""
    n_z, n_r = len(data["name"]), len(data["resources"])
    return Zones(
        name=tuple(data["name"]),
        resources=tuple(Resource(**resource) for resource in data["resources"]),
        capacity=ints(np.array(data["capacity"], dtype=np.int64).reshape(n_z, n_r)),
        request_cap=ints(np.array(data["request_cap"], dtype=np.int64).reshape(n_z, n_r)),
        bandwidth=ints(np.array(data["bandwidth"], dtype=np.int64).reshape(n_z, n_z)),
    )


def options_data(options: AdmitOptions) -> dict[str, Any]:
    """All of them."""
    return asdict(options)


def options_of(data: Mapping[str, Any]) -> AdmitOptions:
    """The way back."""
    return AdmitOptions(**{**data, "placing": OneShotOptions(**data["placing"])})


def time_data(time: float) -> float | None:
    """None before all time."""
    return None if time == -math.inf else time


def time_of(time: float | None) -> float:
    """The way back."""
    return -math.inf if time is None else float(time)


def estimates_data(estimates: Estimates) -> dict[str, Any]:
    """What was learnt."""
    return {
        "value_ratio": estimates.value_ratio,
        "alpha": estimates.alpha,
        "first": estimates.first,
        "last": estimates.last,
        "priced": estimates.priced,
    }


def fill_estimates(estimates: Estimates, data: Mapping[str, Any]) -> None:
    """The way back."""
    estimates.learnt(float(data["value_ratio"]), float(data["alpha"]), data["first"], data["last"], int(data["priced"]))


def booking_data(name: str, booking: Booking) -> dict[str, Any]:
    """One accepted request."""
    return {"name": name, **{k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in booking._asdict().items()}}


def booking_of(data: Mapping[str, Any], window: Window) -> tuple[str, Booking]:
    """The way back. InputError if it names what is not there."""
    given: dict[str, Any] = {k: ints(v) if k in ("zone", "resource", "amount") else v for k, v in data.items() if k != "name"}
    booking = Booking(**given)
    if _outside(booking.zone, len(window.zones.name)) or _outside(booking.resource, window.resources):
        raise _wrong("E2015", f"request '{data['name']}' names a zone or a link that does not exist")
    return str(data["name"]), booking


def window_data(window: Window, now: int) -> dict[str, Any]:
    """What is booked from the slot of now on: slot, which resources, and how much of each."""
    slots = []
    for t in range(max(now, window.origin), window.booked + 1):
        load = window.loads(t)
        used = np.flatnonzero(load)
        if len(used):
            slots.append([t, used.tolist(), load[used].tolist()])
    return {"origin": window.origin, "booked": window.booked, "slots": slots}


def fill_window(window: Window, data: Mapping[str, Any]) -> None:
    """The way back. InputError if a load is of nothing, or beyond what there is."""
    window.begin_at(int(data["origin"]))
    if window.origin != data["origin"] or data["booked"] - window.origin >= window.most_slots + BLOCK:
        raise ValueError("the slots are not in order")
    for t, resource, amount in data["slots"]:
        which, load = ints(resource), ints(amount)
        if _outside(which, window.resources):
            raise _wrong("E2015", f"slot {t} names a zone or a link that does not exist")
        if not window.origin <= t <= data["booked"] or (load < 0).any() or (load > window.limit[which]).any():
            raise ValueError(f"the loads of slot {t} are not possible")
        window.book(t, t, which, load)
    window.booked = int(data["booked"])
    window.reach(window.booked)


def _outside(index: IntArray, length: int) -> bool:
    return bool(((index < 0) | (index >= length)).any())


def _wrong(code: str, problem: str, value: str = "", expected: str = "") -> InputError:
    return InputError("snapshot", [Fault(code=code, kind="snapshot", name="", problem=problem, value=value, expected=expected)])
