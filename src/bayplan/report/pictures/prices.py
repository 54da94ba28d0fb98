"""What each zone and link costs over time ([Online clusters] (8)): one row each, coloured by price."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayplan.model import FloatArray
from bayplan.report import svg
from bayplan.report.amounts import percent, score
from bayplan.report.names import told_apart
from bayplan.report.pictures.axis import Axis, number_marks
from bayplan.report.pictures.colours import CLASSES, NONE
from bayplan.report.pictures.frame import caption
from bayplan.report.svg import characters_in, element, escaped, rect, text

LEFT, RIGHT, ROW, HEAD = 150.0, 96.0, 17.0, 30.0
STEPS = 10
MOST_ROWS = 12  # of a band: the most expensive ones

PRICED = (
    "Each row is a zone or a link, time goes from left to right. The darker, the more expensive: a price grows with the load, "
    "slowly while capacity is free and steeply towards the end. The number at the right is the highest price."
)
FULL = (
    "Each row is a zone or a link, time goes from left to right. The darker, the fuller. The number at the right is the highest "
    "share in use."
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PriceRow:
    """One zone or link."""

    name: str
    level: FloatArray  # (piece,) 0 is empty and free, 1 is full; not a number where there is nothing to buy


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PriceBand:
    """Rows of one kind: 'cpu', 'links'."""

    name: str
    rows: Sequence[PriceRow]
    more: int = 0  # rows that are not drawn


def level_of(price: FloatArray, base: float) -> FloatArray:
    """The load at which (8) gives this price: log(1 + p) / log(lambda)."""
    return np.asarray(np.log1p(price) / math.log(base), dtype=np.float64)


def most_expensive(name: str, rows: Sequence[PriceRow]) -> PriceBand:
    """The rows that reached the highest level, as many as are drawn, in the order given."""
    peak = [np.nan_to_num(row.level).max(initial=0.0) for row in rows]
    order = sorted(range(len(rows)), key=lambda k: -peak[k])[:MOST_ROWS]
    return PriceBand(name=name, rows=[rows[k] for k in sorted(order)], more=max(0, len(rows) - MOST_ROWS))


def prices_over_time(bands: Sequence[PriceBand], edge: FloatArray, *, base: float, title: str, width: int = 1120) -> str:
    """All bands above one another, as an SVG document. `base` is lambda; 1 where nothing has a price: then it shows shares."""
    words = PRICED if base > 1 else FULL
    head, y = caption(title, words, width)
    parts = [head, _legend(base, width, y + 4)]
    y += 40.0
    axis = Axis(left=LEFT, right=width - RIGHT, low=float(edge[0]), high=float(edge[-1]))
    for band in bands:
        if band.rows:
            drawn, y = _band(band, edge, base, axis, y)
            parts.append(drawn)
    parts.append(number_marks(axis, y + 4, "time"))
    return svg.document(width, y + 44, title, words, "".join(parts))


def _band(band: PriceBand, edge: FloatArray, base: float, axis: Axis, y: float) -> tuple[str, float]:
    note = f"the {len(band.rows)} most expensive of {len(band.rows) + band.more:,}" if band.more else ""
    parts = [text(LEFT, y + 16, band.name, "strong"), text(LEFT + 8 + svg.width_of(band.name, 14.5), y + 16, note, "soft small")]
    names = told_apart([row.name for row in band.rows], characters_in(LEFT - 20, 11))
    for k, (row, name) in enumerate(zip(band.rows, names, strict=True)):
        top = y + HEAD - 6 + k * ROW
        highest = float(np.nanmax(row.level)) if np.isfinite(row.level).any() else math.nan
        parts.append(text(LEFT - 8, top + ROW - 5, name, "small end"))
        parts.append(_cells(row, edge, base, axis, top))
        parts.append(text(axis.right + 8, top + ROW - 5, _words(highest, base), "soft small"))
    return "".join(parts), y + HEAD + len(band.rows) * ROW


def _cells(row: PriceRow, edge: FloatArray, base: float, axis: Axis, top: float) -> str:
    """One rectangle for each run of pieces of one colour, with its prices as a tooltip."""
    step = steps_of(row.level)
    begins = np.flatnonzero(np.diff(step, prepend=-1))
    ends = np.append(begins[1:], len(step))
    parts = []
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        x, right = axis.x(float(edge[begin])), axis.x(float(edge[end]))
        part = row.level[begin:end]
        words = f"{row.name}\n({edge[begin]:g}, {edge[end]:g}]: {_range(part, base)}"
        parts.append(rect(x, top, right - x, ROW - 2, CLASSES[int(step[begin])], words))
    return "".join(parts)


def steps_of(level: FloatArray) -> FloatArray:
    """(piece,) which of the ten colours; `NONE` where there is nothing."""
    known = np.clip(np.nan_to_num(level) * STEPS, 0, STEPS - 1).astype(np.int64)
    return np.where(np.isnan(level), NONE, known)


def _range(level: FloatArray, base: float) -> str:
    if np.isnan(level).any():
        return "nothing there"
    low, high = _words(float(level.min()), base), _words(float(level.max()), base)
    return low if low == high else f"{low} to {high}"


def _words(level: float, base: float) -> str:
    """A price, or a share where nothing has a price."""
    if math.isnan(level):
        return "–"
    if base <= 1:
        return percent(level)
    price = base**level - 1
    return f"{price:.3g}" if price < 1000 else score(round(price))


def _legend(base: float, width: float, top: float) -> str:
    """Ten colours, and what they stand for below."""
    wide, left = 44.0, LEFT
    parts = [text(left - 8, top + 10, "price" if base > 1 else "in use", "soft small end")]
    for step in range(STEPS):
        words = f"{_words(step / STEPS, base)} to {_words((step + 1) / STEPS, base)}"
        cell = rect(left + step * wide, top, wide, 11, CLASSES[step])
        parts.append(element("g", element("title", escaped(words)), cell))
    parts += [text(left + step * wide, top + 24, _words(step / STEPS, base), "soft small mid") for step in range(0, STEPS + 1, 2)]
    return "".join(parts)
