"""What every table for a terminal is made of: plain words, no frames, empty lines between."""

from collections.abc import Iterable

from rich import box
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bayplan.report.names import printable


def facts(pairs: Iterable[tuple[str, str]]) -> Table:
    """Names and values, one pair per line."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column()
    grid.add_column(overflow="fold")  # a long path is broken, never cut
    for name, value in pairs:
        grid.add_row(plain_text(name, "dim"), plain_text(value))
    return grid


def plain_table(*columns: str, title: str | None = None) -> Table:
    """An empty table: no frame, two blanks between columns, so that ten columns fit a terminal of 80."""
    empty = Table(
        box=box.SIMPLE_HEAD, title=title, title_justify="left", title_style="bold", show_edge=False, padding=(0, 1, 0, 0)
    )
    for name in columns:
        empty.add_column(name, overflow="fold")
    return empty


def plain_text(content: object, style: str = "") -> Text:
    """Text as it is written, without markup and without control characters."""
    return Text(printable(content), style=style)


def spaced(renderables: Iterable[RenderableType]) -> list[RenderableType]:
    """An empty line before each but the first."""
    first, *rest = renderables
    return [first, *(Padding(renderable, (1, 0, 0, 0)) for renderable in rest)]
