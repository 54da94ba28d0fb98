"""What is wrong with zones or with a request that is offered, all of it, as numbered faults."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from bayplan.check.violation import amount
from bayplan.errors import Fault, InputError
from bayplan.model import ClusterRequest, ClusterRequests, IntArray, Zones

TOO_LARGE = 2**62  # base units: two amounts below it can be added
FIELDS = tuple(field.name for field in fields(ClusterRequest))


def expect_summable(stream: ClusterRequests) -> None:
    """InputError if a zone, or all members of a request together, reach `TOO_LARGE`."""
    large = (request for request in stream.requests if request.demand.sum(dtype=np.float64) >= TOO_LARGE / 2)
    faults = [*zone_faults(stream.zones), *(fault for request in large for fault in sum_faults(request.name, request.demand))]
    if faults:
        raise InputError("stream", faults)


def most_members(zones: Zones) -> int:
    """Any request of at most that many members, each of which fits into some zone, is below `TOO_LARGE` in sum."""
    largest = int(np.minimum(zones.capacity, zones.request_cap).max(initial=1))
    return (TOO_LARGE - 1) // max(1, largest)


def zone_faults(zones: Zones) -> Iterator[Fault]:
    """E2016 for each capacity that is too large."""
    for z, r in np.argwhere(zones.capacity >= TOO_LARGE).tolist():
        problem = f"the capacity of {zones.resources[r].name} is too large"
        yield _sum_fault("zone", zones.name[z], problem, int(zones.capacity[z, r]))


def sum_faults(name: str, demand: IntArray) -> Iterator[Fault]:
    """E2016 for a request (member, resource) that is too large in sum."""
    largest = max((sum(column) for column in demand.T.tolist()), default=0)
    if largest >= TOO_LARGE:
        yield _sum_fault("request", name, "the demand of all members together is too large", largest)


def _sum_fault(kind: str, name: str, problem: str, value: int) -> Fault:
    return Fault(code="E2016", kind=kind, name=name, problem=problem, value=str(value), expected=f"below {TOO_LARGE}")


def missing_fields(request: Any) -> Iterator[Fault]:
    """Faults of an object that is not a request: it lacks a field, or its members cannot be listed."""
    name = str(getattr(request, "name", type(request).__name__))
    for field in FIELDS:
        if not hasattr(request, field):
            yield _fault("E1107", name, f"there is no {field}", "", f"a request has {', '.join(FIELDS)}")
    members = getattr(request, "members", ())
    if not isinstance(members, Sequence) or isinstance(members, str) or not all(isinstance(member, str) for member in members):
        yield _fault("E1101", name, "the members are not a list of names", repr(members), "a list of texts")


def request_faults(request: Any, zones: Zones, most: IntArray) -> Iterator[Fault]:
    """Faults of the request by itself. `most` is (zone, resource) what an empty zone gives to one request.

    The request need not be a `ClusterRequest`: any object with its fields is examined.
    """
    name = request.name if isinstance(request.name, str) else str(request.name)
    if not isinstance(request.name, str):
        yield _fault("E1101", name, "the name is not a text", type(request.name).__name__, "a text")
    yield from _times(name, request)
    yield from _value(name, request.value)
    members = len(request.members)
    if members == 0:
        yield _fault("E2004", name, "there are no members", "", "at least one")
    for member, times in Counter(request.members).items():
        if times > 1:
            yield _fault("E1512", name, "a member name occurs more than once", f"{member}, {times} times", "each name once")
    yield from _demand(name, request, zones, most)
    yield from _traffic(name, request.traffic, members)


def as_request(request: Any) -> ClusterRequest:
    """The same, as a `ClusterRequest`; the caller knows that it has no faults."""
    if type(request) is ClusterRequest:
        return request
    given = {field: getattr(request, field) for field in FIELDS}
    numbers = {field: number(given[field]) for field in ("arrival", "start", "end", "value")}
    return ClusterRequest(**{**given, **numbers, "members": tuple(request.members)})


def number(value: Any) -> float:
    """As a float; NaN if it is a text or cannot be converted."""
    try:
        if isinstance(value, (str, bytes)):
            return math.nan
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _fault(code: str, name: str, problem: str, value: object = "", expected: str = "") -> Fault:
    return Fault(code=code, kind="request", name=name, problem=problem, value=str(value), expected=expected)


def _times(name: str, request: Any) -> Iterator[Fault]:
    times = {field: number(getattr(request, field)) for field in ("arrival", "start", "end")}
    for field, time in times.items():
        if not math.isfinite(time):
            yield _fault("E2007", name, f"the {field} is not a finite number", getattr(request, field), "a finite number")
    if all(map(math.isfinite, times.values())):
        if times["start"] < times["arrival"]:
            yield _fault("E2001", name, "the start is before the arrival", times["start"], f"{times['arrival']:g} or later")
        if times["end"] <= times["start"]:
            yield _fault("E2003", name, "the end is not after the start", times["end"], f"above {times['start']:g}")


def _value(name: str, value: Any) -> Iterator[Fault]:
    if not math.isfinite(number(value)):
        yield _fault("E2007", name, "the value is not a finite number", value, "a finite number")
    elif number(value) < 0:
        yield _fault("E2006", name, "the value is negative", value, "zero or more")
    elif number(value) >= TOO_LARGE:
        yield _fault("E2016", name, "the value is too large", value, f"below {TOO_LARGE}")


def _demand(name: str, request: Any, zones: Zones, most: IntArray) -> Iterator[Fault]:
    demand, members = _numbers(request.demand), tuple(request.members)
    if demand is None or demand.dtype.kind == "O":
        yield _fault("E2007", name, "the demand is not a table of numbers", "", "whole numbers below 2^63")
        return
    if demand.shape != (len(members), len(zones.resources)):
        shape = f"{len(members)} members with {len(zones.resources)} resources each"
        yield _fault("E2008", name, "the demand has the wrong shape", demand.shape, shape)
        return
    yield from _members(name, members, demand, zones, most)
    if (demand == np.trunc(demand)).all() and (demand >= 0).all():
        yield from sum_faults(name, demand)


def _members(name: str, members: Sequence[str], demand: npt.NDArray[Any], zones: Zones, most: IntArray) -> Iterator[Fault]:
    """Faults of each member's demand."""
    for member, amounts in zip(members, demand, strict=True):
        whole = np.isfinite(amounts) & (amounts == np.trunc(amounts)) & (abs(amounts.astype(float)) < 2.0**63)
        if not whole.all():
            yield _fault("E2007", name, f"a demand of member '{member}' is not a whole number", amounts[~whole][0], "base units")
        elif (amounts < 0).any():
            yield _fault("E2006", name, f"a demand of member '{member}' is negative", amounts.min(), "zero or more")
        elif not (amounts <= most).all(axis=1).any():
            pairs = zip(amounts, zones.resources, strict=True)
            listed = ", ".join(f"{resource.name} {amount(int(needed), resource)}" for needed, resource in pairs)
            yield _fault(
                "E2005", name, f"member '{member}' fits into no zone, even if all were empty", listed, _largest(zones, most)
            )


