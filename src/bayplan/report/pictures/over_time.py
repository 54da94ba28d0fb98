"""Shares over time: one line each."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayplan.model import FloatArray
from bayplan.report import svg
from bayplan.report.amounts import percent
from bayplan.report.pictures.axis import Axis, number_marks
from bayplan.report.pictures.chart import line_legend
from bayplan.report.pictures.frame import LEFT, RIGHT, Frame, caption, grid
from bayplan.report.svg import element, escaped, number

TALL = 210.0
LINES = 8  # kinds of lines in picture.css


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShareCurve:
    """One share over time."""

    name: str
    share: FloatArray  # (piece,)
    note: str = ""


def shares_over_time(curves: Sequence[ShareCurve], edge: FloatArray, *, title: str, words: str, width: int = 1120) -> str:
    """Stairs, one for each curve, from 0 to at least 100 %, as an SVG document."""
    head, y = caption(title, words, width)
    entries = [(f"line l{k % LINES}", curve.name, curve.note) for k, curve in enumerate(curves)]
    key, top = line_legend(entries, left=LEFT, top=y + 6, space=width - LEFT - 24)
    most = max(1.0, *(float(np.nan_to_num(curve.share).max(initial=0.0)) for curve in curves)) if curves else 1.0
    frame = Frame(left=LEFT, right=width - RIGHT, top=top + 12, bottom=top + 12 + TALL, most=most * 1.04)
    axis = Axis(left=frame.left, right=frame.right, low=float(edge[0]), high=float(edge[-1]))
    body = [head, key, grid(frame), *(_line(frame, axis, curve, edge, k % LINES) for k, curve in enumerate(curves))]
    body.append(number_marks(axis, frame.bottom, "time"))
    return svg.document(width, frame.bottom + 42, title, words, "".join(body))


def _line(frame: Frame, axis: Axis, curve: ShareCurve, edge: FloatArray, kind: int) -> str:
    share = np.nan_to_num(curve.share)
    if not len(share):
        return ""
    ends = [axis.x(moment) for moment in edge[1:].tolist()]
    stairs = "".join(f"V{number(frame.y(height))}H{number(x)}" for height, x in zip(share.tolist(), ends, strict=True))
    words = f"{curve.name}: {percent(float(share.mean()))} on average, {percent(float(share.max()))} at most"
    path = f"M{number(frame.left)} {number(frame.y(float(share[0])))}{stairs}"
    return element("path", element("title", escaped(words)), d=path, class_=f"line l{kind}")
