"""Do public traces change over the day and the week as [UCaC] Figure 1 says, and are weekends as in its Figure 5?

Its own trace is not public. Google 2019: one job, the mean of its replicas, 31 days from Wednesday, 1 May 2019. Bitbrains:
virtual machines of companies, a month of 2013, with dates. Azure: 100 virtual machines, 27 days, without dates, so only
Figure 1. A virtual machine is a service of its own; only the job has replicas, whose deviation Figure 5(b) is about.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from experiments.gaussian.fleets import STEPS, WEEK, Array, Table, azure_table, bitbrains_table, google2019_tables

HOUR = 12  # steps
HOURS = 24
MEASURES = ("data", "service", "days", "day", "half_day", "week", "half_week", "weekend_peak", "weekend_ratio")
MAY_2019, EPOCH = 2, 3  # the weekday of the first day: Wednesday, Thursday; Monday is 0
WEEKEND = (5, 6)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Service:
    """The usage of one service, hour by hour from midnight."""

    data: str
    name: str
    total: Array  # (hour,) NaN where nothing is known
    weekday: int | None  # of the first day, if it is known
    ratio: Array | None  # (hour,) deviation over mean of its replicas, if it has some


def measured() -> Iterator[dict[str, str]]:
    """The columns of `MEASURES`, a row for each service of a week or more."""
    for service in services():
        if len(service.total) >= WEEK * HOURS:
            yield _row(service)


def services() -> Iterator[Service]:
    """Of all three traces."""
    for job, table in google2019_tables().items():
        total, ratio = _over_replicas(_hourly(table))
        weekday = (table.first // STEPS + MAY_2019) % WEEK
        yield Service(data="google2019", name=job, total=total, weekday=weekday, ratio=ratio)
    for data, table in (("bitbrains", bitbrains_table()), ("azure", azure_table())):
        weekday = (table.first // STEPS + EPOCH) % WEEK if data == "bitbrains" else None
        for number, total in enumerate(_hourly(table).T):
            yield Service(data=data, name=str(number), total=total, weekday=weekday, ratio=None)


def _hourly(table: Table) -> Array:
    """(hour, column) means over whole hours, from the midnight before the first step."""
    before = np.full((table.first % STEPS, table.usage.shape[1]), np.nan)
    usage = np.concatenate([before, table.usage])
    whole = usage[: len(usage) // HOUR * HOUR].reshape(-1, HOUR, usage.shape[1])
    known = (~np.isnan(whole)).sum(axis=1)
    return np.divide(np.nansum(whole, axis=1), known, out=np.full(known.shape, np.nan), where=known > 0)


def _over_replicas(hourly: Array) -> tuple[Array, Array]:
    """(hour,) the mean, and the deviation over it; NaN where no replica runs."""
    mean, ratio = np.full((2, len(hourly)), np.nan)
    known = ~np.isnan(hourly).all(axis=1)
    mean[known] = np.nanmean(hourly[known], axis=1)
    ratio[known] = np.nanstd(hourly[known], axis=1) / mean[known]
    return mean, ratio


def _row(service: Service) -> dict[str, str]:
    peaks = daily_peaks(service)
    numbers = {
        "day": correlation(service.total, HOURS),
        "half_day": correlation(service.total, HOURS // 2),
        "week": correlation(service.total, WEEK * HOURS),
        "half_week": (correlation(service.total, 3 * HOURS) + correlation(service.total, 4 * HOURS)) / 2,
        "weekend_peak": _weekend(service, peaks[0]),
        "weekend_ratio": _weekend(service, peaks[1]),
    }
    words = {name: "" if np.isnan(value) else f"{value:.4f}" for name, value in numbers.items()}
    return {"data": service.data, "service": service.name, "days": str(len(peaks[0])), **words}


def correlation(total: Array, hours: int) -> float:
    """Of the usage with itself that many hours later."""
    early, late = total[:-hours], total[hours:]
    known = ~(np.isnan(early) | np.isnan(late))
    early, late = early[known], late[known]
    if len(early) < HOURS or not early.std() or not late.std():
        return np.nan
    return float(np.corrcoef(early, late)[0, 1])


def daily_peaks(service: Service) -> tuple[Array, Array]:
    """(day,) the usage in the busiest hour of each whole day, and the ratio of deviation and mean in it."""
    days = service.total[: len(service.total) // HOURS * HOURS].reshape(-1, HOURS)
    at = np.argmax(np.where(np.isnan(days), -np.inf, days), axis=1)
    there = np.arange(len(days))
    ratio = np.full(days.shape, np.nan) if service.ratio is None else service.ratio[: days.size].reshape(days.shape)
    return days[there, at], ratio[there, at]


def _weekend(service: Service, by_day: Array) -> float:
    """The mean over weekends over that of weekdays; NaN if days are not known."""
    if service.weekday is None or np.isnan(by_day).all():
        return np.nan
    weekend = np.isin((np.arange(len(by_day)) + service.weekday) % WEEK, WEEKEND)
    return float(np.nanmean(by_day[weekend]) / np.nanmean(by_day[~weekend]))
