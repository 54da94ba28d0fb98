"""Usage at busy times from the published traces.

Busy: the hour's worth of steps of each day at which the mean over all is highest ([UCaC] §3.1 looks at "a peak time").
Two kinds of data:
- replicas of services (Google 2019, PlanetLab): what [UCaC] is about. A machine runs n replicas of one service.
- virtual machines without replicas (Azure, Bitbrains, Google 2011 jobs): each is a service of its own, and its usage over time is
  what there is. A machine runs n different ones.
Two drawn data sets are the control: one is Gaussian as [UCaC] says, one is not.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bayplan.formats.traces.table import read_columns
from experiments.calibration.data import real_file

BUSY = 12  # steps of five minutes: an hour
STEPS = 288  # a day
FEW = 5  # replicas at a moment, below which it is not used
SLICE = 20  # replicas of a PlanetLab slice on a day, below which the day is not used
WEEK = 7  # days
DAYS, REPLICAS = 10, 60  # of what is drawn
COVERED = 0.95  # of the steps: a virtual machine with fewer is left out

Array: TypeAlias = npt.NDArray[np.float64]
Days: TypeAlias = tuple[Array, ...]  # (busy step, replica or virtual machine) of each day


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """What is drawn from: a service with its replicas, or a fleet of virtual machines."""

    name: str
    days: Days
    limit: Array  # (1,) or (virtual machine,)
    alike: bool  # are the columns replicas of one service?


@dataclass(frozen=True, slots=True, kw_only=True)
class Data:
    """A data set: how it is read, and what it is."""

    about: str
    read: Callable[[], list[Group]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Table:
    """Usage over time."""

    usage: Array  # (step of five minutes, column)
    first: int  # the number of its first step
    limit: Array  # (1,) or (column,)


def busiest(day: Array) -> Array:
    """The steps of a day at which the mean is highest."""
    mean = np.nanmean(day, axis=1)
    return day[np.sort(np.argsort(mean, kind="stable")[-BUSY:])]


def by_moments(days: Days) -> tuple[Days, Days]:
    """Every other busy step of each day to learn from, and the rest: the same days, so what is learnt is fresh."""
    return tuple(day[::2] for day in days), tuple(day[1::2] for day in days)


def by_days(days: Days) -> tuple[Days, Days]:
    """Every other day to learn from, and the rest: what is learnt is a day old, or older."""
    return days[::2], days[1::2]


SPLITS: Mapping[str, Callable[[Days], tuple[Days, Days]]] = {"moments": by_moments, "days": by_days}


def _group(name: str, days: list[Array], limit: npt.ArrayLike, *, alike: bool) -> Group:
    busy = tuple(busiest(day) for day in days)
    return Group(name=name, days=busy, limit=np.atleast_1d(np.asarray(limit, dtype=np.float64)), alike=alike)


# ---- drawn ---------------------------------------------------------------------------------------------------------------------


def normal() -> list[Group]:
    """Services as [UCaC] says they are: independent, Gaussian, the same every day."""
    rng = np.random.default_rng(20_000)
    return [_drawn(f"s{s}", rng.normal(10, s + 1, (DAYS, BUSY, REPLICAS)), 40.0) for s in range(3)]


def lognormal() -> list[Group]:
    """Services that are independent and the same every day, but with a long tail."""
    rng = np.random.default_rng(20_001)
    wide = {spread: rng.lognormal(0, spread, (DAYS, BUSY, REPLICAS)) for spread in (0.5, 1.0)}
    return [_drawn(f"s{spread}", np.minimum(usage, 50.0), 50.0) for spread, usage in wide.items()]


def _drawn(name: str, usage: Array, limit: float) -> Group:
    return Group(name=name, days=tuple(usage), limit=np.array([limit]), alike=True)


# ---- replicas ------------------------------------------------------------------------------------------------------------------


def google2019(*, long: bool) -> list[Group]:
    """Jobs with 10 to 14 replicas: the one that is there for a week and more, or those that are not."""
    groups = []
    for job, table in google2019_tables().items():
        days = [day[(~np.isnan(day)).sum(axis=1) >= FEW] for day in _days(table.usage)]
        groups.append(_group(job, [day for day in days if len(day) >= BUSY], table.limit, alike=True))
    return [group for group in groups if (len(group.days) >= WEEK) == long]


def google2019_tables() -> dict[str, Table]:
    """By job, its replicas over time."""
    names = ("time", "collection_id", "instance_index", "avg_cpu_usage", "cpu_limit")
    column = read_columns(_folder("usage_replicas_google2019"), "instance_usage.parquet", names)
    tables = {}
    for job in np.unique(column["collection_id"]):
        mine = {name: values[column["collection_id"] == job] for name, values in column.items()}
        step = mine["time"] // 300_000_000
        first = int(step.min()) // STEPS * STEPS
        limit = max(float(mine["cpu_limit"].max()), float(mine["avg_cpu_usage"].max()))
        usage = gridded(step - first, mine["instance_index"], mine["avg_cpu_usage"])
        tables[str(job)] = Table(usage=usage, first=first, limit=np.array([limit]))
    return tables


def planetlab() -> list[Group]:
    """Slices with 20 replicas or more on two days at least; names that end in _root are no slices."""
    column = read_columns(_folder("usage_planetlab"), "planetlab_cpu.parquet", ("day", "cpu_pct", "slice"))
    names = np.array(column["slice"], dtype=str)
    groups = []
    for name in sorted(set(names.tolist())):
        mine = (names == name) & (not name.endswith("_root"))
        days = [column["cpu_pct"][mine & (column["day"] == day)].T for day in np.unique(column["day"][mine])]
        days = [day for day in days if day.shape[1] >= SLICE]
        if len(days) > 1:
            groups.append(_group(name, days, 100.0, alike=True))
    return groups


# ---- virtual machines ----------------------------------------------------------------------------------------------------------


def azure() -> list[Group]:
    """100 virtual machines, 27 days: averages over five minutes, in percent."""
    table = azure_table()
    return [_group("all", list(_days(table.usage)), table.limit, alike=False)]


def azure_table() -> Table:
    """All virtual machines; on which day it begins is not known."""
    import pyarrow.parquet as parquet

    folder, name = _folder("usage_azure_v1_100vms"), "azure_v1_cpu_avg_100vms.parquet"
    column = read_columns(folder, name, parquet.read_schema(folder / name).names)
    usage = np.column_stack([values.astype(np.float64) for values in column.values()])
    return Table(usage=usage, first=0, limit=np.full(usage.shape[1], 100.0))


def bitbrains() -> list[Group]:
    """Those of 50 business-critical virtual machines that have nearly the whole month, in MHz."""
    table = bitbrains_table()
    days = [day[~np.isnan(day).any(axis=1)] for day in _days(table.usage)]
    return [_group("all", [day for day in days if len(day) >= BUSY], table.limit, alike=False)]


def bitbrains_table() -> Table:
    """The virtual machines that have nearly the whole month; the first step counts from 1970."""
    folder = _folder("usage_bitbrains")
    meta = read_columns(folder, "meta.parquet", ("id", "cpu_capacity"))
    column = read_columns(folder, "trace.parquet", ("id", "timestamp", "duration", "cpu_usage"))
    ids = [str(name) for name in meta["id"]]
    vm = np.array([ids.index(str(name)) for name in column["id"]])
    end = column["timestamp"].astype("datetime64[s]").astype(np.int64) // 300
    table = np.full((int(end.max() - end.min()) + 1, len(ids)), np.nan)
    for back in (2, 1, 0):  # a row stands for the time before it: later rows count more
        rows = column["duration"] >= (back + 1) * 300_000 if back else np.ones(len(end), dtype=bool)
        at = np.maximum(end[rows] - end.min() - back, 0)
        table[at, vm[rows]] = column["cpu_usage"][rows]
    kept = np.flatnonzero((~np.isnan(table)).mean(axis=0) >= COVERED)
    limit = np.maximum(np.array(meta["cpu_capacity"])[kept], np.nanmax(table[:, kept], axis=0))
    return Table(usage=table[:, kept], first=int(end.min()), limit=limit)


def gcd2011() -> list[Group]:
    """The Google 2011 jobs that are there on all ten days, sums over their tasks, in percent, from 5 to 90 by selection."""
    column = read_columns(_folder("usage_gcd2011_jobs"), "gcd_vms.parquet", ("job", "day", "cpu_pct"))
    days = np.unique(column["day"])
    curve = {(job, day): cpu for job, day, cpu in zip(column["job"], column["day"], column["cpu_pct"], strict=True)}
    jobs = [job for job in np.unique(column["job"]) if all((job, day) in curve for day in days)]
    tables = [np.column_stack([curve[job, day] for job in jobs]) for day in days]
    return [_group("all", tables, np.full(len(jobs), 100.0), alike=False)]


DATA: Mapping[str, Data] = {
    "normal": Data(about="control: drawn, Gaussian", read=normal),
    "lognormal": Data(about="control: drawn, lognormal", read=lognormal),
    "google2019": Data(about="Google 2019: replicas of one job, 31 days", read=lambda: google2019(long=True)),
    "google2019-short": Data(about="Google 2019: replicas of 3 jobs, 2-3 days", read=lambda: google2019(long=False)),
    "planetlab": Data(about="PlanetLab 2011: replicas of slices", read=planetlab),
    "azure": Data(about="Azure 2017: 100 virtual machines", read=azure),
    "bitbrains": Data(about="Bitbrains 2013: virtual machines", read=bitbrains),
    "gcd2011": Data(about="Google 2011: jobs, all tasks added", read=gcd2011),
}


def _folder(name: str) -> Path:
    return real_file(f"traces/{name}")


def gridded(step: npt.NDArray[np.int64], column: npt.NDArray[np.int64], value: Array) -> Array:
    """(step, column) means of the values that fall into a cell; NaN where none does."""
    at, width = np.unique(column, return_inverse=True)[1], len(np.unique(column))
    cell, cells = step * width + at, (int(step.max()) + 1) * width
    total = np.bincount(cell, weights=value, minlength=cells)
    count = np.bincount(cell, minlength=cells)
    return np.divide(total, count, out=np.full(cells, np.nan), where=count > 0).reshape(-1, width)


def _days(table: Array) -> Iterator[Array]:
    """Whole days of five-minute steps, and the rest if it is more than half of one."""
    for start in range(0, len(table), STEPS):
        if len(table) - start > STEPS // 2:
            yield table[start : start + STEPS]
