"""Windows of time in which acting is allowed: "mon-fri 22:00-06:00", "sat,sun", "01:00-05:00"."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bayplan.errors import UsageError

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
DAY = 24 * 60  # minutes
EXPECTED = "expected days, hours or both, such as 'mon-fri 22:00-06:00', 'sat,sun' or '01:00-05:00'"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActingWindow:
    """Hours of some days; hours that end before they begin run into the next day."""

    days: frozenset[int]  # 0 is Monday: the day on which it begins
    start: int = 0  # minutes after midnight
    end: int = DAY
    zone: tzinfo = UTC

    def closes(self, at: float) -> float | None:
        """When the window that is open at a time closes, in seconds since 1970; None if it is shut then."""
        now = datetime.fromtimestamp(at, self.zone)
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        for first in (midnight, midnight - timedelta(days=1)):
            length = self.end - self.start if self.end > self.start else self.end - self.start + DAY
            opens = first + timedelta(minutes=self.start)
            if first.weekday() in self.days and opens <= now < opens + timedelta(minutes=length):
                return (opens + timedelta(minutes=length)).timestamp()
        return None


def read_window(text: str, timezone: str = "UTC") -> ActingWindow:
    """The window that a text states; UsageError if it states none.

    >>> window = read_window("mon-fri 22:00-06:00")
    >>> sorted(window.days), window.start // 60, window.end // 60
    ([0, 1, 2, 3, 4], 22, 6)
    """
    words = text.lower().split()
    days = frozenset(range(7))
    start, end = 0, DAY
    if not 1 <= len(words) <= 2:
        raise UsageError(f"window '{text}': {EXPECTED}")
    for word in words:
        if word[0].isdigit():
            start, end = _hours(word, text)
        else:
            days = _days(word, text)
    return ActingWindow(days=days, start=start, end=end, zone=_zone(timezone))


def closing_time(windows: Sequence[ActingWindow], at: float) -> float | None:
    """When the last of the windows that are open at a time closes; infinite without windows, None if all are shut."""
    if not windows:
        return float("inf")
    return max((closes for window in windows if (closes := window.closes(at)) is not None), default=None)


def _zone(name: str) -> tzinfo:
    try:
        return UTC if name == "UTC" else ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UsageError(f"time zone '{name}' is not known; expected a name such as UTC or Europe/Berlin") from error


def _days(word: str, text: str) -> frozenset[int]:
    days: set[int] = set()
    for part in word.split(","):
        first, dash, last = part.partition("-")
        if first not in DAYS or (dash and last not in DAYS):
            raise UsageError(f"window '{text}': '{part}' is no day; {EXPECTED}")
        start = DAYS.index(first)
        length = (DAYS.index(last) - start) % 7 if dash else 0
        days |= {(start + i) % 7 for i in range(length + 1)}
    return frozenset(days)


def _hours(word: str, text: str) -> tuple[int, int]:
    parts = [_minutes(part) for part in word.split("-")]
    if len(parts) != 2 or None in parts or parts[0] == parts[1]:
        raise UsageError(f"window '{text}': '{word}' is no span of hours; {EXPECTED}")
    return parts[0] or 0, parts[1] or 0


def _minutes(text: str) -> int | None:
    hours, _, minutes = text.partition(":")
    if not (hours.isdecimal() and (minutes or "0").isdecimal()):
        return None
    total = 60 * int(hours) + int(minutes or 0)
    return total if total <= DAY and int(minutes or 0) < 60 else None
