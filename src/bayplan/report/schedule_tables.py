"""A schedule, and a sweep over the number of machines, in a terminal."""

from collections.abc import Sequence
from typing import Any

from rich.console import RenderableType

from bayplan.model import Result
from bayplan.report.cell_tables import cell_table, reason_table
from bayplan.report.lines import facts, plain_text, spaced
from bayplan.report.schedule_rows import (
    CLASS_HEADS,
    KIND_HEADS,
    SWEEP_HEADS,
    ScheduleFigures,
    Smallest,
    SweepPoint,
    class_cells,
    kind_cells,
    schedule_lines,
    slopes,
    smallest_line,
    sweep_cells,
)

MOST_CLASSES = 20  # lines of a table


def schedule_tables(result: Result[Any], figures: ScheduleFigures, *, method: str, seed: int) -> list[RenderableType]:
    """What `schedule` prints: how it ended, what it is worth, which classes are served where, and why others are not."""
    known = [("method", method), ("status", str(result.status)), ("seconds", f"{result.seconds:.2f}"), ("seed", f"{seed}")]
    parts: list[RenderableType] = [facts([*known, *schedule_lines(figures, result)])]
    if figures.classes:
        rows = [class_cells(row) for row in figures.classes[:MOST_CLASSES]]
        parts.append(cell_table(rows, CLASS_HEADS, title="By class", drop=("value asked for", "share of value")))
        if len(figures.classes) > MOST_CLASSES:
            parts.append(plain_text(f"and {len(figures.classes) - MOST_CLASSES:,} more classes"))
    if len(figures.kinds) > 1:
        parts.append(cell_table([kind_cells(row) for row in figures.kinds], KIND_HEADS, title="By kind of machine", drop=()))
    if result.left_out:
        parts.append(reason_table(result.left_out, "request", title="Not served"))
    return spaced(parts)


def sweep_tables(points: Sequence[SweepPoint], smallest: Smallest | None, *, method: str, requests: int) -> list[RenderableType]:
    """What `schedule --sweep` prints."""
    known = [("method", method), ("requests", f"{requests:,}")]
    known += [] if smallest is None else [("fewest machines", smallest_line(smallest))]
    rows = [sweep_cells(point, slope, requests) for point, slope in zip(points, slopes(points), strict=True)]
    table = cell_table(rows, SWEEP_HEADS, title="By number of machines", drop=("served", "the bound gains at most", "gap"))
    return spaced([facts(known), table])
