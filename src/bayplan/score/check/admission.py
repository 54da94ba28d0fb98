"""The referee of `admit`: accepted groups of containers fit their zones and links (001 (1a)-(1f))."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from bayplan.model import Admission, BoolArray, FloatArray, IntArray
from bayplan.score.check.confidence import TOLERANCE
from bayplan.score.check.sweep import peak
from bayplan.score.check.violation import Violation, amount

Choice = Mapping[int, Sequence[int]]  # request index -> zone index of each of its members


def check_admission(admission: Admission, accepted: Choice) -> tuple[Violation, ...]:
    """Violations of `accepted`. Traffic within one zone uses no link, so it is not limited.

    Requests whose members do not all have a zone are reported and count for nothing else.
    """
    strays = [*_strays(admission, accepted)]
    if strays:
        wrong = {violation.subject[0] for violation in strays}
        accepted = {i: zones for i, zones in accepted.items() if _name(admission, i) not in wrong}
    return (
        *strays,
        *_over_request_cap(admission, accepted),
        *_over_capacity(admission, accepted),
        *_over_bandwidth(admission, accepted),
    )


def _name(admission: Admission, i: int) -> str:
    return admission.requests[i].name if 0 <= i < len(admission.requests) else str(i)


def _strays(admission: Admission, accepted: Choice) -> Iterator[Violation]:
    """(1a), (1c): an accepted request has exactly one zone for each member."""
    zones = len(admission.zones.name)
    for i in sorted(accepted):
        name = _name(admission, i)
        if not 0 <= i < len(admission.requests):
            yield Violation(rule="accepted", subject=(name,), excess=1, sentence=f"there is no request {i}")
            continue
        members = admission.requests[i].members
        missing = [v for v, z in zip(members, accepted[i], strict=False) if not 0 <= z < zones]
        wrong = len(missing) + abs(len(members) - len(accepted[i]))
        if wrong:
            yield Violation(
                rule="accepted",
                subject=(name,),
                excess=wrong,
                sentence=f"request '{name}' is accepted, but {wrong} of its {len(members)} members have no zone of the {zones}",
            )


def _demand(admission: Admission, i: int, zones: Sequence[int]) -> IntArray:
    """(zone, resource) what one request takes."""
    demand = np.zeros_like(admission.zones.capacity)
    np.add.at(demand, np.array(zones), admission.requests[i].demand)
    return demand


def _traffic(admission: Admission, i: int, zones: Sequence[int]) -> FloatArray:
    """(zone, zone) what one request sends over each link; nothing within a zone."""
    n_z = len(admission.zones.name)
    traffic = np.zeros((n_z, n_z))
    np.add.at(traffic, np.ix_(np.array(zones), np.array(zones)), admission.requests[i].traffic)
    np.fill_diagonal(traffic, 0.0)
    return traffic


def _over_request_cap(admission: Admission, accepted: Choice) -> Iterator[Violation]:
    """(1d): one request takes at most B of a zone."""
    zones = admission.zones
    for i in sorted(accepted):
        demand = _demand(admission, i, accepted[i])
        for z, r in np.argwhere(demand > zones.request_cap):
            name, resource = admission.requests[i].name, zones.resources[r]
            yield Violation(
                rule="request-cap",
                subject=(name, zones.name[z], resource.name),
                excess=int(demand[z, r] - zones.request_cap[z, r]),
                sentence=f"request '{name}' takes {amount(demand[z, r], resource)} {resource.name} in zone '{zones.name[z]}', "
                f"one request may take {amount(zones.request_cap[z, r], resource)}",
            )


def _over_capacity(admission: Admission, accepted: Choice) -> Iterator[Violation]:
    """(1b): what runs in a zone at one time fits."""
    zones, some = admission.zones, sorted(accepted)
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


def _over_bandwidth(admission: Admission, accepted: Choice) -> Iterator[Violation]:
    """(1e)-(1f): what crosses a link at one time fits; a missing link carries nothing."""
    zones, some = admission.zones, sorted(accepted)
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


def _times(admission: Admission, some: Sequence[int]) -> tuple[FloatArray, FloatArray]:
    start = np.array([admission.requests[i].start for i in some])
    return start, np.array([admission.requests[i].end for i in some])
