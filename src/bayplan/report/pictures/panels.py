"""Small charts side by side: where each stands, its axes."""

from collections.abc import Iterator
from dataclasses import dataclass

from bayplan.report.amounts import percent
from bayplan.report.svg import line, shortened, text

GAP, TALL, HEAD, FOOT = 62.0, 190.0, 40.0, 34.0

QUARTERS = (0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One chart: x is a share of capacity up to `most`, y is a share of the machines."""

    left: float
    top: float
    wide: float
    most: float

    def x(self, share: float) -> float:
        """Where a share of capacity is."""
        return self.left + self.wide * min(share, self.most) / self.most

    def y(self, part: float) -> float:
        """Where a part of the machines is."""
        return self.top + TALL * (1 - part)


def panels(number: int, most: float, *, left: float, top: float, room: float) -> Iterator[Panel]:
    """As many panels as asked for, up to three in a row."""
    across = min(3, max(1, number))
    wide = min(420.0, (room - GAP * (across - 1)) / across)
    for index in range(number):
        row, column = divmod(index, across)
        yield Panel(left=left + column * (wide + GAP), top=top + HEAD + row * (HEAD + TALL + FOOT), wide=wide, most=most)


def rows_height(number: int) -> float:
    """The height of so many panels."""
    return -(-number // 3) * (HEAD + TALL + FOOT)


def axes(panel: Panel, title: str, note: str) -> str:
    """The frame of a panel: title, grid, and shares along both sides."""
    parts = [
        text(panel.left, panel.top - 22, shortened(title, panel.wide), "strong"),
        text(panel.left, panel.top - 8, note, "soft small"),
    ]
    parts += [line(panel.left, panel.y(part), panel.left + panel.wide, panel.y(part), "grid") for part in QUARTERS]
    parts += [text(panel.left - 8, panel.y(part) + 4, percent(part), "soft small end") for part in QUARTERS]
    parts.append(line(panel.left, panel.y(0), panel.left + panel.wide, panel.y(0), "floor"))
    steps = 4 if panel.most <= 1.3 else 2 if panel.most <= 3 else 1
    marks = [k / steps for k in range(int(panel.most * steps) + 1)] if panel.most <= 8 else [0.0, panel.most]
    parts += [text(panel.x(share), panel.y(0) + 16, percent(share), "soft small mid") for share in marks]
    return "".join(parts)
