"""What is written along the sides of a picture: round numbers, times and shares, as many as do not touch."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

from bayplan.report.amounts import score, seconds
from bayplan.report.svg import line, text, width_of

SMALL = 11.0  # font size of marks
APART = 24.0  # pixels between the words of two marks
TIMES = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 21600, 43200, 86400)  # round, in seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """Where a number is drawn, from left to right."""

    left: float
    right: float
    low: float
    high: float

    @property
    def wide(self) -> float:
        """Pixels from left to right."""
        return self.right - self.left

    @property
    def span(self) -> float:
        """From the lowest number to the highest; 1 if they are the same, so that a scale exists."""
        return (self.high - self.low) or 1.0

    def x(self, value: float) -> float:
        """Pixels from the left edge of the picture; the middle where there is only one number."""
        return self.left + self.wide * ((value - self.low) / self.span if self.high > self.low else 0.5)


def round_step(least: float) -> float:
    """The smallest of 1, 2, 5, 10, 20, ... and 0.5, 0.2, 0.1, ... that is at least `least`."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(power * digit for digit in (1, 2, 5, 10) if power * digit >= least * (1 - 1e-9))


def round_numbers(low: float, high: float, step: float) -> list[float]:
    """The multiples of `step` from low to high."""
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def share_step(least: float) -> float:
    """The smallest of 25 %, 50 %, 100 %, 250 %, ... that is at least `least`."""
    steps = (digit * 10.0**power for power, digit in product(range(12), (0.25, 0.5, 1.0)))
    return next((step for step in steps if step >= least), 1e12)


def number_marks(axis: Axis, bottom: float, name: str, *, words: Callable[[float], str] = score, whole: bool = False) -> str:
    """Round numbers below a picture, in whatever unit the input has, and what they are."""
    longest = max(map(words, (axis.low, axis.high)), key=len)
    step = round_step((width_of(f"{longest}0", SMALL) + APART) * axis.span / axis.wide)
    numbers = round_numbers(axis.low, axis.high, max(1.0, step) if whole else step)
    return _marks(axis, bottom, numbers or [axis.low], words) + text(axis.left, bottom + 33, name, "soft small")


def time_marks(axis: Axis, bottom: float) -> str:
    """Round times below a picture, in seconds, minutes, hours or days."""
    return _marks(axis, bottom, round_numbers(axis.low, axis.high, _time_step(axis)), _time_words)


def _time_words(moment: float) -> str:
    return seconds(moment) if moment else "0"


def _time_step(axis: Axis) -> float:
    """The smallest round time whose words do not touch."""
    tiny = (1e-3 * 10**power * digit for power, digit in product(range(3), (1, 2, 5)))
    days = (86400.0 * 10**power * digit for power, digit in product(range(12), (2, 5, 10)))
    for step in (*tiny, *TIMES, *days):
        if axis.wide * step / axis.span >= width_of(seconds(axis.high // step * step), SMALL) + APART - 2:
            return float(step)
    return axis.span


def _marks(axis: Axis, bottom: float, numbers: Sequence[float], words: Callable[[float], str]) -> str:
    parts = [line(axis.left, bottom, axis.right, bottom, "floor")]
    for value in numbers:
        x, shown = axis.x(value), words(value)
        sticks_out = x + width_of(shown, SMALL) / 2 > axis.right + 20
        parts.append(line(x, bottom, x, bottom + 5, "floor"))
        parts.append(text(x, bottom + 18, shown, f"soft small {'end' if sticks_out else 'mid'}"))
    return "".join(parts)
