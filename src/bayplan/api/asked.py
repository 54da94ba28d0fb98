"""What requests ask for: how much, of what, and when it is most."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from rich.console import RenderableType

from bayplan.formats.requests import RequestsFile
from bayplan.model import ClusterRequests, Fleet, FloatArray, TimedRequests, floats, ints
from bayplan.report.amounts import human_amount, score
from bayplan.report.lines import facts, plain_table, plain_text, spaced
from bayplan.score.timed import LoadCurve, load_curve, load_factor, loads, span, wide

BUSIEST = 5  # times that are shown
APART = 0.02  # of all time: what is nearer to a busier time is part of it


def asked_requests(file: RequestsFile, name: str) -> Mapping[str, Any]:
    """What `show` says of timed requests. `machines` are of the requests' own size: the load factor on K is `load` / K."""
    requests, fleet = file.requests, file.fleet
    one = Fleet.alike(1, requests.capacity)
    is_wide = wide(requests)
    large = (requests.demand > requests.capacity).any(axis=1)
    return {
        "name": name,
        "kind": "timed requests",
        **_common(requests, one),
        "narrow": int((~is_wide.any(axis=1)).sum()),
        "wide": {resource.name: int(is_wide[:, r].sum()) for r, resource in enumerate(requests.resources)},
        "larger_than_a_machine": int(large.sum()),
        "classes": _classes(requests),
        "machines": None if fleet is None else fleet.size,
        "load_factor": None if fleet is None else load_factor(requests, fleet),
    }


def asked_clusters(admission: ClusterRequests, name: str) -> Mapping[str, Any]:
    """What `show` says of zones and cluster requests: loads are shares of all zones together."""
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
    more = {"members": members, "zones": len(zones.name), "links": links}
    return {"name": name, "kind": "cluster requests", **_common(timed, Fleet.alike(1, timed.capacity)), **more}


def _common(requests: TimedRequests, one: Fleet) -> dict[str, Any]:
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
                "of": human_amount(int(requests.capacity[r]), resource),
                "mean": float(mean[r]),
                "peak": float(share.load[:, r].max(initial=0.0)),
            }
            for r, resource in enumerate(requests.resources)
        ],
        "busiest": _busiest(share),
    }


def _busiest(curve: LoadCurve) -> list[dict[str, float]]:
    """The times at which most is asked for, the mean over resources; no two of them near each other."""
    load: FloatArray = curve.load.mean(axis=1) if curve.load.shape[1] else np.zeros(len(curve.load))
    if not len(load):
        return []
    gap = APART * float(curve.time[-1] - curve.time[0])
    found: list[int] = []
    for step in np.argsort(-load, kind="stable").tolist():
        if all(abs(curve.time[step] - curve.time[other]) > gap for other in found):
            found.append(step)
        if len(found) == BUSIEST:
            break
    return [{"from": float(curve.time[i]), "to": float(curve.time[i + 1]), "load": float(load[i])} for i in found]


def _classes(requests: TimedRequests) -> dict[str, int]:
    names, many = np.unique(np.array(requests.priority, dtype=np.str_), return_counts=True)
    return dict(zip(names.tolist(), many.tolist(), strict=True))


def asked_tables(answer: Mapping[str, Any]) -> list[RenderableType]:
    """The same for a terminal."""
    timed = answer["kind"] == "timed requests"
    unit = "machines" if timed else "times all zones"
    known = [
        (answer["kind"], f"{answer['requests']:,}"),
        ("value", score(answer["value"])),
        ("time", "none" if answer["first_start"] is None else f"{answer['first_start']:g} to {answer['last_end']:g}"),
        ("load", f"{score(answer['load'])} {unit} on average" if answer["load"] == answer["load"] else "–"),
    ]
    if timed:
        words = ", ".join(f"{many:,} in {name}" for name, many in answer["wide"].items())
        known += [
            ("narrow", f"{answer['narrow']:,}"),
            ("wide", f"{words}: more than half of a machine"),
            ("too large", f"{answer['larger_than_a_machine']:,} for one machine"),
        ]
    if timed and answer["machines"] is not None:
        known.append(("fleet", f"{answer['machines']:,} machines, load factor {score(answer['load_factor'])}"))
    if timed and answer["classes"]:
        known.append(("classes", ", ".join(f"{name} {many:,}" for name, many in list(answer["classes"].items())[:12])))
    if not timed:
        known += [(name, f"{answer[name]:,}") for name in ("members", "zones", "links")]
    return spaced([facts(known), _resource_table(answer, unit), *([_busy_table(answer, unit)] if answer["busiest"] else [])])


def _resource_table(answer: Mapping[str, Any], unit: str) -> RenderableType:
    table = plain_table("resource", "one has" if unit == "machines" else "all have", f"mean, {unit}", f"peak, {unit}")
    for row in answer["resources"]:
        table.add_row(*map(plain_text, (row["name"], row["of"], score(row["mean"]), score(row["peak"]))))
    return table


def _busy_table(answer: Mapping[str, Any], unit: str) -> RenderableType:
    table = plain_table("from", "to", unit, title="Busiest times")
    for row in answer["busiest"]:
        table.add_row(*map(plain_text, (f"{row['from']:g}", f"{row['to']:g}", score(row["load"]))))
    return table
