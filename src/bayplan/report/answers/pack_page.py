"""One HTML page about a packing, for those who plan capacity."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bayplan.model import Placement, Reason, Result, Snapshot
from bayplan.report.amounts import count, odds, percent, scale_of
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
from bayplan.report.table import Facts
from bayplan.report.violations import SHOWN
from bayplan.score.packing import ConfidenceLevel, PackedMachine, PackFigures

UCAC = (
    "UCaC, used capacity at confidence: what a machine's usage does not exceed with the stated probability. Peaks of independent "
    "containers rarely meet, so on one machine they need less together than the sum of their own."
)
BUYS = (
    "The same containers, packed by the quick method bi-level at several confidences. The first line keeps all that was promised "
    "free at all times; at a confidence of 99 %, a machine may overflow 1 % of the time."
)
WORST = (
    "The machines that are most probable to use more than they have. Predicted: usage is Gaussian. Simulated: usage is drawn for "
    "each container and cut at 0 and at its limit."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PackStory:
    """What there is to tell about a packing."""

    snapshot: Snapshot  # before
    after: Placement
    result: Result[Placement]
    figures: PackFigures  # after
    before: PackFigures | None  # None if nothing ran
    curves: Sequence[UcacCurve]
    levels: Sequence[ConfidenceLevel]
    machines: Sequence[PackedMachine]  # the most probable to overflow first
    left_out: Sequence[Reason] = ()
    violated: Sequence[str] = ()  # confidences that do not hold, in words


def pack_page(story: PackStory, *, made: Mapping[str, str]) -> str:
    """The page. `made` says how it came about: {"command": ..., "version": ...}."""
    name, unplaced = name_of(story.snapshot.cluster), len(story.after.unplaced)
    verdict = _verdict(story, unplaced)
    new = len(story.after.placed) - len(story.snapshot.placement.placed)
    body = [
        header(name, verdict, not (unplaced or story.violated), f"{scale_of(story.snapshot.cluster)}; {new:,} packed now"),
        _tiles(story),
        _left_out(story) if story.left_out or story.violated else "",
        tag("h2", "How full is each machine?"),
        figure(ucac_curves(story.curves, title=f"{name}: used capacity at {confidence(story.figures.alpha)}", words=CAPTION)),
        tag("h2", "What it takes"),
        card("", paragraph(UCAC, "soft"), _change(story)),
        tag("h2", "What over-commitment buys") if story.levels else "",
        card("", paragraph(BUYS, "soft"), html_table(level_table(story.levels, story.figures.resource))) if story.levels else "",
        tag("h2", "How often do machines overflow?"),
        card("", fact_list(Facts(tuple(overflow_facts(story.figures)))), _machines(story)),
        footer(made, story.snapshot.notes),
    ]
    return page(name, body)


def _verdict(story: PackStory, unplaced: int) -> str:
    if unplaced:
        return f"{count(unplaced, 'container')} left out"
    return story.violated[0] if story.violated else "every container has a machine"


def _tiles(story: PackStory) -> str:
    figures, result = story.figures, story.result
    gap = "" if result.gap is None else f"at most {odds(result.gap)} above the least possible"
    gap_of_ucac = gap if result.goal == "ucac" else ""
    used = percent(figures.ucac / figures.capacity) if figures.capacity else "–"
    promise = (
        f"the {figures.reserved_by} of what runs, against the capacity in use" if figures.reserved_by else "no limits stated"
    )
    return tiles(
        [
            Tile("machines", f"{figures.machines:,}", gap if result.goal == "machines" else f"of {_all(story):,}"),
            Tile("UCaC", amount(figures.ucac, figures.resource), ", ".join(filter(None, (figures.resource.unit, gap_of_ucac)))),
            Tile("capacity in use", used, f"at {confidence(figures.alpha)}, of the machines that run something"),
            Tile("over-commitment", times(figures.over_commitment), promise),
            Tile("violations predicted", odds(figures.predicted.mean), f"{odds(1 - figures.alpha)} are allowed"),
            Tile("violations simulated", odds(figures.simulated.mean), f"{figures.draws:,} draws"),
        ]
    )


def _all(story: PackStory) -> int:
    return len(story.snapshot.cluster.machines.name)


def _left_out(story: PackStory) -> str:
    confidences = [sentence[:1].upper() + sentence[1:] for sentence in story.violated]
    return tag("h2", "What is wrong") + card(
        "", items(confidences) if confidences else "", first_items(story.left_out, SHOWN, "workloads") if story.left_out else ""
    )


def _change(story: PackStory) -> str:
    """What the packing takes, beside what ran before."""
    bound = [f"{name}: {value}; no packing of these containers takes less" for name, value in bound_facts(story.result)]
    if story.before is None:
        return items([*(f"{name}: {value}" for name, value in capacity_facts(story.figures)), *bound])
    return html_table(comparison_table(story.before, story.figures)) + (items(bound) if bound else "")


def _machines(story: PackStory) -> str:
    if not story.machines:
        return ""
    return paragraph(WORST, "soft") + html_table(machine_table(story.machines, story.figures.resource))
