"""One HTML page about an admission: what was accepted, what capacity cost, how full it was, what was refused and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bayplan.model import Acceptance, ClusterRequest, FloatArray, Resource, Result
from bayplan.report.amounts import human_amount, percent, score
from bayplan.report.answers.admit_tables import AdmitFigures, refusal_table, refused_table
from bayplan.report.markup import Tile, card, fact_list, html_table, paragraph, tag, tiles
from bayplan.report.page import figure, footer, header, page
from bayplan.report.pictures.over_time import ShareCurve, shares_over_time
from bayplan.report.pictures.prices import PriceBand, prices_over_time
from bayplan.report.table import facts
from bayplan.words import count

VALUE_UNIT = Resource(name="value")
REFUSED = 200  # requests in a table
USE = "The share of all zones together, and of all links together, that accepted requests take at each time."
VALUE = "How much value had arrived up to each time, and how much of it was accepted: what lies between was refused."
PRICES = (
    "A request is accepted if its value is above cost / alpha, or above its cost where no alpha is listed below. The cost is "
    "amount times price, summed over its slots, zones and links. Prices are lambda^(load / capacity) - 1, so they are near 0 "
    "while capacity is free, and near lambda when none is ([Online clusters] (8))."
)
NO_PRICES = "This method has no prices; the picture shows how full zones and links were."


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmitPageData:
    """What the page about a stream shows."""

    name: str
    result: Result[Acceptance]
    figures: AdmitFigures
    edge: FloatArray  # (piece + 1,) pieces of time
    bands: Sequence[PriceBand]  # levels of zones and links over time
    base: float  # lambda; 1 if nothing has a price
    use: Sequence[ShareCurve]
    value: Sequence[ShareCurve]
    refused: Sequence[tuple[ClusterRequest, str]]  # the most valuable first
    zones: int
    links: int
    notes: Sequence[str] = ()


def admit_page(data: AdmitPageData, *, made: Mapping[str, str]) -> str:
    """The page. `made` says how it came about: {"command": ..., "version": ...}."""
    figures = data.figures
    lead = f"{count(figures.requests, 'request')} for {count(data.zones, 'zone')} with {count(data.links, 'link')}"
    title = f"{data.name}: " + ("what capacity costs over time" if data.base > 1 else "how full zones and links are")
    body = [
        header(data.name, f"{percent(figures.accepted_share)} accepted", True, f"{lead}; decided by {figures.method}"),
        _tiles(data),
        tag("h2", "What does capacity cost?" if data.base > 1 else "Where is it full?"),
        figure(prices_over_time(data.bands, data.edge, base=data.base, title=title)),
        card("", paragraph(PRICES if data.base > 1 else NO_PRICES, "soft"), fact_list(facts(*figures.parameters))),
        tag("h2", "How full is it?"),
        figure(shares_over_time(data.use, data.edge, title="Use of zones and links", words=USE)),
        tag("h2", "How much value is accepted?"),
        figure(shares_over_time(data.value, data.edge, title="Value that arrived and value that was accepted", words=VALUE)),
        _refused(data),
        footer(made, data.notes),
    ]
    return page(data.name, body)


def _tiles(data: AdmitPageData) -> str:
    figures, result = data.figures, data.result
    value = result.score.get("value", 0.0)
    share = f"{score(value)}, {percent(value / figures.offered)} of what was offered" if figures.offered else ""
    numbers = [
        Tile("value accepted", human_amount(value, VALUE_UNIT), share),
        Tile("accepted", f"{figures.accepted:,}", f"{percent(figures.accepted_share)} of {count(figures.requests, 'request')}"),
    ]
    if result.bound is not None:
        ratio = "nothing was accepted" if figures.ratio is None else f"at most {figures.ratio:.4g} times what was accepted"
        numbers.append(Tile("best possible", f"≤ {human_amount(result.bound, VALUE_UNIT)}", f"proven; {ratio}"))
    used = [Tile(f"{name} in use", percent(mean), f"on average; at most {percent(peak)}") for name, mean, peak in figures.use]
    return tiles([*numbers, *used])


def _refused(data: AdmitPageData) -> str:
    figures = data.figures
    number = figures.requests - figures.accepted
    if not number:
        return tag("h2", "Refused") + card("", paragraph("Nothing: every request was accepted."))
    each = refused_table(data.refused)
    return (
        tag("h2", "Refused, and why")
        + card(f"{count(number, 'request')}: {figures.kinds}", html_table(refusal_table(figures)))
        + card(each.title, html_table(each.first(REFUSED, ", each worth less")))
    )
