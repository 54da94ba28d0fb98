"""The referee of `admit`: accepted groups of containers fit their zones and links ([Online clusters] (1a)-(1f)).

What accepted requests take is listed once: one entry for each request and zone, and for each request and link that it uses.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from bayplan.check.peak_load import Peak, exact, peak
from bayplan.check.violation import TOLERANCE, Violation, amount
from bayplan.errors import ModelError
from bayplan.model import Acceptance, ClusterRequests, FloatArray, IntArray

Choice: TypeAlias = Mapping[int, IntArray]  # request -> zone of each of its members
AT_ONCE = 4096  # requests whose traffic is held in one array


def check_admission(admission: ClusterRequests, acceptance: Acceptance) -> tuple[Violation, ...]:
    """Violations of `acceptance`. Traffic within one zone uses no link, so it is not limited.

    Requests whose members do not all have a zone are reported and count for nothing else.
    """
    if len(acceptance.zone_of) != len(admission.requests):
        raise ModelError(f"the acceptance is of {len(acceptance.zone_of)} requests, not of {len(admission.requests)}")
    accepted = {i: zones for i, zones in enumerate(acceptance.zone_of) if zones is not None}
    wrong = {i: count for i, zones in accepted.items() if (count := _without_zone(admission, i, zones))}
    good = {i: zones for i, zones in accepted.items() if i not in wrong}
    times, demand = _times(admission, good), _demand(admission, good)
    return (
        *_strays(admission, wrong),
        *_over_request_cap(admission, demand),
        *_over_capacity(admission, demand, times),
        *_over_bandwidth(admission, _traffic(admission, good), times),
    )


class Times(NamedTuple):
    """When requests run, and every moment at which one of the accepted starts or ends, in order."""

    start: FloatArray  # (request,)
    end: FloatArray
    moment: FloatArray

    def peak(self, entry: "Entries", which: npt.NDArray[np.intp], taken: npt.NDArray[Any]) -> Peak:
        """The peak of the given entries; its interval lasts until any accepted request starts or ends."""
        i = entry.request[which]
        top = peak(self.start[i], self.end[i], taken)
        return top._replace(end=float(self.moment[np.searchsorted(self.moment, top.start, side="right")]))


class Entries(NamedTuple):
    """What requests take of places (zones or links), by request, then by place."""

    request: IntArray  # (entry,)
    place: IntArray
    taken: npt.NDArray[Any]  # (entry, kind) above 0 for one kind at least

    def by_place(self) -> Iterator[tuple[int, npt.NDArray[np.intp]]]:
        """Each place, and its entries."""
        order = np.argsort(self.place, kind="stable")
        place, first = np.unique(self.place[order], return_index=True)
        last = np.append(first[1:], len(order))[: len(first)]
        for z, at, end in zip(place.tolist(), first, last, strict=True):
            yield z, order[at:end]


def _summed(request: IntArray, place: IntArray, taken: npt.NDArray[Any], places: int) -> Entries:
    """One entry for all that one request takes of one place."""
    if len(request) == 0:
        return Entries(request, place, taken)
    key = request * places + place
    order = np.argsort(key, kind="stable")
    first = np.flatnonzero(np.diff(key[order], prepend=-1))
    chosen = order[first]
    return Entries(request[chosen], place[chosen], np.add.reduceat(taken[order], first, axis=0))


def _times(admission: ClusterRequests, accepted: Choice) -> Times:
    start = np.array([request.start for request in admission.requests], dtype=np.float64)
    end = np.array([request.end for request in admission.requests], dtype=np.float64)
    chosen = list(accepted)
    return Times(start, end, np.unique(np.concatenate([start[chosen], end[chosen]])))


def _demand(admission: ClusterRequests, accepted: Choice) -> Entries:
    """What requests take of zones, exactly."""
    n_z, n_r = admission.zones.capacity.shape
    none, length = np.zeros(0, dtype=np.int64), [len(zones) for zones in accepted.values()]
    request: IntArray = np.repeat(np.array(list(accepted), dtype=np.int64), length)
    zone: IntArray = np.concatenate([none, *accepted.values()])
    demand = np.concatenate([none.reshape(0, n_r), *(admission.requests[i].demand for i in accepted)])
    return _summed(request, zone, exact(demand), n_z)


def _traffic(admission: ClusterRequests, accepted: Choice) -> Entries:
    """What requests send over links; nothing within a zone."""
    by_size = sorted(accepted, key=lambda i: len(accepted[i]))
    parts = [_sent(admission, accepted, by_size[at : at + AT_ONCE]) for at in range(0, len(by_size), AT_ONCE)]
    request, link, sent = (np.concatenate([[], *(part[field] for part in parts)]) for field in range(3))
    return _summed(request.astype(np.int64), link.astype(np.int64), sent[:, None], len(admission.zones.name) ** 2)


def _sent(admission: ClusterRequests, accepted: Choice, chosen: list[int]) -> tuple[IntArray, IntArray, FloatArray]:
    """Request, link and traffic of each pair of members in two zones."""
    n_z, members = len(admission.zones.name), max(len(accepted[i]) for i in chosen)
    zone = np.zeros((len(chosen), members), dtype=np.int64)
    traffic = np.zeros((len(chosen), members, members))
    for row, i in enumerate(chosen):
        zone[row, : len(accepted[i])] = accepted[i]
        traffic[row, : len(accepted[i]), : len(accepted[i])] = admission.requests[i].traffic
    at, v, w = np.nonzero((traffic > 0) & (zone[:, :, None] != zone[:, None, :]))
    return np.array(chosen, dtype=np.int64)[at], zone[at, v] * n_z + zone[at, w], traffic[at, v, w]


def _without_zone(admission: ClusterRequests, i: int, zones: IntArray) -> int:
    """Members that have no zone or one that does not exist, and zones beyond the number of members."""
    return int((zones >= len(admission.zones.name)).sum()) + abs(len(admission.requests[i].members) - len(zones))


def _strays(admission: ClusterRequests, wrong: Mapping[int, int]) -> Iterator[Violation]:
    """(1a), (1c): an accepted request has exactly one zone for each member."""
    zones = len(admission.zones.name)
    for i, count in wrong.items():
        name, members = admission.requests[i].name, len(admission.requests[i].members)
        sentence = f"request '{name}' is accepted, but {count} of its {members} members have no zone of the {zones}"
        yield Violation(rule="accepted", subject=(name,), excess=count, sentence=sentence)


def _over_request_cap(admission: ClusterRequests, demand: Entries) -> Iterator[Violation]:
    """(1d): one request takes at most B of a zone."""
    zones = admission.zones
    for entry, r in np.argwhere(demand.taken > zones.request_cap[demand.place]).tolist():
        z, takes = int(demand.place[entry]), int(demand.taken[entry, r])
        name, resource = admission.requests[demand.request[entry]].name, zones.resources[r]
        yield Violation(
            rule="request-cap",
            subject=(name, zones.name[z], resource.name),
            excess=takes - int(zones.request_cap[z, r]),
            sentence=f"request '{name}' takes {amount(takes, resource)} {resource.name} in zone '{zones.name[z]}', "
            f"one request may take {amount(zones.request_cap[z, r], resource)}",
        )


def _over_capacity(admission: ClusterRequests, demand: Entries, times: Times) -> Iterator[Violation]:
    """(1b): what runs in a zone at one time fits."""
    zones = admission.zones
    for z, which in demand.by_place():
        for r, resource in enumerate(zones.resources):
            top, has = times.peak(demand, which, demand.taken[which, r]), int(zones.capacity[z, r])
            if top.load > has:
                over = int(top.load) - has
                yield Violation(
                    rule="capacity",
                    subject=(zones.name[z], resource.name),
                    excess=over,
                    sentence=f"zone '{zones.name[z]}': {amount(int(top.load), resource)} {resource.name} requested of "
                    f"{amount(has, resource)} during ({top.start:g}, {top.end:g}] ({amount(over, resource)} too much)",
                )


def _over_bandwidth(admission: ClusterRequests, traffic: Entries, times: Times) -> Iterator[Violation]:
    """(1e)-(1f): what crosses a link at one time fits; a missing link carries nothing."""
    zones = admission.zones
    for link, which in traffic.by_place():
        a, b = divmod(link, len(zones.name))
        top, has = times.peak(traffic, which, traffic.taken[which, 0]), int(zones.bandwidth[a, b])
        if top.load > has * (1 + TOLERANCE):
            yield Violation(
                rule="bandwidth",
                subject=(zones.name[a], zones.name[b]),
                excess=top.load - has,
                sentence=f"link from zone '{zones.name[a]}' to '{zones.name[b]}': {top.load:.6g} traffic of {has} "
                f"during ({top.start:g}, {top.end:g}]",
            )
