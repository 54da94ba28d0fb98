"""One HTML page about a schedule: who is served, what it is worth, how full the machines are over time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bayplan.model import BoolArray, Fleet, Reason, Result, Schedule, TimedRequests
from bayplan.report.amounts import count, percent, score
from bayplan.report.broken import SHOWN
from bayplan.report.markup import card, items, paragraph, table, tag, tiles
from bayplan.report.pack_rows import odds
from bayplan.report.page import figure, footer, header, page
from bayplan.report.pictures.served_bars import served_bars
from bayplan.report.pictures.timed_load import STEPS, LoadRow, timed_load
from bayplan.report.schedule_rows import (
    CLASS_HEADS,
    KIND_HEADS,
    ScheduleFigures,
    class_cells,
    kind_cells,
    schedule_lines,
    share_of,
)
from bayplan.score.timed import LoadCurve, load_curve, thinned


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScheduleStory:
    """What there is to tell about a schedule."""

    name: str
    requests: TimedRequests
    fleet: Fleet
    served: BoolArray  # (request,)
    result: Result[Schedule]
    figures: ScheduleFigures
    notes: Sequence[str] = ()


def schedule_page(story: ScheduleStory, *, made: Mapping[str, str]) -> str:
    """The page. `made` says how it came about: {"command": ..., "version": ...}."""
    figures = story.figures
    left = figures.requests - figures.served
    verdict = f"{count(left, 'request')} not served" if left else "every request is served"
    lead = f"{count(figures.requests, 'request')} for {count(figures.machines, 'machine')}, load factor {_load(figures.load)}"
    body = [
        header(story.name, verdict, not left, lead),
        _tiles(story),
        tag("h2", "How much is asked for, and how much fits?"),
        figure(timed_load(list(load_rows(story)), title=f"{story.name}: load over time")),
        *_classes(figures),
        *_kinds(figures),
        tag("h2", "Who is not served, and why") if story.result.left_out else "",
        _reasons(story.result.left_out) if story.result.left_out else "",
        tag("h2", "In numbers"),
        card("", items(f"{name}: {value}" for name, value in schedule_lines(figures, story.result))),
        footer(made, story.notes),
    ]
    return page(story.name, body)


def _load(load: float) -> str:
    return f"{load:.3g}" if load == load else "–"


def _tiles(story: ScheduleStory) -> str:
    figures, result = story.figures, story.result
    gap = "" if result.gap is None else f"at most {odds(result.gap)} below the best possible"
    facts = [
        ("value served", score(figures.value), f"{percent(share_of(figures.value, figures.asked))} of all"),
        (
            "requests served",
            f"{figures.served:,}",
            f"{percent(share_of(figures.served, figures.requests))} of {figures.requests:,}",
        ),
        ("proven bound", "none" if result.bound is None else score(result.bound), gap),
        ("load factor", _load(figures.load), "asked for, over what the machines have"),
        ("utilisation", percent(figures.utilisation), "of machine time, mean over resources"),
        ("wide requests", f"{figures.wide:,}", "more than half a machine of something"),
    ]
    return tiles(facts)


def load_rows(story: ScheduleStory) -> Iterator[LoadRow]:
    """What is asked for and served over time, as shares of all machines; a resource that no machine has is left out."""
    room = (story.fleet.machines[:, None] * story.fleet.capacity.astype(np.float64)).sum(axis=0)
    both = load_curve(story.requests), load_curve(story.requests, story.served)
    if not len(both[0].load):
        return
    asked, served = (thinned(curve, STEPS) if len(curve.load) else curve for curve in both)
    for r, resource in enumerate(story.requests.resources):
        if room[r] > 0:
            yield LoadRow(
                resource=resource.name,
                time=asked.time.tolist(),
                asked=_share(asked, r, room[r]),
                served_time=served.time.tolist(),
                served=_share(served, r, room[r]),
            )


def _share(curve: LoadCurve, r: int, room: float) -> list[float]:
    shares: list[float] = (curve.load[:, r] / room).tolist()
    return shares


def _classes(figures: ScheduleFigures) -> list[str]:
    if not figures.classes:
        return []
    rows = [class_cells(row) for row in figures.classes]
    return [
        tag("h2", "Which classes are served?"),
        figure(served_bars(figures.classes, title="Served by class")),
        card("", table(CLASS_HEADS, rows)),
    ]


def _kinds(figures: ScheduleFigures) -> list[str]:
    if len(figures.kinds) < 2:
        return []
    return [tag("h2", "On which machines?"), card("", table(KIND_HEADS, [kind_cells(row) for row in figures.kinds]))]


def _reasons(reasons: Sequence[Reason]) -> str:
    more = len(reasons) - SHOWN
    return card("", items(map(str, reasons[:SHOWN])), paragraph(f"and {more:,} more", "soft") if more > 0 else "")
