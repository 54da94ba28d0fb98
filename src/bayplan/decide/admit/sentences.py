"""Why a request is let in or not: a cause, and a sentence that names the price, the zone, the link or the member."""

from typing import NamedTuple

import numpy as np

from bayplan.check.violation import amount
from bayplan.decide.admit.causes import Cause, Kind
from bayplan.decide.admit.placer import Found
from bayplan.decide.admit.verdict import Parameters
from bayplan.decide.admit.window import Window
from bayplan.kernels.admit.use import homes
from bayplan.model import ClusterRequest


class Why(NamedTuple):
    """A sentence, and the cause that it tells of; None if the request is let in."""

    text: str
    cause: Cause | None


def why_accepted(request: ClusterRequest, found: Found, parameters: Parameters) -> Why:
    """'value 120 is above 35.2 (cost 70.4, alpha 2)'."""
    if parameters.base == 1.0:
        return Why("a placement fits", None)
    return Why(f"value {figure(request.value)} is above {_price(found, parameters)}", None)


def why_too_dear(window: Window, request: ClusterRequest, found: Found, parameters: Parameters) -> Why:
    """The price, and which part of it is the largest."""
    said = f"{Kind.TOO_DEAR}: value {figure(request.value)} is not above {_price(found, parameters)}"
    if found.most < 0 or found.cost == 0:
        return Why(said, Cause(kind=Kind.TOO_DEAR))
    m, seen = int(found.desk.resource[found.most]), window.view
    part = found.desk.amount[found.most] / seen.unit[m] * seen.price[m]
    cause = _cause(Kind.TOO_DEAR, window, m)
    return Why(f"{said}; {figure(part)} of the cost is for {cause.place}", cause)


def why_no_room(window: Window, request: ClusterRequest, found: Found, oneshot: str) -> Why:
    """The placement that was found takes more than there is, or none was found."""
    return _over(window, found) if found.cost < np.inf else _nothing_fits(window, request, found, oneshot)


def figure(number: float) -> str:
    """Five digits, or all before the point: '0.0123', '35.2', '4,096', '1,951,230'."""
    return f"{number:,.0f}" if 1e5 <= abs(number) < 1e15 else f"{number:,.5g}"


def _price(found: Found, parameters: Parameters) -> str:
    if parameters.alpha == 1.0:
        return f"its cost {figure(found.cost)}"
    return f"{figure(found.cost / parameters.alpha)} (cost {figure(found.cost)}, alpha {figure(parameters.alpha)})"


def _cause(kind: Kind, window: Window, m: int) -> Cause:
    """With the place of resource m of the window."""
    zones, (n_z, n_r) = window.zones, window.zones.capacity.shape
    if m < n_z * n_r:
        return Cause(kind=kind, resource=zones.resources[m % n_r].name, zone=zones.name[m // n_r])
    y, z = divmod(m - n_z * n_r, n_z)
    return Cause(kind=kind, zone=zones.name[y], to=zones.name[z])


def _over(window: Window, found: Found) -> Why:
    """What the cheapest placement takes does not fit."""
    m, asks = int(found.desk.resource[found.over]), int(found.desk.amount[found.over])
    free, cause = int(window.limit[m] - window.view.peak[m]), _cause(Kind.FULL, window, m)
    if m < window.zones.capacity.size:
        resource = window.zones.resources[m % window.zones.capacity.shape[1]]
        return Why(f"{cause.kind}: it would take {amount(asks, resource)} of {amount(free, resource)} free {cause.place}", cause)
    unit = window.view.unit[m]
    sent = f"it would send {figure(asks / unit)} over {cause.place}, which has {figure(free / unit)} free"
    return Why(f"{cause.kind}: {sent}", cause)


def _nothing_fits(window: Window, request: ClusterRequest, found: Found, oneshot: str) -> Why:
    """Which member has no zone; or that they do not fit together."""
    for v in range(len(request.members)):
        if homes(request.demand[v], window.view.room) == 0:
            return _no_zone(window, request, v)
    together = f"its {len(request.members)} members fit alone, but not together"
    asked = request.demand.sum(axis=0, dtype=float)
    free = np.maximum(window.view.room, 0).sum(axis=0, dtype=float)
    for r in np.flatnonzero(asked > free).tolist():
        one = window.zones.resources[r]
        both = f"{figure(asked[r] / one.scale)} of {figure(free[r] / one.scale)} {one.name}"
        said = f"no room: {together}: they ask for {both} that one request can get in all zones"
        return Why(said, Cause(kind=Kind.TOGETHER, resource=one.name))
    if not found.complete:
        return Why(f"no room found: {together}, as far as {oneshot} looked", Cause(kind=Kind.NOT_FOUND))
    return Why(f"no room: {together}: no zones hold them all, links included", Cause(kind=Kind.APART))


def _no_zone(window: Window, request: ClusterRequest, v: int) -> Why:
    """Member v fits into no zone; the cause is what most zones lack."""
    room, resources = window.view.room, window.zones.resources
    first = (request.demand[v][None, :] > room).argmax(axis=1)  # each zone counts once
    lacking = np.bincount(first, minlength=len(resources)).tolist()
    listed = ", ".join(f"{count} short of {one.name}" for count, one in zip(lacking, resources, strict=True) if count)
    most = resources[int(np.argmax(lacking))].name if any(lacking) else ""
    said = f"no room: member '{request.members[v]}' fits into 0/{len(room)} zones ({listed})"
    return Why(said, Cause(kind=Kind.MEMBER, resource=most))
