"""Small charts side by side: where each is, and its axes."""

from collections.abc import Iterator
from dataclasses import dataclass

from bayplan.report.amounts import percent
from bayplan.report.pictures.axis import round_numbers, share_step
from bayplan.report.svg import line, shortened, text, width_of

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


def panels(number: int, most: float, *, left: float, top: float, space: float) -> Iterator[Panel]:
    """`number` panels, up to three in a row."""
    across = min(3, max(1, number))
    wide = min(420.0, (space - GAP * (across - 1)) / across)
    for index in range(number):
        row, column = divmod(index, across)
        yield Panel(left=left + column * (wide + GAP), top=top + HEAD + row * (HEAD + TALL + FOOT), wide=wide, most=most)


def rows_height(number: int) -> float:
    """The height of `number` panels."""
    return -(-number // 3) * (HEAD + TALL + FOOT)


def axes(panel: Panel, title: str, note: str, warning: str = "") -> str:
    """The frame of a panel: title, a warning beside it, grid, and shares along both sides."""
    shown = shortened(title, panel.wide - width_of(warning, 11) - 10)
    parts = [
        text(panel.left, panel.top - 22, shown, "strong"),
        text(panel.left + panel.wide, panel.top - 22, warning, "small over end") if warning else "",
        text(panel.left, panel.top - 8, note, "soft small"),
    ]
    parts += [line(panel.left, panel.y(part), panel.left + panel.wide, panel.y(part), "grid") for part in QUARTERS]
    parts += [text(panel.left - 8, panel.y(part) + 4, percent(part), "soft small end") for part in QUARTERS]
    parts.append(line(panel.left, panel.y(0), panel.left + panel.wide, panel.y(0), "floor"))
    parts += [text(panel.x(share), panel.y(0) + 16, percent(share), "soft small mid") for share in _marks(panel)]
    return "".join(parts)


def _marks(panel: Panel) -> list[float]:
    """Round shares from 0 on, as many as do not touch."""
    least = (width_of(percent(panel.most), 11) + 14) * panel.most / panel.wide
    return round_numbers(0.0, panel.most, min(panel.most, share_step(least)))
