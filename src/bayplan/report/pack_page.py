"""One HTML page about a packing, for those who plan capacity."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bayplan.model import Placement, Reason, Result, Snapshot
from bayplan.report.amounts import count, percent, scale_of
from bayplan.report.broken import SHOWN
from bayplan.report.markup import Cell, card, items, paragraph, table, tag, tiles
from bayplan.report.names import name_of
from bayplan.report.pack_rows import (
    LEVEL_HEADS,
    MACHINE_HEADS,
    Figures,
    LevelRow,
    MachineRow,
    amount,
    bound_lines,
    capacity_lines,
    confidence,
    level_cells,
    machine_cells,
    odds,
    times,
    violation_lines,
    with_unit,
)
from bayplan.report.page import figure, footer, header, page
from bayplan.report.pictures.ucac import CAPTION, Curve, ucac_curves

UCAC = (
    "UCaC, used capacity at confidence: what a machine's usage does not exceed with the stated probability. Peaks of independent "
    "containers rarely meet, so on one machine they need less together than the sum of their own."
)
BUYS = (
    "The same containers, packed by the quick method bi-level at several confidences. The first line keeps all that was promised "
    "free at all times; at a confidence of 99 %, a machine may overflow in 1 % of the time."
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
    figures: Figures  # after
    before: Figures | None  # None if nothing ran
    curves: Sequence[Curve]
    levels: Sequence[LevelRow]
    machines: Sequence[MachineRow]  # the most probable to overflow first
    left_out: Sequence[Reason] = ()
    broken: Sequence[str] = ()


def pack_page(story: PackStory, *, made: Mapping[str, str]) -> str:
    """The page. `made` says how it came about: {"command": ..., "version": ...}."""
    name, waiting = name_of(story.snapshot.cluster), len(story.after.unplaced)
    verdict = _verdict(story, waiting)
    new = len(story.after.placed) - len(story.snapshot.placement.placed)
    body = [
        header(name, verdict, not (waiting or story.broken), f"{scale_of(story.snapshot.cluster)}; {new:,} packed now"),
        _tiles(story),
        _left_out(story) if story.left_out or story.broken else "",
        tag("h2", "How full is each machine?"),
        figure(ucac_curves(story.curves, title=f"{name}: used capacity at {confidence(story.figures.alpha)}", words=CAPTION)),
        tag("h2", "What it takes"),
        card("", paragraph(UCAC, "soft"), _change(story)),
        tag("h2", "What over-commitment buys") if story.levels else "",
        card("", paragraph(BUYS, "soft"), _levels(story)) if story.levels else "",
        tag("h2", "How often do machines overflow?"),
        card("", items(f"{name}: {value}" for name, value in violation_lines(story.figures)), _machines(story)),
        footer(made, story.snapshot.notes),
    ]
    return page(name, body)


def _verdict(story: PackStory, waiting: int) -> str:
    if waiting:
        return f"{count(waiting, 'container')} left out"
    return f"confidence {story.broken[0]}" if story.broken else "every container has a machine"


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
            ("machines", f"{figures.machines:,}", gap if result.goal == "machines" else f"of {_all(story):,}"),
            (
                "UCaC",
                amount(figures.ucac, figures.resource),
                ", ".join(part for part in (figures.resource.unit, gap_of_ucac) if part),
            ),
            ("capacity in use", used, f"at {confidence(figures.alpha)}, of the machines that run something"),
            ("over-commitment", times(figures.over_commitment), promise),
            ("violations predicted", odds(figures.predicted.mean), f"{odds(1 - figures.alpha)} are allowed"),
            ("violations simulated", odds(figures.simulated.mean), f"{figures.draws:,} draws"),
        ]
    )


def _all(story: PackStory) -> int:
    return len(story.snapshot.cluster.machines.name)


def _left_out(story: PackStory) -> str:
    lines = [*(f"The confidence is {text}" for text in story.broken), *map(str, story.left_out[:SHOWN])]
    more = len(story.left_out) - SHOWN
    return tag("h2", "What is wrong") + card(
        "", items(lines), paragraph(f"and {more:,} more workloads", "soft") if more > 0 else ""
    )


def _change(story: PackStory) -> str:
    """What the packing takes, beside what ran before."""
    bound = [f"{name}: {value}; no packing of these containers takes less" for name, value in bound_lines(story.result)]
    if story.before is None:
        return items([*(f"{name}: {value}" for name, value in capacity_lines(story.figures)), *bound])
    rows = [_compared(name, story.before, story.figures, *of) for name, of in _COMPARED.items()]
    return table(("", "before", "after"), rows) + (items(bound) if bound else "")


_COMPARED: Mapping[str, tuple[str, bool]] = {  # field of Figures, is it an amount?
    "containers": ("containers", False),
    "machines": ("machines", False),
    "capacity of these machines": ("capacity", True),
    "UCaC": ("ucac", True),
    "mean usage": ("mean", True),
    "promised": ("reserved", True),
    "over-commitment": ("over_commitment", False),
}


def _compared(name: str, before: Figures, after: Figures, field: str, is_amount: bool) -> Sequence[Cell]:
    def cell(figures: Figures) -> Cell:
        value = getattr(figures, field)
        if value is None:
            return Cell("–", float("nan"))
        if is_amount:
            return Cell(with_unit(value, figures.resource), value)
        return Cell(f"{value:,}" if isinstance(value, int) else times(value), float(value))

    promise = f" ({after.reserved_by})" if field == "reserved" and after.reserved_by else ""
    return (Cell(f"{name}{promise}"), cell(before), cell(after))


def _levels(story: PackStory) -> str:
    return table(LEVEL_HEADS, [level_cells(row, story.figures.resource) for row in story.levels])


def _machines(story: PackStory) -> str:
    if not story.machines:
        return ""
    return paragraph(WORST, "soft") + table(MACHINE_HEADS, [machine_cells(row, story.figures.resource) for row in story.machines])
