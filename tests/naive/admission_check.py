"""The slow twin of the referee of `admit`: every request, zone and link in one table ([Online clusters] (1a)-(1f))."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from bayplan.check.peak_load import exact, peak
from bayplan.check.placement.machines import TOLERANCE
from bayplan.check.violation import Violation, amount
from bayplan.errors import ModelError
from bayplan.model import Acceptance, BoolArray, ClusterRequests, FloatArray, IntArray

Choice: TypeAlias = Mapping[int, IntArray]  # request -> zone of each of its members


def violations_of(admission: ClusterRequests, acceptance: Acceptance) -> tuple[Violation, ...]:
    """Violations of `acceptance`. Traffic within one zone uses no link, so it is not limited.

    Requests whose members do not all have a zone are reported and count for nothing else.
    """
    if len(acceptance.zone_of) != len(admission.requests):
        raise ModelError(f"the acceptance is of {len(acceptance.zone_of)} requests, not of {len(admission.requests)}")
    accepted = {i: zones for i, zones in enumerate(acceptance.zone_of) if zones is not None}
    wrong = {i: count for i, zones in accepted.items() if (count := _without_zone(admission, i, zones))}
    good = {i: zones for i, zones in accepted.items() if i not in wrong}
    return (
        *_strays(admission, wrong),
        *_over_request_cap(admission, good),
        *_over_capacity(admission, good),
        *_over_bandwidth(admission, good),
    )


def _without_zone(admission: ClusterRequests, i: int, zones: IntArray) -> int:
    """Members that have no zone, or one that does not exist, and zones too many."""
    return int((zones >= len(admission.zones.name)).sum()) + abs(len(admission.requests[i].members) - len(zones))


def _strays(admission: ClusterRequests, wrong: Mapping[int, int]) -> Iterator[Violation]:
    """(1a), (1c): an accepted request has exactly one zone for each member."""
    zones = len(admission.zones.name)
    for i, count in wrong.items():
        name, members = admission.requests[i].name, len(admission.requests[i].members)
        sentence = f"request '{name}' is accepted, but {count} of its {members} members have no zone of the {zones}"
        yield Violation(rule="accepted", subject=(name,), excess=count, sentence=sentence)


def _demand(admission: ClusterRequests, i: int, zones: IntArray) -> npt.NDArray[Any]:
    """(zone, resource) what one request takes, exactly."""
    needed = exact(admission.requests[i].demand)
    demand = np.zeros(admission.zones.capacity.shape, dtype=needed.dtype)
    np.add.at(demand, zones, needed)
    return demand


def _traffic(admission: ClusterRequests, i: int, zones: IntArray) -> FloatArray:
    """(zone, zone) what one request sends over each link; nothing within a zone."""
    n_z = len(admission.zones.name)
    traffic = np.zeros((n_z, n_z))
    np.add.at(traffic, np.ix_(zones, zones), admission.requests[i].traffic)
    np.fill_diagonal(traffic, 0.0)
    return traffic


def _over_request_cap(admission: ClusterRequests, accepted: Choice) -> Iterator[Violation]:
    """(1d): one request takes at most B of a zone."""
    zones = admission.zones
    for i in accepted:
        demand = _demand(admission, i, accepted[i])
        for z, r in np.argwhere(demand > zones.request_cap):
            name, resource = admission.requests[i].name, zones.resources[r]
            yield Violation(
                rule="request-cap",
                subject=(name, zones.name[z], resource.name),
                excess=int(demand[z, r]) - int(zones.request_cap[z, r]),
                sentence=f"request '{name}' takes {amount(demand[z, r], resource)} {resource.name} in zone '{zones.name[z]}', "
                f"one request may take {amount(zones.request_cap[z, r], resource)}",
            )


def _over_capacity(admission: ClusterRequests, accepted: Choice) -> Iterator[Violation]:
    """(1b): what runs in a zone at one time fits."""
    zones, some = admission.zones, list(accepted)
    start, end = _times(admission, some)
    demand = np.array([_demand(admission, i, accepted[i]) for i in some]).reshape(-1, *zones.capacity.shape)
    for z, r in np.argwhere(_used(demand)):
        top, has, resource = peak(start, end, demand[:, z, r]), int(zones.capacity[z, r]), zones.resources[r]
        if top.load > has:
            over = int(top.load) - has
            yield Violation(
                rule="capacity",
                subject=(zones.name[z], resource.name),
                excess=over,
                sentence=f"zone '{zones.name[z]}': {amount(int(top.load), resource)} {resource.name} requested of "
                f"{amount(has, resource)} during ({top.start:g}, {top.end:g}] ({amount(over, resource)} too much)",
            )


def _over_bandwidth(admission: ClusterRequests, accepted: Choice) -> Iterator[Violation]:
    """(1e)-(1f): what crosses a link at one time fits; a missing link carries nothing."""
    zones, some = admission.zones, list(accepted)
    start, end = _times(admission, some)
    traffic = np.array([_traffic(admission, i, accepted[i]) for i in some]).reshape(-1, *zones.bandwidth.shape)
    for a, b in np.argwhere(_used(traffic)):
        top, has = peak(start, end, traffic[:, a, b]), int(zones.bandwidth[a, b])
        if top.load > has * (1 + TOLERANCE):
            yield Violation(
                rule="bandwidth",
                subject=(zones.name[a], zones.name[b]),
                excess=top.load - has,
                sentence=f"link from zone '{zones.name[a]}' to '{zones.name[b]}': {top.load:.6g} traffic of {has} "
                f"during ({top.start:g}, {top.end:g}]",
            )


def _used(amounts: IntArray | FloatArray) -> BoolArray:
    """Does any request ask for it? Shape without the first axis."""
    return np.asarray((amounts > 0).any(axis=0), dtype=np.bool_)


def _times(admission: ClusterRequests, some: list[int]) -> tuple[FloatArray, FloatArray]:
    start = np.array([admission.requests[i].start for i in some])
    return start, np.array([admission.requests[i].end for i in some])
