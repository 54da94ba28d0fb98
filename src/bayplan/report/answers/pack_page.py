"""One HTML page about a packing, for those who plan capacity."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bayplan.model import Placement, Result, Snapshot
from bayplan.report.amounts import odds, percent, scale_of
from bayplan.report.answers.pack_tables import (
    amount,
    bound_facts,
    capacity_facts,
    comparison_table,
    confidence,
    level_table,
    machine_table,
    overflow_facts,
    times,
)
from bayplan.report.markup import Tile, card, fact_list, first_items, html_table, items, paragraph, tag, tiles
from bayplan.report.names import name_of
from bayplan.report.page import figure, footer, header, page
from bayplan.report.pictures.ucac import CAPTION, UcacCurve, ucac_curves
from bayplan.report.table import facts
from bayplan.report.violations import SHOWN
from bayplan.score.packing import ConfidenceLevel, PackedMachine, PackFigures
from bayplan.words import count

UCAC = (
    "UCaC, used capacity at confidence: what a machine's usage does not exceed with the stated probability. Peaks of independent "
    "containers rarely meet, so on one machine they need less together than the sum of their own."
)
BUYS = (
    "The same containers, packed by the quick method bi-level at several confidences. The first line reserves everything that "
    "was promised; at a confidence of 99 %, a machine may overflow 1 % of the time."
)
WORST = (
    "The machines that are most likely to need more than they have. Predicted: usage is Gaussian. Simulated: usage is drawn for "
    "each container and cut at 0 and at its limit."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PackPageData:
    """What the page about a packing shows."""

    snapshot: Snapshot  # before
    after: Placement
    result: Result[Placement]
    figures: PackFigures  # after
    before: PackFigures | None  # None if nothing ran
    curves: Sequence[UcacCurve]
    levels: Sequence[ConfidenceLevel]
    machines: Sequence[PackedMachine]  # the most likely to overflow first


def pack_page(data: PackPageData, *, made: Mapping[str, str]) -> str:
    """The page. `made` says how it came about: {"command": ..., "version": ...}."""
    name, unplaced, result = name_of(data.snapshot.cluster), len(data.after.unplaced), data.result
    verdict, good = _verdict(data, unplaced), not (unplaced or result.still_violated)
    new = len(data.after.placed) - len(data.snapshot.placement.placed)
    body = [
        header(name, verdict, good, f"{scale_of(data.snapshot.cluster)}; {new:,} packed now"),
        _tiles(data),
        _left_out(data) if result.left_out or result.still_violated else "",
        tag("h2", "How full is each machine?"),
        figure(ucac_curves(data.curves, title=f"{name}: used capacity at {confidence(data.figures.alpha)}", words=CAPTION)),
        tag("h2", "What it takes"),
        card("", paragraph(UCAC, "soft"), _change(data)),
        tag("h2", "What over-commitment buys") if data.levels else "",
        card("", paragraph(BUYS, "soft"), html_table(level_table(data.levels, data.figures.resource))) if data.levels else "",
        tag("h2", "How often do machines overflow?"),
        card("", fact_list(facts(*overflow_facts(data.figures))), _machines(data)),
        footer(made, data.snapshot.notes),
    ]
    return page(name, body)


def _verdict(data: PackPageData, unplaced: int) -> str:
    if unplaced:
        return f"{count(unplaced, 'container')} left out"
    return data.result.still_violated[0] if data.result.still_violated else "every container has a machine"


def _tiles(data: PackPageData) -> str:
    figures, result = data.figures, data.result
    gap = "" if result.gap is None else f"at most {odds(result.gap)} above the least possible"
    gap_of_ucac = gap if result.goal == "ucac" else ""
    used = percent(figures.ucac / figures.capacity) if figures.capacity else "–"
    reserved = (
        f"the {figures.reserved_by} of what runs, against the capacity in use" if figures.reserved_by else "no limits stated"
    )
    return tiles(
        [
            Tile("machines", f"{figures.machines:,}", gap if result.goal == "machines" else f"of {_all(data):,}"),
            Tile("UCaC", amount(figures.ucac, figures.resource), ", ".join(filter(None, (figures.resource.unit, gap_of_ucac)))),
            Tile("capacity in use", used, f"at {confidence(figures.alpha)}, of the machines that run something"),
            Tile("over-commitment", times(figures.over_commitment), reserved),
            Tile("violations predicted", odds(figures.predicted.mean), f"{odds(1 - figures.alpha)} are allowed"),
            Tile("violations simulated", odds(figures.simulated.mean), f"{figures.draws:,} draws"),
        ]
    )


def _all(data: PackPageData) -> int:
    return len(data.snapshot.cluster.machines.name)


def _left_out(data: PackPageData) -> str:
    """What is violated, and what is left out."""
    violated, left_out = data.result.still_violated, data.result.left_out
    capital = [sentence[:1].upper() + sentence[1:] for sentence in violated]
    return tag("h2", "What is wrong") + card(
        "", items(capital) if capital else "", first_items(left_out, SHOWN, "workloads") if left_out else ""
    )


def _change(data: PackPageData) -> str:
    """What the packing takes, beside what ran before."""
    bound = [f"{name}: {value}; no packing of these containers takes less" for name, value in bound_facts(data.result)]
    if data.before is None:
        return items([*(f"{name}: {value}" for name, value in capacity_facts(data.figures)), *bound])
    return html_table(comparison_table(data.before, data.figures)) + (items(bound) if bound else "")


def _machines(data: PackPageData) -> str:
    if not data.machines:
        return ""
    return paragraph(WORST, "soft") + html_table(machine_table(data.machines, data.figures.resource))
