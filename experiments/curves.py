"""Line charts of measured results: one curve per name, its points joined from left to right."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from bayplan.report import svg
from bayplan.report.svg import element, line, number, text, width_of

WIDTH, LEFT, WIDE, TALL = 760, 68.0, 650.0, 280.0
LEGEND, LINE, ABOVE, BELOW = 60.0, 18.0, 32.0, 50.0  # where the legend begins, its lines, margins above and below the chart
TICKS = 6
Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """The range of numbers along one side, linear or `logarithmic`."""

    least: float
    most: float
    name: str
    logarithmic: bool = False
    percent: bool = False

    def share(self, value: float) -> float:
        """Where a value is: 0 at the start, 1 at the end."""
        if self.logarithmic:
            return (log10(value) - log10(self.least)) / max(1e-12, log10(self.most) - log10(self.least))
        return (value - self.least) / max(1e-12, self.most - self.least)

    @property
    def marks(self) -> list[float]:
        """Round values, few enough to be read."""
        if self.logarithmic:
            return [10.0**k for k in range(ceil(log10(self.least) - 1e-9), floor(log10(self.most) + 1e-9) + 1)]
        rough = (self.most - self.least) / TICKS
        power = 10.0 ** floor(log10(rough)) if rough > 0 else 1.0
        step = next(power * digit for digit in (1, 2, 5, 10) if power * digit >= rough)
        first = ceil(self.least / step - 1e-9)
        return [k * step for k in range(first, floor(self.most / step + 1e-9) + 1)]

    def label(self, value: float) -> str:
        """A mark as text."""
        return f"{value:.0%}" if self.percent else f"{value:,.10g}"


def chart(title: str, caption: str, x: Axis, y: Axis, curves: Mapping[str, Sequence[Point]]) -> str:
    """An SVG document."""
    places = _legend_places(list(curves))
    top = max(height for _, height in places.values()) + ABOVE if places else LEGEND
    parts = [text(LEFT, 24, title, "head"), text(LEFT, 42, caption, "soft small"), _frame(x, y, top)]
    for colour, (name, points) in enumerate(curves.items()):
        across, height = places[name]
        parts.append(element("circle", cx=across + 5, cy=height, r=4.5, class_=f"s{colour}"))
        parts.append(text(across + 14, height + 4, name, "small"))
        placed = [(LEFT + WIDE * x.share(a), top + TALL * (1 - y.share(b))) for a, b in sorted(points)]
        path = "L".join(f"{number(a)} {number(b)}" for a, b in placed)
        parts.append(element("path", d=f"M{path}", style=f"fill:none;stroke:var(--s{colour});stroke-width:1.8"))
        parts += [element("circle", cx=a, cy=b, r=3.2, class_=f"s{colour}") for a, b in placed]
    return svg.document(WIDTH, top + TALL + BELOW, title, caption, "".join(parts))


def _frame(x: Axis, y: Axis, top: float) -> str:
    parts = []
    for value in y.marks:
        height = top + TALL * (1 - y.share(value))
        parts += [line(LEFT, height, LEFT + WIDE, height, "grid"), text(LEFT - 8, height + 4, y.label(value), "soft small end")]
    parts.append(line(LEFT, top + TALL, LEFT + WIDE, top + TALL, "floor"))
    parts += [text(LEFT + WIDE * x.share(value), top + TALL + 16, x.label(value), "soft small mid") for value in x.marks]
    parts.append(text(LEFT + WIDE / 2, top + TALL + 34, x.name, "soft small mid"))
    return "".join([*parts, text(LEFT, top - 8, y.name, "soft small")])


def _legend_places(names: Sequence[str]) -> dict[str, Point]:
    """The position of each name, in as many lines as it takes."""
    places, across, height = {}, LEFT, LEGEND
    for name in names:
        wide = 14 + width_of(name, 11) + 18
        if across > LEFT and across + wide > LEFT + WIDE:
            across, height = LEFT, height + LINE
        places[name] = (across, height)
        across += wide
    return places
