"""Why a request is let in or not, in a sentence that names the price, the zone, the link or the member."""

import numpy as np

from bayplan.decide.admit.placer import Found
from bayplan.decide.admit.verdict import Parameters
from bayplan.decide.admit.window import Window
from bayplan.kernels.admit.use import homes
from bayplan.model import ClusterRequest
from bayplan.score.check.violation import amount


def why_accepted(request: ClusterRequest, found: Found, parameters: Parameters) -> str:
    """'value 120 is above 35.2 (cost 70.4, alpha 2)'."""
    if parameters.base == 1.0:
        return "a placement fits"
    return f"value {request.value:.6g} is above {_price(found, parameters)}"


def why_too_dear(window: Window, request: ClusterRequest, found: Found, parameters: Parameters) -> str:
    """The price, and which part of it is the largest."""
    said = f"too dear: value {request.value:.6g} is not above {_price(found, parameters)}"
    if found.most < 0 or found.cost == 0:
        return said
    m, seen = int(found.desk.resource[found.most]), window.view
    part = found.desk.amount[found.most] / seen.unit[m] * seen.price[m]
    return f"{said}; {part:.6g} of it is for {_what(window, m)}"


def why_no_room(window: Window, request: ClusterRequest, found: Found, oneshot: str) -> str:
    """The placement that was found takes more than there is, or none was found."""
    return _over(window, found) if found.cost < np.inf else _nothing_fits(window, request, found, oneshot)


def _price(found: Found, parameters: Parameters) -> str:
    if parameters.alpha == 1.0:
        return f"its cost {found.cost:.6g}"
    return f"{found.cost / parameters.alpha:.6g} (cost {found.cost:.6g}, alpha {parameters.alpha:.4g})"


def _what(window: Window, m: int) -> str:
    """'cpu in zone 'a'', 'the link from zone 'a' to 'b''."""
    zones, (n_z, n_r) = window.zones, window.zones.capacity.shape
    if m < n_z * n_r:
        return f"{zones.resources[m % n_r].name} in zone '{zones.name[m // n_r]}'"
    y, z = divmod(m - n_z * n_r, n_z)
    return f"the link from zone '{zones.name[y]}' to '{zones.name[z]}'"


def _over(window: Window, found: Found) -> str:
    """What the cheapest placement takes does not fit."""
    m, asks = int(found.desk.resource[found.over]), int(found.desk.amount[found.over])
    free, n_k = int(window.limit[m] - window.view.peak[m]), window.zones.capacity.size
    if m < n_k:
        resource = window.zones.resources[m % window.zones.capacity.shape[1]]
        return f"no room: it would take {amount(asks, resource)} of {amount(free, resource)} free {_what(window, m)}"
    unit = window.view.unit[m]
    return f"no room: it would send {asks / unit:.6g} over {_what(window, m)}, which has {free / unit:.6g} free"


def _nothing_fits(window: Window, request: ClusterRequest, found: Found, oneshot: str) -> str:
    """Which member has no zone; or that they do not fit together."""
    room = window.view.room
    for v, name in enumerate(request.members):
        if homes(request.demand[v], room) == 0:
            short = request.demand[v][None, :] > room
            first = short.argmax(axis=1)  # each zone counts once
            counts = [(int((first == r).sum()), one.name) for r, one in enumerate(window.zones.resources)]
            listed = ", ".join(f"{count} short of {name}" for count, name in counts if count)
            return f"no room: member '{name}' fits into 0/{len(room)} zones ({listed})"
    together = f"its {len(request.members)} members fit alone, but not together"
    if not found.complete:
        return f"no room found: {together}, as far as {oneshot} looked"
    asked, free = request.demand.sum(axis=0, dtype=float), np.maximum(room, 0).sum(axis=0, dtype=float)
    for r in np.flatnonzero(asked > free).tolist():
        one = window.zones.resources[r]
        both = f"{asked[r] / one.scale:.6g} of {free[r] / one.scale:.6g}"
        return f"no room: {together}: they ask for {both} {one.name} that one request can get in all zones"
    return f"no room: {together}: {oneshot} found no zones with links for them"
