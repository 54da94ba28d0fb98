"""What can be read of an admission: a summary, what runs, prices, shares in use, history and forecast, as plain data.

Questions are asked in the writer's thread and only copy arrays; what takes longer, lists of numbers, is made by whoever asked.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from bayplan.decide.admit import PriceHistory, SlotRates
from bayplan.model import FloatArray, Zones
from bayplan.serve.admission.state import AdmissionState
from bayplan.serve.store.admissions import LogEntry

Data = dict[str, Any]


class SlotFigures(NamedTuple):
    """The prices and the shares in use of one slot."""

    price: SlotRates
    used: SlotRates


def summary(state: AdmissionState) -> Data:
    """What an admission is and how far it has come."""
    admission, stored = state.admission, state.stored
    return {
        "name": stored.name,
        "created": stored.created,
        "method": admission.method,
        "seed": admission.seed,
        "options": stored.description["options"],
        "zones": list(admission.zones.name),
        "resources": [resource.name for resource in admission.zones.resources],
        "document": stored.description["document"],
        "now": _finite(admission.now),
        "changes": state.applied,
        "offers": admission.offers,
        "accepted": admission.accepted,
        "value": admission.value,
        "running": len(admission.running),
        "parameters": {name: _finite(value) for name, value in asdict(admission.parameters).items()},
        "decides_here": state.fence is not None,
    }


def running(state: AdmissionState) -> list[Data]:
    """Accepted requests that have not ended, in the order of acceptance."""
    names = state.admission.zones.name
    return [
        {
            "name": each.name,
            "start": each.start,
            "end": each.end,
            "value": each.value,
            "zones": [names[z] for z in each.zone.tolist()],
        }
        for each in state.admission.running
    ]


def figures(time: float | None) -> Callable[[AdmissionState], tuple[Zones, float, SlotFigures]]:
    """The question for prices and shares in use at a time; None: now."""

    def question(state: AdmissionState) -> tuple[Zones, float, SlotFigures]:
        admission = state.admission
        return admission.zones, admission.now, SlotFigures(admission.prices(time), admission.utilisation(time))

    return question


def forecast(slots: int) -> Callable[[AdmissionState], tuple[Zones, float, list[SlotFigures]]]:
    """The question for the next slots, with what is booked in them."""

    def question(state: AdmissionState) -> tuple[Zones, float, list[SlotFigures]]:
        admission = state.admission
        slot = admission.options.slot
        first = admission.now if math.isfinite(admission.now) else 0.0
        times = [first + ahead * slot for ahead in range(slots)]
        return admission.zones, admission.now, [SlotFigures(admission.prices(t), admission.utilisation(t)) for t in times]

    return question


def history(state: AdmissionState) -> tuple[Zones, float, PriceHistory]:
    """The question for all prices that are known."""
    return state.admission.zones, state.admission.now, state.admission.history()


# ---- lists of numbers


def rates_data(zones: Zones, now: float, rates: SlotRates, figure: str) -> Data:
    """One figure for each resource of each zone and for each link."""
    names = [resource.name for resource in zones.resources]
    by_zone = {zone: dict(zip(names, row, strict=True)) for zone, row in zip(zones.name, rates.zone.tolist(), strict=True)}
    links = [{"from": zones.name[a], "to": zones.name[b], figure: float(rates.link[a, b])} for a, b in _links(zones)]
    return {"now": _finite(now), "start": rates.start, "zones": by_zone, "links": links}


def forecast_data(zones: Zones, now: float, slots: Sequence[SlotFigures]) -> Data:
    """Columns by slot: when it starts, prices and shares in use."""
    return {
        "now": _finite(now),
        **_axes(zones),
        "start": [each.price.start for each in slots],
        "price": _columns(zones, [each.price.zone for each in slots], [each.price.link for each in slots]),
        "used": _columns(zones, [each.used.zone for each in slots], [each.used.link for each in slots]),
    }


def history_data(zones: Zones, now: float, told: PriceHistory, slots: int, log: Sequence[LogEntry]) -> Data:
    """Prices of the latest slots that have passed and of all that are booked, and the verdicts, the newest first."""
    first = max(0, int(np.searchsorted(told.start, now)) - slots) if math.isfinite(now) else 0
    last = first + 2 * slots
    start, zone, link = told.start[first:last], told.zone[first:last], told.link[first:last]
    return {
        "now": _finite(now),
        **_axes(zones),
        "start": start.tolist(),
        "price": _columns(zones, list(zone), list(link)),
        "entries": [entry_data(entry) for entry in log],
        "before": log[-1].seq if log else None,
    }


def entry_data(entry: LogEntry) -> Data:
    """One entry of the log."""
    given, outcome = json.loads(entry.given), json.loads(entry.outcome)
    return {"seq": entry.seq, "at": entry.at, "kind": entry.kind, "given": given, "outcome": outcome}


def _axes(zones: Zones) -> Data:
    links = [[zones.name[a], zones.name[b]] for a, b in _links(zones)]
    return {"zones": list(zones.name), "resources": [resource.name for resource in zones.resources], "links": links}


def _columns(zones: Zones, zone: Sequence[FloatArray], link: Sequence[FloatArray]) -> Mapping[str, Any]:
    """(slot, zone, resource) and (slot, link)."""
    pairs = _links(zones)
    return {
        "zone": [each.tolist() for each in zone],
        "link": [[float(each[a, b]) for a, b in pairs] for each in link],
    }


def _links(zones: Zones) -> list[tuple[int, int]]:
    return [(a, b) for a, b in np.argwhere(zones.bandwidth > 0).tolist() if a != b]


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
