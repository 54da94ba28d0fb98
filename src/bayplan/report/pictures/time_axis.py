"""Time from left to right: the scale of a picture in seconds, and round moments along it."""

from dataclasses import dataclass

from bayplan.report.amounts import seconds
from bayplan.report.svg import line, text, width_of

STEPS = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 21600, 43200, 86400)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeAxis:
    """Where a moment is drawn."""

    left: float
    right: float
    longest: float  # seconds

    @property
    def wide(self) -> float:
        """Pixels from left to right."""
        return self.right - self.left

    def x(self, moment: float) -> float:
        """Pixels from the left edge of the picture."""
        return self.left + self.wide * moment / self.longest


def time_marks(axis: TimeAxis, top: float, bottom: float) -> str:
    """Round moments: a faint line through the picture and the time below it."""
    step = _step(axis)
    parts, moment = [], 0.0
    while moment <= axis.longest * (1 + 1e-9):
        x, words = axis.x(moment), seconds(moment) if moment else "0"
        parts.append(line(x, bottom, x, bottom + 5, "floor"))
        side = "end" if moment and x + width_of(words, 11) / 2 > axis.right + 20 else "mid"
        parts.append(text(x, bottom + 18, words, f"soft small {side}"))
        moment += step
    return "".join([*parts, line(axis.left, bottom, axis.right, bottom, "floor")])


def _step(axis: TimeAxis) -> float:
    """The smallest round step whose words do not touch."""
    tiny = (0.001 * 10**power * digit for power in range(3) for digit in (1, 2, 5))
    days = (86400.0 * 10**power * digit for power in range(12) for digit in (2, 5, 10))
    for step in (*tiny, *STEPS, *days):
        words = width_of(seconds(axis.longest // step * step), 11)
        if axis.wide * step / axis.longest >= words + 22:
            return float(step)
    return axis.longest
