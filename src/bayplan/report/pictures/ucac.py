"""The used capacity at confidence of every machine, fullest first, one curve per method or state ([UCaC] Figure 3)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayplan.model import FloatArray
from bayplan.report import svg
from bayplan.report.amounts import percent
from bayplan.report.pictures.axis import Axis, number_marks
from bayplan.report.pictures.chart import line_legend
from bayplan.report.pictures.frame import LEFT, RIGHT, Frame, caption, floor_and_capacity, grid
from bayplan.report.svg import element, escaped, number, text
from bayplan.words import count

TALL = 260.0
POINTS = 600  # steps of a curve; more cannot be seen
LINES = 8  # kinds of lines in picture.css

CAPTION = (
    "Machines from left to right, the fullest first. The height is the share of its capacity that each uses at the stated "
    "confidence: above the line, it overflows more often than agreed. A curve that ends early needs few machines."
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UcacCurve:
    """The machines of one placement."""

    name: str
    share: FloatArray  # (machine,) UCaC / capacity of the machines that run something, in any order


def ucac_curves(curves: Sequence[UcacCurve], *, title: str, words: str = CAPTION, width: int = 1120) -> str:
    """One line per curve and the capacity line, as an SVG document."""
    head, y = caption(title, words, width)
    shown = [curve for curve in curves if len(curve.share)]
    if not shown:
        return svg.document(width, y + 24, title, words, head + text(LEFT, y + 8, "No machine runs anything.", "soft"))
    entries = [(f"line l{k % LINES}", curve.name, count(len(curve.share), "machine")) for k, curve in enumerate(curves)]
    key, top = line_legend(entries, left=LEFT, top=y + 6, space=width - LEFT - 24)
    most = max(1.0, *(float(curve.share.max()) for curve in shown))
    frame = Frame(left=LEFT, right=width - RIGHT, top=top + 12, bottom=top + 12 + TALL, most=most * 1.06)
    axis = Axis(left=frame.left, right=frame.right, low=0.0, high=float(max(len(curve.share) for curve in shown)))
    lines = [_line(frame, axis, curve, k % LINES) for k, curve in enumerate(curves) if len(curve.share)]
    body = [
        head,
        key,
        grid(frame),
        number_marks(axis, frame.bottom, "machines in use, fullest first", whole=True),
        floor_and_capacity(frame, frame.right),
        *lines,
    ]
    return svg.document(width, frame.bottom + 40, title, words, "".join(body))


def _line(frame: Frame, axis: Axis, curve: UcacCurve, kind: int) -> str:
    """Stairs from the fullest machine to the emptiest, thinned to POINTS steps, then down to the bottom."""
    share, n = -np.sort(-curve.share), len(curve.share)
    index = np.unique(np.linspace(0, n - 1, min(n, POINTS)).round().astype(np.int64))
    end = np.append(index[1:], n)  # a step reaches to where the next one begins
    steps = zip(share[index].tolist(), end.tolist(), strict=True)
    stairs = "".join(f"V{number(frame.y(height))}H{number(axis.x(to))}" for height, to in steps)
    half = f"half of them use {percent(float(np.median(share)))} or more"
    words = f"{curve.name}: {count(n, 'machine')}, the fullest {percent(float(share[0]))}, {half}"
    path = f"M{number(frame.left)} {number(frame.y(float(share[0])))}{stairs}V{number(frame.bottom)}"
    return element("path", element("title", escaped(words)), d=path, class_=f"line l{kind}")
