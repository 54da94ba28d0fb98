"""One HTML page about a fleet: what was gained, one row for each cluster, how the moves were divided."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bayplan.report.amounts import percent
from bayplan.report.fleet.tables import (
    ClusterRow,
    ClusterStatus,
    MoveDivision,
    division_sentences,
    fleet_gain,
    fleet_gains,
    fleet_local,
    fleet_sum,
    fleet_table,
)
from bayplan.report.markup import Tile, card, html_table, items, paragraph, tag, tiles
from bayplan.report.page import footer, header, page
from bayplan.report.svg import escaped
from bayplan.report.table import Cell, Table, TableColumn, count_cell, table
from bayplan.words import count

DIVIDED = (
    "Each cluster has a front: what it gains with few moves and with more. The moves of the fleet go where the concave envelopes "
    "of the fronts gain most for a move; violated rules, containers without a machine and load above safety come first."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetPageData:
    """What the page shows."""

    name: str
    headline: str
    rows: tuple[ClusterRow, ...]
    division: MoveDivision | None = None
    failures: tuple[str, ...] = ()
    pages: Mapping[str, str] = field(default_factory=dict)  # cluster -> address of its own page
    notes: tuple[str, ...] = ()
    made: Mapping[str, str] = field(default_factory=dict)


def fleet_page(data: FleetPageData) -> str:
    """The page."""
    bad = [row for row in data.rows if not row.status.has_plan]
    verdict = f"{count(len(bad), 'cluster')} without a plan" if bad else f"{count(len(data.rows), 'cluster')} planned"
    body = [
        header(data.name, verdict, not bad, data.headline),
        card("", items(fleet_gains(data.rows))),
        _tiles(data),
        tag("h2", "Clusters"),
        card("", html_table(fleet_table(data.rows)), _links(data.pages)),
        tag("h2", "Clusters without a plan") if data.failures else "",
        card("", items(data.failures)) if data.failures else "",
        tag("h2", "How the moves were divided") if data.division else "",
        _division(data.division, data.rows),
        tag("h2", "Plans in one sentence each"),
        card("", items(f"{row.name}: {row.headline}" for row in data.rows if row.status.has_plan)),
        footer(data.made, data.notes),
    ]
    return page(data.name, body)


def _tiles(data: FleetPageData) -> str:
    rows = data.rows
    moves, running = sum(row.moves for row in rows), sum(row.running for row in rows)
    before, after = fleet_local(rows, after=False), fleet_local(rows, after=True)
    hot = fleet_sum(rows, "hot", after=True)
    acting = sum(row.status is ClusterStatus.PLANNED for row in rows)
    numbers = [
        Tile("containers move", f"{moves:,}", f"{percent(moves / max(1, running))} of those that run"),
        Tile("clusters change", f"{acting:,}", f"of {len(rows):,}"),
        Tile("machines above safety", f"{hot:,}", f"{fleet_sum(rows, 'hot', after=False):,} before"),
        Tile("gain", percent(fleet_gain(rows)), "mean by the containers that run"),
    ]
    if before is not None and after is not None:
        numbers.append(Tile("traffic on one machine", percent(after), f"{percent(before)} before"))
    return tiles(numbers)


def _links(pages: Mapping[str, str]) -> str:
    """The clusters' own pages."""
    return tag("p", *(tag("a", escaped(name), href=address) + " " for name, address in pages.items())) if pages else ""


def _division(division: MoveDivision | None, rows: tuple[ClusterRow, ...]) -> str:
    if division is None:
        return ""
    return card("", paragraph(DIVIDED, "soft"), items(division_sentences(division, rows)), html_table(division_table(division)))


def division_table(division: MoveDivision) -> Table:
    """Moves of each cluster, beside those of the same share for each."""
    columns = (TableColumn("cluster"), TableColumn("moves", "number"), TableColumn("moves by the same share", "number"))
    rows = [(name, moves, division.even[name]) for name, moves in division.chosen.items()]
    return table(columns, [[Cell(name), count_cell(moves), count_cell(even)] for name, moves, even in rows])
