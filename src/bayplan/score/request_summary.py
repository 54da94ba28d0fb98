"""What requests ask for in numbers: how much of each resource, and when it is most."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bayplan.check.violation import amount
from bayplan.model import ClusterRequests, Fleet, FloatArray, Resource, TimedRequests, floats, ints
from bayplan.score.timed_load import LoadCurve, load_curve, load_factor, loads, span, wide

Written = Callable[[int, Resource], str]

BUSIEST = 5  # times that are listed
APART = 0.02  # of all time: a time nearer to a busier one counts as part of it


def request_summary(requests: TimedRequests, fleet: Fleet | None, name: str, *, written: Written = amount) -> Mapping[str, Any]:
    """Timed requests in numbers. `load` is in machines of the size that comes with them: the load factor on K is `load` / K.

    `written` makes text of an amount.
    """
    one = Fleet.alike(1, requests.capacity)
    is_wide = wide(requests)
    large = (requests.demand > requests.capacity).any(axis=1)
    return {
        "name": name,
        "kind": "timed requests",
        **_common(requests, one, written),
        "narrow": int((~is_wide.any(axis=1)).sum()),
        "wide": {resource.name: int(is_wide[:, r].sum()) for r, resource in enumerate(requests.resources)},
        "larger_than_a_machine": int(large.sum()),
        "classes": _classes(requests),
        "machines": None if fleet is None else fleet.size,
        "load_factor": None if fleet is None else load_factor(requests, fleet),
    }


def stream_summary(admission: ClusterRequests, name: str, *, written: Written = amount) -> Mapping[str, Any]:
    """Zones and cluster requests in numbers: loads are shares of all zones together."""
    zones, requests = admission.zones, admission.requests
    timed = TimedRequests(
        name=tuple(request.name for request in requests),
        resources=zones.resources,
        capacity=ints(zones.capacity.sum(axis=0)),
        start=floats([request.start for request in requests]),
        end=floats([request.end for request in requests]),
        demand=ints(np.array([request.demand.sum(axis=0) for request in requests]).reshape(len(requests), len(zones.resources))),
        value=floats([request.value for request in requests]),
    )
    members = sum(len(request.members) for request in requests)
    links = int(np.count_nonzero(zones.bandwidth))
    counts = {"members": members, "zones": len(zones.name), "links": links}
    return {"name": name, "kind": "cluster requests", **_common(timed, Fleet.alike(1, timed.capacity), written), **counts}


def _common(requests: TimedRequests, one: Fleet, written: Written) -> dict[str, Any]:
    """Counts, and each resource over time, in machines (or in all zones together)."""
    curve = load_curve(requests)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = LoadCurve(time=curve.time, load=floats(np.where(one.capacity[0] > 0, curve.load / one.capacity[0], 0.0)))
    mean = loads(requests, one)
    return {
        "requests": len(requests.name),
        "value": float(requests.value.sum()),
        "first_start": float(requests.start.min()) if len(requests.name) else None,
        "last_end": float(requests.end.max()) if len(requests.name) else None,
        "span": span(requests),
        "load": load_factor(requests, one),
        "resources": [
            {
                "name": resource.name,
                "of": written(int(requests.capacity[r]), resource),
                "mean": float(mean[r]),
                "peak": float(share.load[:, r].max(initial=0.0)),
            }
            for r, resource in enumerate(requests.resources)
        ],
        "busiest": _busiest(share),
    }


def _busiest(curve: LoadCurve) -> list[dict[str, float]]:
    """The times of the highest load, the mean over resources; no two of them near each other."""
    load: FloatArray = curve.load.mean(axis=1) if curve.load.shape[1] else np.zeros(len(curve.load))
    if not len(load):
        return []
    gap = APART * float(curve.time[-1] - curve.time[0])
    busiest: list[int] = []
    for step in np.argsort(-load, kind="stable").tolist():
        if all(abs(curve.time[step] - curve.time[other]) > gap for other in busiest):
            busiest.append(step)
        if len(busiest) == BUSIEST:
            break
    return [{"from": float(curve.time[i]), "to": float(curve.time[i + 1]), "load": float(load[i])} for i in busiest]


def _classes(requests: TimedRequests) -> dict[str, int]:
    names, counts = np.unique(np.array(requests.priority, dtype=np.str_), return_counts=True)
    return dict(zip(names.tolist(), counts.tolist(), strict=True))
