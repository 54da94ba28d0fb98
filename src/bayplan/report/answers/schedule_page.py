"""One HTML page about a schedule: what is served, what it is worth, how full the machines are over time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bayplan.model import BoolArray, Fleet, Result, Schedule, TimedRequests
from bayplan.report.amounts import odds, percent, score
from bayplan.report.answers.schedule_tables import class_table, kind_table, schedule_facts, share_of
from bayplan.report.markup import Tile, card, fact_list, first_items, html_table, tag, tiles
from bayplan.report.page import figure, footer, header, page
from bayplan.report.pictures.served import STEPS, LoadRow, served_bars, timed_load
from bayplan.report.table import facts
from bayplan.report.violations import SHOWN
from bayplan.score.schedule_figures import ScheduleFigures
from bayplan.score.timed_load import LoadCurve, load_curve, thinned
from bayplan.words import count


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SchedulePageData:
    """What the page about a schedule shows."""

    name: str
    requests: TimedRequests
    fleet: Fleet
    served: BoolArray  # (request,)
    result: Result[Schedule]
    figures: ScheduleFigures
    notes: Sequence[str] = ()


def schedule_page(data: SchedulePageData, *, made: Mapping[str, str]) -> str:
    """The page. `made` says how it came about: {"command": ..., "version": ...}."""
    figures = data.figures
    left = figures.requests - figures.served
    verdict = f"{count(left, 'request')} not served" if left else "every request is served"
    lead = f"{count(figures.requests, 'request')} for {count(figures.machines, 'machine')}, load factor {_load(figures.load)}"
    body = [
        header(data.name, verdict, not left, lead),
        _tiles(data),
        tag("h2", "How much is requested, and how much fits?"),
        figure(timed_load(list(load_rows(data)), title=f"{data.name}: load over time")),
        *_classes(figures),
        *_kinds(figures),
        tag("h2", "Not served, and why") if data.result.left_out else "",
        card("", first_items(data.result.left_out, SHOWN)) if data.result.left_out else "",
        tag("h2", "In numbers"),
        card("", fact_list(facts(*schedule_facts(figures, data.result)))),
        footer(made, data.notes),
    ]
    return page(data.name, body)


def _load(load: float) -> str:
    return f"{load:.3g}" if load == load else "–"


def _tiles(data: SchedulePageData) -> str:
    figures, result = data.figures, data.result
    gap = "" if result.gap is None else f"at most {odds(result.gap)} below the best possible"
    served = f"{percent(share_of(figures.served, figures.requests))} of {figures.requests:,}"
    return tiles(
        [
            Tile("value served", score(figures.value), f"{percent(share_of(figures.value, figures.requested))} of all"),
            Tile("requests served", f"{figures.served:,}", served),
            Tile("proven bound", "none" if result.bound is None else score(result.bound), gap),
            Tile("load factor", _load(figures.load), "requested, over what the machines have"),
            Tile("utilisation", percent(figures.utilisation), "of machine time, mean over resources"),
            Tile("wide requests", f"{figures.wide:,}", "more than half a machine of something"),
        ]
    )


def load_rows(data: SchedulePageData) -> Iterator[LoadRow]:
    """What is requested and served over time, as shares of all machines; a resource that no machine has is left out."""
    capacity = (data.fleet.machines[:, None] * data.fleet.capacity.astype(np.float64)).sum(axis=0)
    both = load_curve(data.requests), load_curve(data.requests, data.served)
    if not len(both[0].load):
        return
    requested, served = (thinned(curve, STEPS) if len(curve.load) else curve for curve in both)
    for r, resource in enumerate(data.requests.resources):
        if capacity[r] > 0:
            yield LoadRow(
                resource=resource.name,
                time=requested.time.tolist(),
                requested=_share(requested, r, capacity[r]),
                served_time=served.time.tolist(),
                served=_share(served, r, capacity[r]),
            )


def _share(curve: LoadCurve, r: int, capacity: float) -> list[float]:
    shares: list[float] = (curve.load[:, r] / capacity).tolist()
    return shares


def _classes(figures: ScheduleFigures) -> list[str]:
    if not figures.classes:
        return []
    return [
        tag("h2", "Which classes are served?"),
        figure(served_bars(figures.classes, title="Served by class")),
        card("", html_table(class_table(figures))),
    ]


def _kinds(figures: ScheduleFigures) -> list[str]:
    if len(figures.kinds) < 2:
        return []
    return [tag("h2", "On which machines?"), card("", html_table(kind_table(figures)))]
