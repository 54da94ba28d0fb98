"""A packing in a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import RenderableType

from bayplan.model import Reason, Resource, Result
from bayplan.report.cell_tables import cell_table, reason_table
from bayplan.report.lines import facts, spaced
from bayplan.report.markup import Cell
from bayplan.report.narrow import Narrowing
from bayplan.report.pack_rows import (
    LEVEL_HEADS,
    Figures,
    LevelRow,
    bound_lines,
    capacity_lines,
    confidence,
    level_cells,
    odds,
    violation_lines,
)

BUYS = "What over-commitment buys"


def pack_tables(
    result: Result[Any], figures: Figures, levels: Sequence[LevelRow], *, method: str, counts: Mapping[str, int]
) -> list[RenderableType]:
    """What `pack` prints: how it ended, what it takes, how often machines overflow, what confidence costs, what is left out."""
    known = [("method", method), ("status", str(result.status)), ("seconds", f"{result.seconds:.2f}")]
    known += [(name, f"{value:,}") for name, value in counts.items()]
    known += [*capacity_lines(figures), *bound_lines(result), *violation_lines(figures)]
    parts: list[RenderableType] = [facts(known)]
    if levels:
        parts.append(level_table(levels, figures.resource))
    if result.left_out:
        parts.append(_left_out(result.left_out))
    return spaced(parts)


def level_table(levels: Sequence[LevelRow], resource: Resource) -> Narrowing:
    """One line per confidence."""
    return cell_table([level_cells(row, resource) for row in levels], LEVEL_HEADS, title=BUYS, drop=("left out",))


def needed_tables(answer: Mapping[str, Any]) -> list[RenderableType]:
    """What `pack --machines-needed` prints, from the object that it says as JSON."""
    gap = "" if answer["gap"] is None else f", gap {odds(answer['gap'])}"
    known = [
        ("machines needed", f"{answer['machines']:,}"),
        ("proven bound", "none" if answer["bound"] is None else f"at least {answer['bound']:,.0f}{gap}"),
        ("confidence", f"{confidence(answer['confidence'])} that a machine's {answer['resource']} suffices"),
        ("status", answer["status"]),
        ("seconds", f"{answer['seconds']:.2f}"),
    ]
    rows = [(Cell(row["type"]), *(Cell(f"{row[name]:,}") for name in ("machines", "there"))) for row in answer["by_type"]]
    parts: list[RenderableType] = [
        facts(known),
        cell_table(rows, ("type of machine", "needed", "there are"), title="By type", drop=()),
    ]
    out = [Reason(entry["name"], entry["reason"]) for entry in answer["left_out"]]
    return spaced([*parts, *([_left_out(out)] if out else [])])


def _left_out(reasons: Sequence[Reason]) -> RenderableType:
    return reason_table(reasons, "workload", title=f"Left out: {len(reasons):,}")
