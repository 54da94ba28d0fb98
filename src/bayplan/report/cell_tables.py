"""Tables in a terminal: rows of cells that give way where it is narrow, and lists of reasons."""

from collections.abc import Sequence

from rich.table import Table

from bayplan.model import Reason
from bayplan.report.broken import SHOWN
from bayplan.report.lines import plain_table, plain_text
from bayplan.report.markup import Cell
from bayplan.report.narrow import Narrowing


def cell_table(rows: Sequence[Sequence[Cell]], heads: Sequence[str], *, title: str, drop: Sequence[str]) -> Narrowing:
    """A column of names, the others to the right; columns of `drop` are left out first."""
    table = plain_table(title=title)
    first, *others = heads
    table.add_column(first, overflow="fold")
    for head in others:
        table.add_column(head, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*(plain_text(cell.text) for cell in row))
    return Narrowing(table, drop=drop)


def reason_table(reasons: Sequence[Reason], subject: str, *, title: str) -> Table:
    """The first reasons, and how many more there are."""
    table = plain_table(subject, "why", title=title)
    for reason in reasons[:SHOWN]:
        table.add_row(plain_text(reason.subject), plain_text(reason.text))
    if len(reasons) > SHOWN:
        table.add_row(f"and {len(reasons) - SHOWN:,} more", "")
    return table
