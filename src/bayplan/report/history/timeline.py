"""The time axis that all parts of the picture of a history share: days, nights, weekends, marks."""

from collections.abc import Callable
from dataclasses import dataclass

from bayplan.report.history.clock import DAY, HOUR, clock, days, is_weekend, midnight, nights, short_day
from bayplan.report.pictures.axis import SMALL, Axis
from bayplan.report.svg import line, rect, text, width_of

STEPS = (HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 28 * DAY, 91 * DAY, 364 * DAY)
LONG = 2.5 * DAY  # a longer span has marks for days, not for hours
MOST_NIGHTS, MOST_WEEKENDS = 16 * DAY, 120 * DAY  # longer spans have no shades: they would be a grey mist


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """Where a time is drawn, from left to right."""

    axis: Axis

    def x(self, at: float) -> float:
        """Pixels from the left edge, within the axis."""
        return self.axis.x(min(max(at, self.axis.low), self.axis.high))

    def shades(self, top: float, bottom: float) -> str:
        """Nights and weekends behind everything else, and a line at each midnight."""
        low, high, span = self.axis.low, self.axis.high, self.axis.span
        parts = []
        if span <= MOST_WEEKENDS:
            parts += [self._shade(a, b, top, bottom, "weekend") for a, b in days(low, high) if is_weekend(a)]
        if span <= MOST_NIGHTS:
            parts += [self._shade(a, b, top, bottom, "night") for a, b in nights(low, high)]
            parts += [line(self.x(a), top, self.x(a), bottom, "midnight") for a, _ in days(low, high) if a > low]
        return "".join(parts)

    def _shade(self, begin: float, end: float, top: float, bottom: float, class_: str) -> str:
        return rect(self.x(begin), top, self.x(end) - self.x(begin), bottom - top, class_)

    def marks(self, bottom: float) -> str:
        """Days below the picture, each in its middle; hours where the span is short, further days where it is long."""
        axis = self.axis
        parts = [line(axis.left, bottom, axis.right, bottom, "floor")]
        pixels = axis.wide / axis.span
        least = DAY if axis.span > LONG else 0.0
        step = next((step for step in STEPS if step >= least and step * pixels >= _room(step)), STEPS[-1])
        words = _day_words(step * pixels)
        if step == DAY:
            for a, b in days(axis.low, axis.high):
                if (b - a) * pixels >= width_of(words(a), SMALL):
                    parts.append(text((self.x(a) + self.x(b)) / 2, bottom + 17, words(a), "soft small mid"))
            return "".join(parts)
        at = midnight(axis.low)
        while at <= axis.high:
            if at >= axis.low:
                shown = words(at) if at == midnight(at) else clock(at)
                parts += [
                    line(self.x(at), bottom, self.x(at), bottom + 5, "floor"),
                    text(self.x(at), bottom + 17, shown, "soft small mid"),
                ]
            at += step
        return "".join(parts)


def _room(step: float) -> float:
    """Pixels that a mark needs."""
    return width_of("00:00" if step < DAY else "Mon" if step == DAY else "Mon 30 Sep", SMALL) + 10


def _day_words(pixels: float) -> Callable[[float], str]:
    """'Mon 7 Sep', or 'Mon' where there is less space."""
    return short_day if pixels >= width_of("Mon 30 Sep", SMALL) + 6 else lambda at: short_day(at)[:3]
