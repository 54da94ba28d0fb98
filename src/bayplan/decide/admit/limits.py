"""Amounts that can be added up: what whole numbers of 64 bits hold."""

from collections.abc import Iterator

import numpy as np

from bayplan.errors import Fault, InputError
from bayplan.model import ClusterRequests, IntArray, Zones

BEYOND = 2**62  # base units: two amounts below it can be added


def expect_summable(stream: ClusterRequests) -> None:
    """InputError if a zone, or all members of a request together, reach `BEYOND`."""
    large = (request for request in stream.requests if request.demand.sum(dtype=np.float64) >= BEYOND / 2)
    faults = [*zone_faults(stream.zones), *(fault for request in large for fault in sum_faults(request.name, request.demand))]
    if faults:
        raise InputError("stream", faults)


def most_members(zones: Zones) -> int:
    """So many members, each of which fits into some zone, are below `BEYOND` together, whatever they ask for."""
    largest = int(np.minimum(zones.capacity, zones.request_cap).max(initial=1))
    return (BEYOND - 1) // max(1, largest)


def zone_faults(zones: Zones) -> Iterator[Fault]:
    """E2016 for each capacity that is too large."""
    for z, r in np.argwhere(zones.capacity >= BEYOND).tolist():
        problem = f"the capacity of {zones.resources[r].name} is too large"
        yield _fault("zone", zones.name[z], problem, int(zones.capacity[z, r]))


def sum_faults(name: str, demand: IntArray) -> Iterator[Fault]:
    """E2016 for a request (member, resource) that asks for too much in all."""
    largest = max((sum(column) for column in demand.T.tolist()), default=0)
    if largest >= BEYOND:
        yield _fault("request", name, "the demand of all members together is too large", largest)


def _fault(kind: str, name: str, problem: str, value: int) -> Fault:
    return Fault(code="E2016", kind=kind, name=name, problem=problem, value=str(value), expected=f"below {BEYOND}")
