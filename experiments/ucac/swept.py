"""The cells of the sweeps, and what is measured of each; other processes import this module, not the one that is run."""

from dataclasses import dataclass
from functools import lru_cache

from bayplan.model import Snapshot
from experiments.ucac import cells, times, weeks


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingCell:
    """An instance and, if one is asked for, the method that packs it."""

    setting: cells.Setting
    method: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """The first columns of its row."""
        one = self.setting
        return (one.case, str(one.services), f"{one.alpha:g}", str(one.seed), *filter(None, [self.method]))


class FigureCell(SettingCell):
    """A curve of Figure 3."""

    @property
    def key(self) -> tuple[str, ...]:
        """The first columns of its row."""
        return self.setting.case, self.method


@dataclass(frozen=True, slots=True, kw_only=True)
class WeekCell:
    """A method that packs a week."""

    method: str
    n: float | None
    seed: int

    @property
    def key(self) -> tuple[str, ...]:
        """The first columns of its rows."""
        return self.method, "" if self.n is None else f"{self.n:g}", str(self.seed)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeCell:
    """A column generation that is timed."""

    services: int
    alpha: float
    seed: int
    goal: str

    @property
    def key(self) -> tuple[str, ...]:
        """The first columns of its row."""
        return str(self.services), f"{self.alpha:g}", str(self.seed), self.goal


@lru_cache(maxsize=1)
def instance(setting: cells.Setting, size: cells.Size) -> Snapshot:
    """Made once for all methods of a setting, which come side by side."""
    return cells.instance(setting, size)


def packing(cell: SettingCell, size: cells.Size) -> dict[str, str]:
    """The columns of a packing."""
    return cells.measured(cell.setting, instance(cell.setting, size), cell.method, size)


def week(cell: WeekCell, days: weeks.Days) -> list[dict[str, str]]:
    """The columns of seven days."""
    return weeks.week_of(cell.method, cell.n, cell.seed, days)


def curve(cell: FigureCell, size: cells.Size) -> dict[str, str]:
    """UCaC of every machine that runs something."""
    setting, snapshot = cell.setting, instance(cell.setting, size)
    after = cells.answer(cells.packed(snapshot, cell.method, setting.seed, size.budget)[0])
    cores = sorted(cells.used(snapshot.cluster, after, setting.alpha), reverse=True)
    about = {"services": str(setting.services), "alpha": f"{setting.alpha:g}", "seed": str(setting.seed)}
    return {**about, "ucac": " ".join(f"{value:.2f}" for value in cores if value > 0)}


def generated(cell: TimeCell, size: cells.Size) -> dict[str, str]:
    """The columns of a column generation."""
    return times.generated(cell.services, cell.alpha, cell.seed, cell.goal, size)


def cutting_stock(cell: SettingCell, size: cells.Size) -> dict[str, str]:
    """The columns of a cutting stock step."""
    return times.cutting_stock(cell.setting, size)
