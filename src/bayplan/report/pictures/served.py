"""What is served of timed requests: by class, and over time."""

from collections.abc import Sequence
from dataclasses import dataclass

from bayplan.report import svg
from bayplan.report.amounts import percent
from bayplan.report.answers.schedule_tables import share_of
from bayplan.report.pictures.chart import Chart, axes, line_legend, stairs
from bayplan.report.pictures.frame import LEFT, RIGHT, caption
from bayplan.report.svg import line, rect, shortened, text
from bayplan.score.schedule_figures import ServedClass

ROW, BAR, NAMES, NOTES = 26.0, 16.0, 150.0, 330.0
MOST = 40  # classes that are drawn

CLASS_CAPTION = (
    "One bar per class. The dark part is the share of its requests that are served; the mark is the share of its value."
)


def served_bars(rows: Sequence[ServedClass], *, title: str, width: int = 1120) -> str:
    """The picture, as an SVG document."""
    head, y = caption(title, CLASS_CAPTION, width)
    left, right, top = LEFT + NAMES, width - NOTES, y + 14
    body = [head, *(_bar(row, left, right, top + ROW * k) for k, row in enumerate(rows[:MOST]))]
    end = top + ROW * min(len(rows), MOST)
    if len(rows) > MOST:
        body.append(text(left, end + 12, f"and {len(rows) - MOST:,} more classes", "soft small"))
    return svg.document(width, end + 28, title, CLASS_CAPTION, "".join(body))


def _bar(row: ServedClass, left: float, right: float, top: float) -> str:
    share, worth = share_of(row.served, row.requests), share_of(row.value, row.requested)
    words = f"{row.name}: {row.served:,} of {row.requests:,} served ({percent(share)}), {percent(worth)} of the value"
    mark = left + (right - left) * (worth if worth == worth else 0.0)
    return "".join(
        [
            text(left - 10, top + 13, shortened(row.name, NAMES - 12), "end"),
            rect(left, top, right - left, BAR, "bay"),
            rect(left, top, (right - left) * share, BAR, "local", words),
            line(mark, top - 3, mark, top + BAR + 3, "capacity"),
            text(right + 12, top + 13, f"{percent(share)} of {row.requests:,}, {percent(worth)} of the value", "soft small"),
        ]
    )


TALL, GAP = 180.0, 78.0
STEPS = 500  # of a curve; more cannot be seen
HIGHEST = 8.0  # capacities that are shown at most: above it the curve is cut

LOAD_CAPTION = (
    "The height is the part of all machines that is in use at a time, the highest of each step. Dashed: all that is requested. "
    "Solid: what is served, which never passes the capacity."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadRow:
    """One resource over time, as shares of all machines."""

    resource: str
    time: Sequence[float]  # (step + 1,)
    requested: Sequence[float]  # (step,)
    served_time: Sequence[float]
    served: Sequence[float]


def timed_load(rows: Sequence[LoadRow], *, title: str, width: int = 1120) -> str:
    """The picture, as an SVG document."""
    head, y = caption(title, LOAD_CAPTION, width)
    shown = [row for row in rows if len(row.requested)]
    if not shown:
        return svg.document(width, y + 24, title, LOAD_CAPTION, head + text(LEFT, y + 8, "Nothing is requested.", "soft"))
    entries = [("line l1", "requested", ""), ("line l0", "served", "")]
    body = [head, line_legend(entries, left=LEFT, top=y + 5, space=width - LEFT - RIGHT)[0]]
    top = y + 52
    for row in shown:
        body.append(_row(row, top, width))
        top += TALL + GAP
    return svg.document(width, top - GAP + 44, title, LOAD_CAPTION, "".join(body))


def _row(row: LoadRow, top: float, width: int) -> str:
    highest = max(row.requested)
    most = max(1.0, min(highest, HIGHEST)) * 1.06
    chart = Chart(left=LEFT, right=width - RIGHT, top=top, bottom=top + TALL, low=row.time[0], high=row.time[-1], most=most)
    peak, used = percent(highest), percent(max(row.served, default=0.0))
    note = f"at most {peak} requested at one time, {used} served" + (", the curve is cut" if highest > most else "")
    return "".join(
        [
            text(LEFT, top - 12, row.resource, "strong"),
            text(LEFT + svg.width_of(row.resource) + 16, top - 12, note, "soft small"),
            axes(chart, below="time", words=percent),
            line(chart.left, chart.y(1), chart.right, chart.y(1), "capacity"),
            text(chart.right + 5, chart.y(1) + 4, "capacity", "small"),
            stairs(chart, row.served_time, row.served, "line l0", f"{row.resource}: served, at most {used}"),
            stairs(chart, row.time, row.requested, "line l1", f"{row.resource}: requested, at most {peak}"),
        ]
    )
