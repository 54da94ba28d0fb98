"""One HTML page for those who plan capacity: what each number of machines is good for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bayplan.report.amounts import count, score
from bayplan.report.answers.sweep_tables import FewestMachines, SweepPoint, fewest_words, sweep_table
from bayplan.report.markup import Tile, card, html_table, paragraph, tag, tiles
from bayplan.report.page import figure, footer, header, page
from bayplan.report.pictures.sweep import share_curve, value_curve, worth_curve
from bayplan.report.table import UNKNOWN

HOW = (
    "Every line is an answer of the method on that many machines, checked. One more adds: the value gained from this line to the "
    "next, per machine. The bound gains at most: the price of a machine, from the proof of the bound."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepStory:
    """What there is to tell about a sweep."""

    name: str
    method: str
    requests: int
    requested: float  # value of all requests
    points: Sequence[SweepPoint]  # by number of machines
    fewest: FewestMachines | None = None
    interrupted: bool = False
    notes: Sequence[str] = ()


def sweep_page(story: SweepStory, *, made: Mapping[str, str]) -> str:
    """The page. `made` says how it came about."""
    points = story.points
    lead = f"{count(story.requests, 'request')} worth {score(story.requested)}, by {story.method}"
    verdict = "cut short" if story.interrupted else f"{count(len(points), 'number')} of machines tried"
    pictures = [
        figure(value_curve(points, requested=story.requested)),
        figure(share_curve(points, story.requests, story.fewest)),
        figure(worth_curve(points)),
    ]
    body = [
        header(f"{story.name}: how many machines?", verdict, not story.interrupted, lead),
        _tiles(story),
        *([tag("h2", "What is each number of machines good for?"), *pictures] if points else []),
        tag("h2", "In numbers"),
        card("", paragraph(HOW, "soft"), html_table(sweep_table(points, story.requests))),
        footer(made, story.notes),
    ]
    return page(story.name, body)


def _tiles(story: SweepStory) -> str:
    numbers: list[Tile] = []
    if story.fewest is not None:
        machines = story.fewest.machines
        numbers.append(Tile("machines needed", UNKNOWN if machines is None else f"{machines:,}", fewest_words(story.fewest)))
    ends = [story.points[0], story.points[-1]] if len(story.points) > 1 else story.points
    numbers += [
        Tile(count(point.machines, "machine"), score(point.value), f"{point.served:,} of {story.requests:,} requests served")
        for point in ends
    ]
    return tiles(numbers) if numbers else ""
