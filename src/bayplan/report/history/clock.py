"""Times as people read them: UTC, with weekdays, the same in every locale."""

from collections.abc import Iterator
from datetime import UTC, datetime

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_EVENING, _MORNING = 20, 6  # hours: nights are shaded from one to the other


def _utc(at: float) -> datetime:
    return datetime.fromtimestamp(at, UTC)


def clock(at: float) -> str:
    """'06:30'."""
    moment = _utc(at)
    return f"{moment.hour:02}:{moment.minute:02}"


def when(at: float) -> str:
    """'Mon 06:30'."""
    return f"{_DAYS[_utc(at).weekday()][:3]} {clock(at)}"


def day(at: float) -> str:
    """'Monday 7 September 2026'."""
    moment = _utc(at)
    return f"{_DAYS[moment.weekday()]} {moment.day} {_MONTHS[moment.month - 1]} {moment.year}"


def short_day(at: float) -> str:
    """'Mon 7 Sep'."""
    moment = _utc(at)
    return f"{_DAYS[moment.weekday()][:3]} {moment.day} {_MONTHS[moment.month - 1][:3]}"


def moment_words(at: float) -> str:
    """'Mon 7 Sep 06:30'."""
    return f"{short_day(at)} {clock(at)}"


def iso(at: float) -> str:
    """'2026-09-07T06:30:00Z'."""
    return _utc(at).strftime("%Y-%m-%dT%H:%M:%SZ")


def midnight(at: float) -> float:
    """The last midnight before a time, or the time itself."""
    return at // DAY * DAY  # days of this clock have no leap seconds


def is_weekend(at: float) -> bool:
    """Is it Saturday or Sunday?"""
    return _utc(at).weekday() >= 5


def days(low: float, high: float) -> Iterator[tuple[float, float]]:
    """The days from one time to another, those at the ends cut."""
    begin = midnight(low)
    while begin < high:
        yield max(begin, low), min(begin + DAY, high)
        begin += DAY


def nights(low: float, high: float) -> Iterator[tuple[float, float]]:
    """The nights from one time to another, those at the ends cut."""
    begin = midnight(low) - DAY + _EVENING * HOUR
    while begin < high:
        end = begin + (24 - _EVENING + _MORNING) * HOUR
        if end > low:
            yield max(begin, low), min(end, high)
        begin += DAY
