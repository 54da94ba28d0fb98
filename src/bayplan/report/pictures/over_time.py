"""Shares over time: one line each."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayplan.model import FloatArray
from bayplan.report import svg
from bayplan.report.amounts import percent
from bayplan.report.pictures.axis import Axis, number_marks
from bayplan.report.pictures.frame import LEFT, RIGHT, Frame, caption, grid
from bayplan.report.svg import element, escaped, line, number, text, width_of

TALL = 210.0
LINES = 8  # kinds of lines in picture.css


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShareCurve:
    """One share over time."""

    name: str
    share: FloatArray  # (piece,)
    note: str = ""


def shares_over_time(lines: Sequence[ShareCurve], edge: FloatArray, *, title: str, words: str, width: int = 1120) -> str:
    """Stairs, one for each line, from 0 to at least 100 %, as an SVG document."""
    head, y = caption(title, words, width)
    key, top = _legend(lines, y + 6, width - LEFT - 24)
    most = max(1.0, *(float(np.nan_to_num(one.share).max(initial=0.0)) for one in lines)) if lines else 1.0
    frame = Frame(left=LEFT, right=width - RIGHT, top=top + 12, bottom=top + 12 + TALL, most=most * 1.04)
    axis = Axis(left=frame.left, right=frame.right, low=float(edge[0]), high=float(edge[-1]))
    body = [head, key, grid(frame), *(_line(frame, axis, one, edge, k % LINES) for k, one in enumerate(lines))]
    body.append(number_marks(axis, frame.bottom, "time"))
    return svg.document(width, frame.bottom + 42, title, words, "".join(body))


def _legend(lines: Sequence[ShareCurve], top: float, space: float) -> tuple[str, float]:
    parts, x, y = [], LEFT, top
    for k, one in enumerate(lines):
        name = svg.shortened(one.name, space / 2)
        after = 34 + width_of(name, 13.5)
        taken = after + width_of(one.note, 11) + 22
        if x > LEFT and x + taken > LEFT + space:
            x, y = LEFT, y + 20
        parts += [line(x, y + 5, x + 22, y + 5, f"line l{k % LINES}"), text(x + 28, y + 9, name)]
        parts.append(text(x + after, y + 9, one.note, "soft small") if one.note else "")
        x += taken
    return "".join(parts), y + 18


def _line(frame: Frame, axis: Axis, one: ShareCurve, edge: FloatArray, kind: int) -> str:
    share = np.nan_to_num(one.share)
    if not len(share):
        return ""
    ends = [axis.x(moment) for moment in edge[1:].tolist()]
    stairs = "".join(f"V{number(frame.y(height))}H{number(x)}" for height, x in zip(share.tolist(), ends, strict=True))
    words = f"{one.name}: {percent(float(share.mean()))} on average, {percent(float(share.max()))} at most"
    path = f"M{number(frame.left)} {number(frame.y(float(share[0])))}{stairs}"
    return element("path", element("title", escaped(words)), d=path, class_=f"line l{kind}")
