"""A field with numbers along both sides: where a value is drawn, stairs, lines and dots."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bayplan.report.amounts import score
from bayplan.report.pictures.axis import Axis, number_marks, round_numbers, round_step
from bayplan.report.svg import element, escaped, line, number, shortened, text, width_of


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


def axes(chart: Chart, *, below: str, words: Callable[[float], str] = score, whole: bool = False) -> str:
    """The grid with its numbers at the left, and below it numbers and what they are."""
    up = round_numbers(0.0, chart.most, round_step(chart.most / max(2, int((chart.bottom - chart.top) / 36))))
    parts = [line(chart.left, chart.y(v), chart.right, chart.y(v), "grid") for v in up if v > 0]
    parts += [text(chart.left - 8, chart.y(v) + 4, words(v), "soft small end") for v in up]
    return "".join([*parts, number_marks(chart.axis, chart.bottom, below, whole=whole)])


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


def line_legend(entries: Sequence[tuple[str, str, str]], *, left: float, top: float, space: float) -> tuple[str, float]:
    """Which line is which: (class, name, note), in as many rows of `space` pixels as they need; and how far down it reaches."""
    parts, x, y = [], left, top
    for class_, name, note in entries:
        shown = shortened(name, space / 2)
        taken = 34 + width_of(shown) + width_of(note, 11) + 22
        if x > left and x + taken > left + space:
            x, y = left, y + 20
        beside = element("tspan", escaped(note), dx=6, class_="soft small") if note else ""
        parts += [line(x, y + 5, x + 22, y + 5, class_), element("text", escaped(shown), beside, x=x + 28, y=y + 9)]
        x += taken
    return "".join(parts), y + 18
