"""Tables for narrow terminals: columns are left out one by one, numbers are never cut."""

from collections.abc import Iterator, Sequence
from copy import copy

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.table import Column, Table
from rich.text import Text

FOLDED = 12  # characters that a column of words needs at least, unless it says otherwise by `min_width`

BETWEEN = 2  # from one column to the next


class Narrowing:
    """A table that leaves out the columns `drop`, in this order, until it fits; the rest of the words fold."""

    def __init__(self, table: Table, drop: Sequence[str]) -> None:
        self.table, self.drop = table, drop

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table]:
        """What rich prints at this width."""
        table = self.table
        for name in self.drop:
            if width_needed(table) <= options.max_width:
                break
            table = without(table, name)
        yield table


def width_needed(table: Table) -> int:
    """Characters that the table needs so that no number is cut and no word is folded too often."""
    return sum(_needs(column) + BETWEEN for column in table.columns)


def without(table: Table, header: str) -> Table:
    """The table without the columns that have this header."""
    fewer = copy(table)
    fewer.columns = [column for column in table.columns if str(column.header) != header]
    return fewer


def _needs(column: Column) -> int:
    cells = [column.header, *column.cells]
    widest = max(cell_len(line) for cell in cells for line in _plain(cell).split("\n"))
    return widest if column.no_wrap else min(widest, column.min_width or FOLDED)


def _plain(cell: object) -> str:
    return cell.plain if isinstance(cell, Text) else str(cell)
