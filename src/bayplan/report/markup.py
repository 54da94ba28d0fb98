"""Pieces of HTML as strings: tables, tiles, lists, cards."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from bayplan.report.svg import element, escaped
from bayplan.report.table import Cell, Facts, Style, Table, TableColumn
from bayplan.words import and_more

CLASSES: Mapping[Style, str] = {"": "", "good": "better", "bad": "worse", "warn": "warn", "soft": "soft", "strong": "strong"}


class Tile(NamedTuple):
    """A big number: what it is, and a remark below it."""

    label: str
    number: str
    remark: str = ""
    style: Style = ""


def tag(name: str, *children: str, **attributes: object) -> str:
    """An element that is never written `<td/>`: HTML knows no such thing."""
    return element(name, *(children or ("",)), **attributes)


def html_table(table: Table) -> str:
    """A table that can be sorted by a click on a head, and its footer below."""
    head = [_head(column) for column in table.columns]
    rows = [tag("tr", *map(_cell, table.columns, row)) for row in table.rows]
    drawn = tag("div", tag("table", tag("thead", tag("tr", *head)), tag("tbody", *rows)), class_="scroll")
    return drawn + (paragraph(table.footer, "soft") if table.footer else "")


def tiles(numbers: Iterable[Tile]) -> str:
    """Big numbers side by side."""
    return tag("dl", *map(_tile, numbers), class_="tiles")


def _tile(tile: Tile) -> str:
    remark = tag("small", escaped(tile.remark), class_=CLASSES[tile.style] or None) if tile.remark else ""
    return tag("div", tag("dt", escaped(tile.label)), tag("dd", escaped(tile.number), remark), class_="tile")


def fact_list(facts: Facts) -> str:
    """'name: value', one line each."""
    return items(f"{name}: {value}" for name, value in facts.pairs) if facts.pairs else ""


def first_items(lines: Sequence[object], most: int, noun: str = "") -> str:
    """A list of the first sentences, and how many more there are."""
    more = and_more(len(lines) - most, noun)
    return items(map(str, lines[:most])) + (paragraph(more, "soft") if more else "")


def items(lines: Iterable[str]) -> str:
    """A list of sentences."""
    return tag("ul", *(tag("li", escaped(line)) for line in lines), class_="plain")


def card(title: str, *parts: str) -> str:
    """A box with a small heading."""
    return tag("div", tag("h3", escaped(title)) if title else "", *parts, class_="card")


def paragraph(words: str, class_: str | None = None) -> str:
    """A sentence or two."""
    return tag("p", escaped(words), class_=class_)


def _head(column: TableColumn) -> str:
    inside = tag("button", escaped(column.name), type="button") if column.name else ""
    return tag("th", inside, scope="col", class_="n" if column.numeric else None)


def _cell(column: TableColumn, cell: Cell) -> str:
    class_ = f"{'n' if column.numeric else ''} {CLASSES[cell.style]}".strip()
    return tag("td", escaped(cell.text), class_=class_ or None, data_v=_sort_key(cell.value))


def _sort_key(value: float | None) -> str | None:
    """As a script reads it; nothing for what is not known."""
    if value is None or math.isnan(value):
        return None
    return repr(float(value)) if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"
