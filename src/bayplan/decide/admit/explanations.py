"""Why a request is accepted or refused: a sentence that names the price, zone, link or member, and the cause."""

from typing import NamedTuple

import numpy as np

from bayplan.check.violation import amount
from bayplan.decide.admit.booking_calendar import BookingCalendar
from bayplan.decide.admit.decision import PriceParameters, RefusalCause, RefusalKind
from bayplan.decide.admit.request_placer import PricedPlacement
from bayplan.kernels.admit.resource_use import zones_that_fit
from bayplan.model import ClusterRequest


class Justification(NamedTuple):
    """A sentence, and the cause of a refusal; None if the request is accepted."""

    text: str
    cause: RefusalCause | None


def explain_accepted(request: ClusterRequest, placement: PricedPlacement, parameters: PriceParameters) -> Justification:
    """'value 120 is above 35.2 (cost 70.4, alpha 2)'."""
    if parameters.base == 1.0:
        return Justification("a placement fits", None)
    return Justification(f"value {figure(request.value)} is above {_price(placement, parameters)}", None)


def explain_too_expensive(
    calendar: BookingCalendar, request: ClusterRequest, placement: PricedPlacement, parameters: PriceParameters
) -> Justification:
    """The value and the price, and the largest part of the price."""
    text = f"{RefusalKind.TOO_EXPENSIVE}: value {figure(request.value)} is not above {_price(placement, parameters)}"
    if placement.most < 0 or placement.cost == 0:
        return Justification(text, RefusalCause(kind=RefusalKind.TOO_EXPENSIVE))
    m, view = int(placement.scratch.resource[placement.most]), calendar.view
    part = placement.scratch.amount[placement.most] / view.unit[m] * view.price[m]
    cause = _cause_at(RefusalKind.TOO_EXPENSIVE, calendar, m)
    return Justification(f"{text}; {figure(part)} of the cost is for {cause.place}", cause)


def explain_no_capacity(
    calendar: BookingCalendar, request: ClusterRequest, placement: PricedPlacement, one_shot: str
) -> Justification:
    """The placement found exceeds what is free, or none was found."""
    return _exceeds(calendar, placement) if placement.cost < np.inf else _nothing_fits(calendar, request, placement, one_shot)


def figure(number: float) -> str:
    """Five digits, or all before the point: '0.0123', '35.2', '4,096', '1,951,230'."""
    return f"{number:,.0f}" if 1e5 <= abs(number) < 1e15 else f"{number:,.5g}"


def _price(placement: PricedPlacement, parameters: PriceParameters) -> str:
    if parameters.alpha == 1.0:
        return f"its cost {figure(placement.cost)}"
    return f"{figure(placement.cost / parameters.alpha)} (cost {figure(placement.cost)}, alpha {figure(parameters.alpha)})"


def _cause_at(kind: RefusalKind, calendar: BookingCalendar, m: int) -> RefusalCause:
    """The cause with the zone, or the link, of resource m of the calendar."""
    zones, (n_z, n_r) = calendar.zones, calendar.zones.capacity.shape
    if m < n_z * n_r:
        return RefusalCause(kind=kind, resource=zones.resources[m % n_r].name, zone=zones.name[m // n_r])
    y, z = divmod(m - n_z * n_r, n_z)
    return RefusalCause(kind=kind, zone=zones.name[y], to=zones.name[z])


def _exceeds(calendar: BookingCalendar, placement: PricedPlacement) -> Justification:
    """The first resource or link of which the placement takes more than is free."""
    m, taken = int(placement.scratch.resource[placement.over]), int(placement.scratch.amount[placement.over])
    free, cause = int(calendar.limit[m] - calendar.view.peak[m]), _cause_at(RefusalKind.NO_CAPACITY, calendar, m)
    if m < calendar.zones.capacity.size:
        resource = calendar.zones.resources[m % calendar.zones.capacity.shape[1]]
        return Justification(
            f"{cause.kind}: it would take {amount(taken, resource)} of {amount(free, resource)} free {cause.place}", cause
        )
    unit = calendar.view.unit[m]
    overload = f"it would send {figure(taken / unit)} over {cause.place}, which has {figure(free / unit)} free"
    return Justification(f"{cause.kind}: {overload}", cause)


def _nothing_fits(calendar: BookingCalendar, request: ClusterRequest, placement: PricedPlacement, one_shot: str) -> Justification:
    """Which member fits into no zone; or that the members do not fit together."""
    for v in range(len(request.members)):
        if zones_that_fit(request.demand[v], calendar.view.free) == 0:
            return _no_zone(calendar, request, v)
    together = f"its {len(request.members)} members fit alone, but not together"
    needed = request.demand.sum(axis=0, dtype=float)
    free = np.maximum(calendar.view.free, 0).sum(axis=0, dtype=float)
    for r in np.flatnonzero(needed > free).tolist():
        resource = calendar.zones.resources[r]
        amounts = f"{figure(needed[r] / resource.scale)} of {figure(free[r] / resource.scale)} {resource.name}"
        text = f"no capacity: {together}: they ask for {amounts} that one request can get in all zones"
        return Justification(text, RefusalCause(kind=RefusalKind.NO_CAPACITY_FOR_ALL, resource=resource.name))
    if not placement.complete:
        return Justification(
            f"no placement found: {together}, as far as {one_shot} searched", RefusalCause(kind=RefusalKind.NOT_FOUND)
        )
    return Justification(
        f"no capacity: {together}: no combination of zones and links holds them all",
        RefusalCause(kind=RefusalKind.NO_COMBINATION),
    )


def _no_zone(calendar: BookingCalendar, request: ClusterRequest, v: int) -> Justification:
    """Member v fits into no zone; the cause is the resource that most zones lack."""
    free, resources = calendar.view.free, calendar.zones.resources
    first = (request.demand[v][None, :] > free).argmax(axis=1)  # each zone counts once
    lacking = np.bincount(first, minlength=len(resources)).tolist()
    listed = ", ".join(f"{count} short of {resource.name}" for count, resource in zip(lacking, resources, strict=True) if count)
    most = resources[int(np.argmax(lacking))].name if any(lacking) else ""
    text = f"no capacity: member '{request.members[v]}' fits into 0/{len(free)} zones ({listed})"
    return Justification(text, RefusalCause(kind=RefusalKind.NO_CAPACITY_FOR_MEMBER, resource=most))
