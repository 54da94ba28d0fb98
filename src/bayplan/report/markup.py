"""Pieces of HTML as strings: tables, tiles, lists, cards."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bayplan.report.svg import element, escaped


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a table: its text, the number to sort by, and how it looks."""

    text: str
    value: float | None = None
    class_: str = ""


def tag(name: str, *children: str, **attributes: object) -> str:
    """An element that is never written `<td/>`: HTML knows no such thing."""
    return element(name, *(children or ("",)), **attributes)


def table(heads: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """A table that can be sorted; a column is of numbers if its first cell is one."""
    body = list(rows)
    numeric = [cell.value is not None for cell in body[0]] if body else [False] * len(heads)
    head = [_head(name, number) for name, number in zip(heads, numeric, strict=True)]
    lines = [tag("tr", *map(_cell, row)) for row in body]
    return tag("div", tag("table", tag("thead", tag("tr", *head)), tag("tbody", *lines)), class_="scroll")


def tiles(facts: Iterable[tuple[str, ...]]) -> str:
    """Big numbers: (what, number, remark) and, if it has one, the class of the remark."""
    parts = [
        tag(
            "div",
            tag("dt", escaped(what)),
            tag("dd", escaped(big), tag("small", escaped(remark), class_=" ".join(class_) or None) if remark else ""),
            class_="tile",
        )
        for what, big, remark, *class_ in facts
    ]
    return tag("dl", *parts, class_="tiles")


def items(lines: Iterable[str]) -> str:
    """A list of sentences."""
    return tag("ul", *(tag("li", escaped(line)) for line in lines), class_="plain")


def card(title: str, *parts: str) -> str:
    """A box with a small heading."""
    return tag("div", tag("h3", escaped(title)) if title else "", *parts, class_="card")


def paragraph(words: str, class_: str | None = None) -> str:
    """A sentence or two."""
    return tag("p", escaped(words), class_=class_)


def _head(name: str, number: bool) -> str:
    inside = tag("button", escaped(name), type="button") if name else ""
    return tag("th", inside, scope="col", class_="n" if number else None)


def _sort_key(value: float | None) -> str | None:
    """As a script reads it; nothing for what is not known."""
    if value is None or math.isnan(value):
        return None
    return repr(float(value)) if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"


def _cell(cell: Cell) -> str:
    class_ = f"n {cell.class_}".strip() if cell.value is not None else cell.class_
    return tag(
        "td",
        escaped(cell.text),
        class_=class_ or None,
        data_v=_sort_key(cell.value),
    )
