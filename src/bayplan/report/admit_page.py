"""One HTML page about an admission: what was accepted, what room cost, how full it was, who was refused and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bayplan.model import Acceptance, ClusterRequest, FloatArray, Resource, Result
from bayplan.report.admit_rows import WHY_HEADS, AdmitFigures, why_cells
from bayplan.report.amounts import count, human_amount, percent, score
from bayplan.report.markup import Cell, card, items, paragraph, table, tag, tiles
from bayplan.report.page import figure, footer, header, page
from bayplan.report.pictures.over_time import Line, shares_over_time
from bayplan.report.pictures.prices import Band, prices_over_time

VALUE_UNIT = Resource(name="value")
REFUSED = 200  # rows of a table
REFUSED_HEADS = ("request", "members", "arrives", "from", "until", "value", "why")
USE = "The share of all zones together, and of all links together, that accepted requests take at each time."
VALUE = "How much value had arrived up to each time, and how much of it was accepted: what lies between was refused."
PRICES = (
    "A request is let in if its value is above cost / alpha, or above its cost where no alpha is listed below. The cost is "
    "amount times price, summed over its slots, zones and links. Prices are lambda^(load / capacity) - 1, so they are near 0 "
    "while there is room, and near lambda when there is none (001 equation (8))."
)
NO_PRICES = "This method has no prices; the picture shows how full zones and links were."


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmitStory:
    """What there is to tell about a stream."""

    name: str
    result: Result[Acceptance]
    figures: AdmitFigures
    edge: FloatArray  # (piece + 1,) pieces of time
    bands: Sequence[Band]  # levels of zones and links over time
    base: float  # lambda; 1 if nothing has a price
    use: Sequence[Line]
    value: Sequence[Line]
    refused: Sequence[tuple[ClusterRequest, str]]  # the most valuable first
    zones: int
    links: int
    notes: Sequence[str] = ()


def admit_page(story: AdmitStory, *, made: Mapping[str, str]) -> str:
    """The page. `made` says how it came about: {"command": ..., "version": ...}."""
    figures = story.figures
    lead = f"{count(figures.requests, 'request')} for {count(story.zones, 'zone')} with {count(story.links, 'link')}"
    title = f"{story.name}: " + ("what room costs over time" if story.base > 1 else "how full zones and links are")
    body = [
        header(story.name, f"{percent(figures.winners)} accepted", True, f"{lead}; decided by {figures.method}"),
        _tiles(story),
        tag("h2", "What does room cost?" if story.base > 1 else "Where is it full?"),
        figure(prices_over_time(story.bands, story.edge, base=story.base, title=title)),
        card("", paragraph(PRICES if story.base > 1 else NO_PRICES, "soft"), _parameters(figures)),
        tag("h2", "How full is it?"),
        figure(shares_over_time(story.use, story.edge, title="Use of zones and links", words=USE)),
        tag("h2", "How much value is let in?"),
        figure(shares_over_time(story.value, story.edge, title="Value that arrived and value that was accepted", words=VALUE)),
        _refused(story),
        footer(made, story.notes),
    ]
    return page(story.name, body)


def _tiles(story: AdmitStory) -> str:
    figures, result = story.figures, story.result
    value = result.score.get("value", 0.0)
    share = f"{score(value)}, {percent(value / figures.offered)} of what was offered" if figures.offered else ""
    facts = [
        ("value accepted", human_amount(value, VALUE_UNIT), share),
        ("winners", f"{figures.accepted:,}", f"{percent(figures.winners)} of {count(figures.requests, 'request')}"),
    ]
    if result.bound is not None:
        ratio = "nothing was accepted" if figures.ratio is None else f"at most {figures.ratio:.4g} times what was accepted"
        facts.append(("best possible", f"≤ {human_amount(result.bound, VALUE_UNIT)}", f"proven; {ratio}"))
    facts += [(f"{name} in use", percent(mean), f"on average; at most {percent(peak)}") for name, mean, peak in figures.use]
    return tiles(facts)


def _parameters(figures: AdmitFigures) -> str:
    lines = [f"{name}: {words}" for name, words in figures.parameters]
    return items(lines) if lines else ""


def _refused(story: AdmitStory) -> str:
    figures = story.figures
    number = figures.requests - figures.accepted
    if not number:
        return tag("h2", "Who was refused?") + card("", paragraph("Nobody."))
    rows = [_row(request, why) for request, why in story.refused[:REFUSED]]
    more = len(story.refused) - len(rows)
    rest = paragraph(f"and {more:,} more, each worth less", "soft") if more > 0 else ""
    return (
        tag("h2", "Who was refused, and why?")
        + card(f"{count(number, 'request')}: {figures.kinds}", table(WHY_HEADS, [why_cells(row) for row in figures.why]))
        + card("The most valuable first", table(REFUSED_HEADS, rows), rest)
    )


def _row(request: ClusterRequest, why: str) -> Sequence[Cell]:
    return (
        Cell(request.name),
        Cell(f"{len(request.members)}", len(request.members)),
        *(Cell(f"{moment:,.6g}", moment) for moment in (request.arrival, request.start, request.end)),
        Cell(score(request.value), request.value),
        Cell(why),
    )
