"""A report as a small piece of HTML for a notebook: no script, no style sheet, readable on a light and on a dark background."""

from collections.abc import Mapping

from bayplan.report.markup import tag
from bayplan.report.svg import escaped
from bayplan.report.table import Cell, Facts, Part, Report, Sentence, Style, Table, TableColumn

ROWS = 20  # of each table
COLOURS: Mapping[Style, str] = {  # between light and dark, so that they can be read on both
    "": "",
    "good": "color:#2e9e5b",
    "bad": "color:#e0483e;font-weight:600",
    "warn": "color:#c77700",
    "soft": "opacity:.65",
    "strong": "font-weight:600",
}
_BOX = "font:13px/1.5 system-ui,sans-serif;font-variant-numeric:tabular-nums;color:inherit"
_TABLE = "color:inherit;font:inherit;border-collapse:collapse;margin:4px 0 10px"
_EDGE = "border-bottom:1px solid rgba(128,128,128,.35)"
_CELL = "padding:2px 14px 2px 0;vertical-align:top"


def fragment(report: Report, *, headline: str = "", rows: int = ROWS) -> str:
    """What `_repr_html_` gives: a headline, then the parts of the report, the first `rows` rows of each table."""
    head = [_line(Sentence(headline, "strong"), "font-size:15px")] if headline else []
    return tag("div", *head, *(_part(part, rows) for part in report.parts), class_="bayplan-answer", style=_BOX)


def _part(part: Part, rows: int) -> str:
    if isinstance(part, Table):
        return _table(part if part.footer and len(part.rows) <= rows else part.first(rows))
    return _facts(part) if isinstance(part, Facts) else _line(part)


def _line(sentence: Sentence, more: str = "") -> str:
    return tag("div", escaped(sentence.text), style=_joined(COLOURS[sentence.style], more))


def _facts(facts: Facts) -> str:
    name = Cell("", style="soft")
    lines = (tag("tr", _cell("td", label, name), _cell("td", value, Cell(""))) for label, value in facts.pairs)
    return tag("table", tag("tbody", *lines), style=_TABLE)


def _table(table: Table) -> str:
    heads = (_cell("th", column.name, Cell("", style="soft"), column, edge=True) for column in table.columns)
    lines = (tag("tr", *(_cell("td", c.text, c, k) for k, c in zip(table.columns, row, strict=True))) for row in table.rows)
    title = _line(Sentence(table.title, "strong")) if table.title else ""
    footer = _line(Sentence(table.footer, "soft")) if table.footer else ""
    drawn = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *lines), style=_TABLE)
    return title + tag("div", drawn, style="overflow-x:auto") + footer


def _cell(name: str, text: str, cell: Cell, column: TableColumn | None = None, *, edge: bool = False) -> str:
    side = "text-align:right;white-space:nowrap" if column is not None and column.numeric else "text-align:left"
    return tag(name, escaped(text), style=_joined(_CELL, side, COLOURS[cell.style], _EDGE if edge else ""))


def _joined(*styles: str) -> str | None:
    return ";".join(filter(None, styles)) or None
