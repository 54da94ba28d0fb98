"""An admission in a terminal."""

from rich.console import RenderableType

from bayplan.model import Acceptance, Result
from bayplan.report.admit_rows import WHY_HEADS, AdmitFigures, bound_words, use_words, value_words, why_cells
from bayplan.report.amounts import percent
from bayplan.report.broken import SHOWN
from bayplan.report.lines import facts, plain_table, plain_text, spaced
from bayplan.report.narrow import Narrowing


def admit_tables(result: Result[Acceptance], figures: AdmitFigures, *, seed: int) -> list[RenderableType]:
    """What `admit` prints: how it ended, what was accepted, by which prices, how full it was, why others were refused."""
    known = [
        ("method", figures.method),
        ("status", str(result.status)),
        ("seconds", f"{result.seconds:.2f}"),
        ("seed", f"{seed}"),
        ("accepted", f"{figures.accepted:,} of {figures.requests:,} requests, {percent(figures.winners)}"),
        ("value", value_words(result, figures)),
    ]
    if bound := bound_words(result, figures):
        known.append(("bound of value", bound))
    known += figures.parameters
    if figures.use:
        known.append(("use over time", use_words(figures.use)))
    if figures.skipped:
        known.append(("left out", f"{figures.skipped:,} more requests had faults"))
    parts: list[RenderableType] = [facts(known)]
    if figures.why:
        parts.append(_why(figures))
    return spaced(parts)


def _why(figures: AdmitFigures) -> Narrowing:
    table = plain_table(title=f"Refused: {figures.kinds}")
    first, *others = WHY_HEADS
    table.add_column(first, overflow="fold")
    for head in others:
        table.add_column(head, justify="right", no_wrap=True)
    for row in figures.why[:SHOWN]:
        table.add_row(*(plain_text(cell.text) for cell in why_cells(row)))
    if len(figures.why) > SHOWN:
        table.add_row(f"and {len(figures.why) - SHOWN:,} more kinds of reasons", "", "")
    return Narrowing(table, drop=("value",))
