"""What is asked for and what is served over time, against the capacity of all machines, one row per resource."""

from collections.abc import Sequence
from dataclasses import dataclass

from bayplan.report import svg
from bayplan.report.amounts import percent
from bayplan.report.pictures.chart import Chart, axes, key, stairs
from bayplan.report.pictures.frame import LEFT, RIGHT, caption
from bayplan.report.svg import line, text

TALL, GAP = 180.0, 78.0
STEPS = 500  # of a curve; more cannot be seen
HIGHEST = 8.0  # capacities that are shown at most: above it the curve is cut

CAPTION = (
    "The height is the part of all machines that is in use at a time, the highest of each step. Dashed: all that is asked for. "
    "Solid: what is served, which never passes the capacity."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadRow:
    """One resource over time, as shares of all machines."""

    resource: str
    time: Sequence[float]  # (step + 1,)
    asked: Sequence[float]  # (step,)
    served_time: Sequence[float]
    served: Sequence[float]


def timed_load(rows: Sequence[LoadRow], *, title: str, width: int = 1120) -> str:
    """The picture, as an SVG document."""
    head, y = caption(title, CAPTION, width)
    shown = [row for row in rows if len(row.asked)]
    if not shown:
        return svg.document(width, y + 24, title, CAPTION, head + text(LEFT, y + 8, "Nothing is asked for.", "soft"))
    body = [head, key([("line l1", "asked for"), ("line l0", "served")], left=LEFT, top=y + 10)]
    top = y + 52
    for row in shown:
        body.append(_row(row, top, width))
        top += TALL + GAP
    return svg.document(width, top - GAP + 44, title, CAPTION, "".join(body))


def _row(row: LoadRow, top: float, width: int) -> str:
    highest = max(row.asked)
    most = max(1.0, min(highest, HIGHEST)) * 1.06
    chart = Chart(left=LEFT, right=width - RIGHT, top=top, bottom=top + TALL, low=row.time[0], high=row.time[-1], most=most)
    peak, used = percent(highest), percent(max(row.served, default=0.0))
    note = f"at most {peak} asked for at one time, {used} served" + (", the curve is cut" if highest > most else "")
    return "".join(
        [
            text(LEFT, top - 12, row.resource, "strong"),
            text(LEFT + svg.width_of(row.resource) + 16, top - 12, note, "soft small"),
            axes(chart, below="time", words=percent),
            line(chart.left, chart.y(1), chart.right, chart.y(1), "capacity"),
            text(chart.right + 5, chart.y(1) + 4, "capacity", "small"),
            stairs(chart, row.served_time, row.served, "line l0", f"{row.resource}: served, at most {used}"),
            stairs(chart, row.time, row.asked, "line l1", f"{row.resource}: asked for, at most {peak}"),
        ]
    )
