"""One HTML page for those who plan capacity: what so many machines are good for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bayplan.report.amounts import count, score
from bayplan.report.markup import card, paragraph, table, tag, tiles
from bayplan.report.page import figure, footer, header, page
from bayplan.report.pictures.sweep import share_curve, value_curve, worth_curve
from bayplan.report.schedule_rows import SWEEP_HEADS, Smallest, SweepPoint, slopes, smallest_line, sweep_cells

HOW = (
    "Every line is an answer of the method on so many machines, checked. One more adds: the value gained from this line to the "
    "next, per machine. The bound gains at most: the price of a machine, from the proof of the bound."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepStory:
    """What there is to tell about a sweep."""

    name: str
    method: str
    requests: int
    asked: float  # value of all requests
    points: Sequence[SweepPoint]  # by number of machines
    smallest: Smallest | None = None
    interrupted: bool = False
    notes: Sequence[str] = ()


def sweep_page(story: SweepStory, *, made: Mapping[str, str]) -> str:
    """The page. `made` says how it came about."""
    points = story.points
    lead = f"{count(story.requests, 'request')} worth {score(story.asked)}, by {story.method}"
    verdict = "cut short" if story.interrupted else f"{count(len(points), 'number')} of machines tried"
    rows = [sweep_cells(p, slope, story.requests) for p, slope in zip(points, slopes(points), strict=True)]
    pictures = [
        figure(value_curve(points, asked=story.asked)),
        figure(share_curve(points, story.requests, story.smallest)),
        figure(worth_curve(points)),
    ]
    body = [
        header(f"{story.name}: how many machines?", verdict, not story.interrupted, lead),
        _tiles(story),
        *([tag("h2", "What are so many machines good for?"), *pictures] if points else []),
        tag("h2", "In numbers"),
        card("", paragraph(HOW, "soft"), table(SWEEP_HEADS, rows)),
        footer(made, story.notes),
    ]
    return page(story.name, body)


def _tiles(story: SweepStory) -> str:
    facts: list[tuple[str, ...]] = []
    if story.smallest is not None:
        found = story.smallest.machines
        facts.append(("machines needed", "–" if found is None else f"{found:,}", smallest_line(story.smallest)))
    if story.points:
        few, many = story.points[0], story.points[-1]
        facts += [
            (count(point.machines, "machine"), score(point.value), f"{point.served:,} of {story.requests:,} requests served")
            for point in ((few, many) if len(story.points) > 1 else (few,))
        ]
    return tiles(facts) if facts else ""
