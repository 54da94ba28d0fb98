"""A field with numbers along both sides: where a value is drawn, stairs, lines and dots."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bayplan.report.amounts import score
from bayplan.report.pictures.axis import Axis, number_marks, round_numbers, round_step
from bayplan.report.svg import element, escaped, line, number, text, width_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """From (low, 0) at the lower left to (high, most) at the upper right."""

    left: float
    right: float
    top: float
    bottom: float
    low: float
    high: float
    most: float

    @property
    def axis(self) -> Axis:
        """Its lower side."""
        return Axis(left=self.left, right=self.right, low=self.low, high=self.high)

    def x(self, value: float) -> float:
        """Pixels from the left edge of the picture."""
        return self.axis.x(value)

    def y(self, value: float) -> float:
        """Pixels from the upper edge."""
        return self.bottom - (self.bottom - self.top) * (min(value, self.most) / self.most if self.most > 0 else 0.0)


def axes(chart: Chart, *, below: str, words: Callable[[float], str] = score) -> str:
    """The grid with its numbers at the left, and below it numbers and what they are."""
    up = round_numbers(0.0, chart.most, round_step(chart.most / max(2, int((chart.bottom - chart.top) / 36))))
    parts = [line(chart.left, chart.y(v), chart.right, chart.y(v), "grid") for v in up if v > 0]
    parts += [text(chart.left - 8, chart.y(v) + 4, words(v), "soft small end") for v in up]
    return "".join([*parts, number_marks(chart.axis, chart.bottom, below)])


def stairs(chart: Chart, edge: Sequence[float], height: Sequence[float], class_: str, title: str, *, closed: bool = False) -> str:
    """Steps: each height from one edge to the next; closed down to the bottom, they are an area."""
    if not len(height):
        return ""
    path = "".join(f"V{number(chart.y(h))}H{number(chart.x(to))}" for h, to in zip(height, edge[1:], strict=True))
    end = f"V{number(chart.bottom)}Z" if closed else ""
    begin = chart.bottom if closed else chart.y(height[0])
    return element(
        "path", element("title", escaped(title)), d=f"M{number(chart.x(edge[0]))} {number(begin)}{path}{end}", class_=class_
    )


def polyline(chart: Chart, points: Sequence[tuple[float, float]], class_: str, title: str) -> str:
    """Straight lines from point to point."""
    if not points:
        return ""
    path = "L".join(f"{number(chart.x(a))} {number(chart.y(b))}" for a, b in points)
    return element("path", element("title", escaped(title)), d=f"M{path}", class_=class_)


def dots(chart: Chart, points: Sequence[tuple[float, float]], titles: Sequence[str]) -> str:
    """A dot with words at each point."""
    return "".join(
        element("circle", element("title", escaped(words)), cx=chart.x(a), cy=chart.y(b), r=3.5, class_="dot")
        for (a, b), words in zip(points, titles, strict=True)
    )


def key(entries: Sequence[tuple[str, str]], *, left: float, top: float) -> str:
    """Which line is which: (class, name), side by side."""
    parts, x = [], left
    for class_, name in entries:
        parts += [line(x, top, x + 22, top, class_), text(x + 28, top + 4, name)]
        x += 28 + width_of(name) + 24
    return "".join(parts)
