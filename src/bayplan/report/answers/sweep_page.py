"""One HTML page for those who plan capacity: what each number of machines is good for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bayplan.report.amounts import score
from bayplan.report.answers.sweep_tables import fewest_words, sweep_table
from bayplan.report.markup import Tile, card, html_table, paragraph, tag, tiles
from bayplan.report.page import figure, footer, header, page
from bayplan.report.pictures.sweep import share_curve, value_curve, worth_curve
from bayplan.report.table import UNKNOWN
from bayplan.score.machine_sweep import FewestMachines, SweepPoint
from bayplan.words import count

HOW = (
    "Every line is an answer of the method on that many machines, checked. One more adds: the value gained from this line to the "
    "next, per machine. The bound gains at most: the price of a machine, from the proof of the bound."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPageData:
    """What the page about a sweep shows."""

    name: str
    method: str
    requests: int
    requested: float  # value of all requests
    points: Sequence[SweepPoint]  # by number of machines
    fewest: FewestMachines | None = None
    interrupted: bool = False
    notes: Sequence[str] = ()


def sweep_page(data: SweepPageData, *, made: Mapping[str, str]) -> str:
    """The page. `made` says how it came about."""
    points = data.points
    lead = f"{count(data.requests, 'request')} worth {score(data.requested)}, by {data.method}"
    verdict = "cut short" if data.interrupted else f"{count(len(points), 'number')} of machines tried"
    pictures = [
        figure(value_curve(points, requested=data.requested)),
        figure(share_curve(points, data.requests, data.fewest)),
        figure(worth_curve(points)),
    ]
    body = [
        header(f"{data.name}: how many machines?", verdict, not data.interrupted, lead),
        _tiles(data),
        *([tag("h2", "What is each number of machines good for?"), *pictures] if points else []),
        tag("h2", "In numbers"),
        card("", paragraph(HOW, "soft"), html_table(sweep_table(points, data.requests))),
        footer(made, data.notes),
    ]
    return page(data.name, body)


def _tiles(data: SweepPageData) -> str:
    numbers: list[Tile] = []
    if data.fewest is not None:
        machines = data.fewest.machines
        numbers.append(Tile("machines needed", UNKNOWN if machines is None else f"{machines:,}", fewest_words(data.fewest)))
    ends = [data.points[0], data.points[-1]] if len(data.points) > 1 else data.points
    numbers += [
        Tile(count(point.machines, "machine"), score(point.value), f"{point.served:,} of {data.requests:,} requests served")
        for point in ends
    ]
    return tiles(numbers) if numbers else ""
