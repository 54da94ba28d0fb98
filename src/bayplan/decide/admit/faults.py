"""What is wrong with a request that is offered, all of it, as numbered faults."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from bayplan.check.violation import amount
from bayplan.decide.admit.limits import BEYOND, sum_faults
from bayplan.errors import Fault
from bayplan.model import ClusterRequest, IntArray, Zones

FIELDS = tuple(field.name for field in fields(ClusterRequest))


def missing_of(request: Any) -> Iterator[Fault]:
    """Faults of what is no request at all: it lacks a field, or its members cannot be listed."""
    name = str(getattr(request, "name", type(request).__name__))
    for field in FIELDS:
        if not hasattr(request, field):
            yield _fault("E1107", name, f"there is no {field}", "", f"a request has {', '.join(FIELDS)}")
    members = getattr(request, "members", ())
    if not isinstance(members, Sequence) or isinstance(members, str) or not all(isinstance(one, str) for one in members):
        yield _fault("E1101", name, "the members are not a list of names", repr(members), "a list of texts")


def faults_of(request: Any, zones: Zones, most: IntArray) -> Iterator[Fault]:
    """Faults of the request by itself. `most` is (zone, resource) what an empty zone gives to one request.

    The request need not be a `ClusterRequest`: whatever has its fields is looked at.
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
    """The same, as a `ClusterRequest`; it has no faults."""
    if type(request) is ClusterRequest:
        return request
    given = {field: getattr(request, field) for field in FIELDS}
    numbers = {field: number(given[field]) for field in ("arrival", "start", "end", "value")}
    return ClusterRequest(**{**given, **numbers, "members": tuple(request.members)})


def number(value: Any) -> float:
    """As a float; not a number if it is none, or a text."""
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
    elif number(value) >= BEYOND:
        yield _fault("E2016", name, "the value is too large", value, f"below {BEYOND}")


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
    """Of each member's demand."""
    for member, asked in zip(members, demand, strict=True):
        whole = np.isfinite(asked) & (asked == np.trunc(asked)) & (abs(asked.astype(float)) < 2.0**63)
        if not whole.all():
            yield _fault("E2007", name, f"a demand of member '{member}' is not a whole number", asked[~whole][0], "base units")
        elif (asked < 0).any():
            yield _fault("E2006", name, f"a demand of member '{member}' is negative", asked.min(), "zero or more")
        elif not (asked <= most).all(axis=1).any():
            asks = ", ".join(f"{one.name} {amount(int(some), one)}" for some, one in zip(asked, zones.resources, strict=True))
            yield _fault(
                "E2005", name, f"member '{member}' fits into no zone, even if all were empty", asks, _largest(zones, most)
            )


def _largest(zones: Zones, most: IntArray) -> str:
    """'at most cpu 10, memory 20 in one of 3 zones'."""
    tops = zip(zones.resources, most.max(axis=0, initial=0).tolist(), strict=True)
    return f"at most {', '.join(f'{one.name} {amount(top, one)}' for one, top in tops)} in one of {len(most)} zones"


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
        found = np.asarray(given)
    except (TypeError, ValueError):
        return None
    return found if found.dtype.kind in "iufb" else None
