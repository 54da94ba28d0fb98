"""Which part of each class is served, as bars."""

from collections.abc import Sequence

from bayplan.report import svg
from bayplan.report.amounts import percent
from bayplan.report.answers.schedule_tables import RequestClass, share_of
from bayplan.report.pictures.frame import LEFT, caption
from bayplan.report.svg import line, rect, shortened, text

ROW, BAR, NAMES, NOTES = 26.0, 16.0, 150.0, 330.0
MOST = 40  # classes that are drawn

CAPTION = "One bar per class. The dark part is the share of its requests that are served; the mark is the share of its value."


def served_bars(rows: Sequence[RequestClass], *, title: str, width: int = 1120) -> str:
    """The picture, as an SVG document."""
    head, y = caption(title, CAPTION, width)
    left, right, top = LEFT + NAMES, width - NOTES, y + 14
    body = [head, *(_bar(row, left, right, top + ROW * k) for k, row in enumerate(rows[:MOST]))]
    end = top + ROW * min(len(rows), MOST)
    if len(rows) > MOST:
        body.append(text(left, end + 12, f"and {len(rows) - MOST:,} more classes", "soft small"))
    return svg.document(width, end + 28, title, CAPTION, "".join(body))


def _bar(row: RequestClass, left: float, right: float, top: float) -> str:
    share, worth = share_of(row.served, row.requests), share_of(row.value, row.asked)
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
