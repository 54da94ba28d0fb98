"""Tables, facts and sentences in a terminal: no frames, empty lines between parts, columns that give way where it is narrow."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from bayplan.report.names import printable
from bayplan.report.table import FOLDED, Cell, Facts, Part, Report, Sentence, Style, Table

BETWEEN = 2  # characters from one column to the next
STYLES: Mapping[Style, str] = {
    "": "",
    "good": "green",
    "bad": "bold red",
    "warn": "yellow",
    "soft": "dim",
    "strong": "bold",
}


def rendered(report: Report) -> list[RenderableType]:
    """What rich prints of a report: an empty line before each part, except between sentences."""
    parts: list[RenderableType] = []
    for before, part in zip((None, *report.parts), report.parts, strict=False):
        apart = before is not None and not (isinstance(before, Sentence) and isinstance(part, Sentence))
        parts.append(Padding(_part(part), (1, 0, 0, 0)) if apart else _part(part))
    return parts


def text_of(report: Report, *, width: int = 100) -> str:
    """A report as plain text."""
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        for part in rendered(report):
            console.print(part)
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def _part(part: Part) -> RenderableType:
    if isinstance(part, Table):
        return FittingTable(part)
    return _facts(part) if isinstance(part, Facts) else plain_text(part.text, STYLES[part.style])


def plain_text(content: object, style: str = "") -> Text:
    """Text as it is written, without markup and without control characters."""
    return Text(printable(content), style=style)


def _facts(facts: Facts) -> RichTable:
    grid = RichTable.grid(padding=(0, 2))
    grid.add_column()
    grid.add_column(overflow="fold")  # a long path is folded, never cut
    for name, value in facts.pairs:
        grid.add_row(plain_text(name, "dim"), plain_text(value))
    return grid


class FittingTable:
    """A table that leaves out columns, in the order they state, until it fits; then its text folds."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """What rich prints at this width."""
        table = fitting(self.table, options.max_width)
        yield _rich_table(table)
        if table.footer:
            yield plain_text(table.footer, "dim")


def fitting(table: Table, width: int) -> Table:
    """The table without the columns that have to give way in `width` characters."""
    droppable = sorted((column.drop, index) for index, column in enumerate(table.columns) if column.drop)
    gone: set[int] = set()
    needed = [_needed(table, index) for index in range(len(table.columns))]
    for _, index in droppable:
        if sum(characters + BETWEEN for k, characters in enumerate(needed) if k not in gone) <= width:
            break
        gone.add(index)
    kept = [index for index in range(len(table.columns)) if index not in gone]
    return replace(
        table,
        columns=tuple(table.columns[index] for index in kept),
        rows=tuple(tuple(row[index] for index in kept) for row in table.rows),
    )


def _needed(table: Table, index: int) -> int:
    """Characters that a column needs so that no number is cut and text is not folded too often."""
    column = table.columns[index]
    lines = [*_head(table, index).split("\n"), *(printable(row[index].text) for row in table.rows)]
    widest = max(map(cell_len, lines))
    return widest if column.numeric else min(widest, column.least)


def _head(table: Table, index: int) -> str:
    return table.columns[index].short or table.columns[index].name


def _rich_table(table: Table) -> RichTable:
    """No frame, two blanks between columns, so that ten columns fit a terminal of 80."""
    drawn = RichTable(
        box=box.SIMPLE_HEAD,
        title=plain_text(table.title, "bold") if table.title else None,
        title_justify="left",
        show_edge=False,
        padding=(0, 1, 0, 0),
    )
    for index, column in enumerate(table.columns):
        numeric = column.numeric
        least = None if numeric or column.least <= FOLDED else min(column.least, _needed(table, index))
        drawn.add_column(
            Text(_head(table, index)),
            justify="right" if numeric else "left",
            no_wrap=numeric,
            overflow="ellipsis" if numeric else "fold",
            min_width=least,
        )
    for row in table.rows:
        drawn.add_row(*map(_cell, row))
    return drawn


def _cell(cell: Cell) -> Text:
    return plain_text(cell.text, STYLES[cell.style])