def _largest(zones: Zones, most: IntArray) -> str:
    """'at most cpu 10, memory 20 in one of 3 zones'."""
    tops = zip(zones.resources, most.max(axis=0, initial=0).tolist(), strict=True)
    return (
        f"at most {', '.join(f'{resource.name} {amount(top, resource)}' for resource, top in tops)} in one of {len(most)} zones"
    )


def _traffic(name: str, given: Any, members: int) -> Iterator[Fault]:
    traffic = _numbers(given)
    if traffic is None or traffic.dtype.kind == "O":
        yield _fault("E2007", name, "the traffic is not a table of numbers", "", "finite numbers")
    elif traffic.shape != (members, members):
        yield _fault("E2008", name, "the traffic has the wrong shape", traffic.shape, f"{members} by {members}")
    elif not np.isfinite(traffic).all():
        yield _fault("E2007", name, "traffic is not a finite number", traffic[~np.isfinite(traffic)][0], "a finite number")
    elif (traffic < 0).any():
        yield _fault("E2006", name, "traffic is negative", traffic.min(), "zero or more")
    elif traffic.diagonal().any():
        yield _fault("E1510", name, "a member sends traffic to itself", traffic.diagonal().max(), "0 on the diagonal")


def _numbers(given: Any) -> npt.NDArray[Any] | None:
    try:
        array = np.asarray(given)
    except (TypeError, ValueError):
        return None
    return array if array.dtype.kind in "iufb" else None
