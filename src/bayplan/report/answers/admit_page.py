"""One HTML page about an admission: what was accepted, what capacity cost, how full it was, what was refused and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bayplan.model import Acceptance, ClusterRequest, ClusterRequests, FloatArray, Resource, Result, Zones, floats
from bayplan.report.amounts import human_amount, percent, score
from bayplan.report.answers.admit_tables import AdmitFigures, refusal_table, refused_table
from bayplan.report.markup import Tile, card, fact_list, html_table, paragraph, tag, tiles
from bayplan.report.page import figure, footer, header, page
from bayplan.report.pictures.over_time import ShareCurve, shares_over_time
from bayplan.report.pictures.prices import PriceBand, PriceRow, level_of, most_expensive, prices_over_time
from bayplan.report.table import facts
from bayplan.score.admission_use import UseOverTime
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


class PriceArrays(Protocol):
    """Prices per slot, as `PriceHistory` of `decide.admit` has them."""

    @property
    def start(self) -> FloatArray:
        """(slot,) when each begins."""

    @property
    def zone(self) -> FloatArray:
        """(slot, zone, resource)"""

    @property
    def link(self) -> FloatArray:
        """(slot, zone, zone); NaN where there is no link."""


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


def admit_page_data(
    stream: ClusterRequests,
    result: Result[Acceptance],
    figures: AdmitFigures,
    use: UseOverTime,
    *,
    name: str,
    base: float = 1.0,
    history: PriceArrays | None = None,
    refused: Sequence[tuple[ClusterRequest, str]] = (),
    notes: Sequence[str] = (),
) -> AdmitPageData:
    """All that the page shows. `base`: lambda of the prices; `history`: the prices of every slot; None: there are none."""
    zones = stream.zones
    links = zones.bandwidth.copy()
    np.fill_diagonal(links, 0)
    return AdmitPageData(
        name=name,
        result=result,
        figures=figures,
        edge=use.edge,
        bands=_bands(zones, use, base, history),
        base=base,
        use=_use_curves(use),
        value=_value_curves(stream, result, use.edge),
        refused=refused,
        zones=len(zones.name),
        links=int((links > 0).sum()),
        notes=notes,
    )


def _use_curves(use: UseOverTime) -> list[ShareCurve]:
    names = [*(resource.name for resource in use.resources), "links"]
    return [
        ShareCurve(name=name, share=use.total[:, names.index(name)], note=f"{percent(mean)} on average")
        for name, mean, _ in use.totals()
    ]


def _bands(zones: Zones, use: UseOverTime, base: float, history: PriceArrays | None) -> list[PriceBand]:
    """The levels of prices, or of loads where nothing has a price: a band for each resource, and one for links."""
    zone, link = use.zone, use.link
    if history is not None and base > 1:
        zone, link = _levels(history, use.edge, base, (zone, link))
    bands = [
        most_expensive(resource.name, [PriceRow(name=name, level=zone[:, z, r]) for z, name in enumerate(zones.name)])
        for r, resource in enumerate(zones.resources)
    ]
    pairs = np.argwhere(np.isfinite(link).any(axis=0)).tolist()
    rows = [PriceRow(name=f"{zones.name[a]} → {zones.name[b]}", level=link[:, a, b]) for a, b in pairs]
    return [*bands, most_expensive("links", rows)]


def _levels(
    history: PriceArrays, edge: FloatArray, base: float, like: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """The highest price in each interval of time, as a level; 0 where nothing was booked, NaN where there is no capacity."""
    levels = []
    interval = np.searchsorted(edge, history.start, side="right") - 1
    inside = (interval >= 0) & (interval < len(edge) - 1)
    for price, shape in zip((history.zone, history.link), like, strict=True):
        top = np.zeros(shape.shape)
        np.maximum.at(top, interval[inside], np.nan_to_num(price[inside]))
        levels.append(floats(np.where(np.isnan(shape), np.nan, level_of(top, base))))
    return levels[0], levels[1]


def _value_curves(stream: ClusterRequests, result: Result[Acceptance], edge: FloatArray) -> list[ShareCurve]:
    """The value that has arrived, and that was accepted, up to each time, as shares of all value."""
    requests = stream.requests
    value = np.array([request.value for request in requests])
    interval = np.clip(np.searchsorted(edge, [request.arrival for request in requests], side="right") - 1, 0, len(edge) - 2)
    accepted = np.zeros(len(requests), dtype=np.bool_)
    if result.solution is not None:
        accepted[result.solution.accepted] = True
    total = value.sum() or 1.0
    curves = []
    for name, chosen in (("arrived", np.ones(len(requests), dtype=np.bool_)), ("accepted", accepted)):
        sums = np.bincount(interval[chosen], weights=value[chosen], minlength=len(edge) - 1)
        curves.append(ShareCurve(name=name, share=floats(np.cumsum(sums) / total), note=score(float(value[chosen].sum()))))
    return curves
