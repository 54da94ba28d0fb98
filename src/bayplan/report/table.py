"""What an answer shows, as values: tables, facts and sentences, made once and rendered to a terminal, to HTML and to JSON.

`terminal.py`, `markup.py` and `json.py` each have one function for each of them, so that all three say the same.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from bayplan.report.amounts import percent, score, seconds
from bayplan.words import and_more

Style: TypeAlias = Literal["", "good", "bad", "warn", "soft", "strong"]
Kind: TypeAlias = Literal["text", "number", "share", "duration"]

UNKNOWN = "–"
FOLDED = 12  # characters that a column of text needs at least, unless it says otherwise


@dataclass(frozen=True, slots=True)
class Cell:
    """One place of a table."""

    text: str
    value: float | None = None  # the number behind the text: sorts a column, and is what JSON says; None of text or if unknown
    style: Style = ""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """The head of a column, its kind, and how it gives way where a terminal is narrow."""

    name: str
    kind: Kind = "text"  # text is set to the left and folds; numbers are set to the right and are never cut
    short: str = ""  # the head in a terminal, with line breaks; the name if empty
    drop: int = 0  # where a terminal is too narrow, 1 is left out first, then 2, ...; 0 never
    least: int = FOLDED  # characters that a column of text needs
    key: str = ""  # in JSON; made of the name if empty

    @property
    def numeric(self) -> bool:
        """Is it set to the right, and sorted by value?"""
        return self.kind != "text"

    @property
    def json_key(self) -> str:
        """'share_of_value' of 'share of value'."""
        return self.key or re.sub(r"\W+", "_", self.name.casefold()).strip("_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows of cells below named columns."""

    columns: tuple[TableColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""
    footer: str = ""  # 'and 5 more'

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"table '{self.title}' has a row that has not {len(self.columns)} cells")

    def first(self, most: int, noun: str = "") -> "Table":
        """Its first `most` rows, and how many more there are."""
        return replace(self, rows=self.rows[:most], footer=and_more(len(self.rows) - most, noun))


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and values, one pair per line."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A line of words."""

    text: str
    style: Style = ""


Part: TypeAlias = Sentence | Facts | Table


@dataclass(frozen=True, slots=True)
class Report:
    """All that an answer shows, from top to bottom. Empty facts and tables without rows are left out."""

    parts: tuple[Part, ...]

    def __add__(self, other: "Report") -> "Report":
        return Report((*self.parts, *other.parts))


def report(*parts: Part) -> Report:
    """A report of these parts, without those that say nothing."""
    return Report(tuple(part for part in parts if _says_something(part)))


def _says_something(part: Part) -> bool:
    if isinstance(part, Table):
        return bool(part.rows)
    return bool(part.pairs if isinstance(part, Facts) else part.text)


def facts(*pairs: tuple[str, str]) -> Facts:
    """Names and values; pairs without a value are left out."""
    return Facts(tuple(pair for pair in pairs if pair[1]))


def table(columns: Iterable[TableColumn], rows: Iterable[Iterable[Cell]], *, title: str = "") -> Table:
    """A table of whatever gives its columns and rows."""
    return Table(columns=tuple(columns), rows=tuple(tuple(row) for row in rows), title=title)


def sentences(lines: Iterable[object], most: int, noun: str = "", style: Style = "") -> tuple[Sentence, ...]:
    """The first lines, and how many more there are."""
    every = tuple(Sentence(str(line), style) for line in lines)
    more = and_more(len(every) - most, noun)
    return (*every[:most], *([Sentence(more, "soft")] if more else []))


def count_cell(number: int, style: Style = "") -> Cell:
    """'5,284'."""
    return Cell(f"{number:,}", number, style)


def share_cell(share: float | None, style: Style = "") -> Cell:
    """'83 %'; a dash for none."""
    return Cell(UNKNOWN) if share is None else Cell(percent(share), share, style)


def score_cell(value: float | None, style: Style = "") -> Cell:
    """'0.06995'; a dash for none."""
    return Cell(UNKNOWN) if value is None else Cell(score(value), value, style)


def duration_cell(span: float) -> Cell:
    """'3 min 20 s'."""
    return Cell(seconds(span), span)
