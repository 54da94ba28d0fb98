"""The rows of a folder, and those of streams by setting, method and seed."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean

from experiments.online_clusters.settings import COLUMNS, FREE, LIMITED, MADE, READINGS, Setting
from experiments.results import Row, rows


def one_shot_file(inside: str) -> str:
    """One file for each reading: together they are too large."""
    return f"oneshot-{inside}.csv"


def stream_file(setting: Setting) -> str:
    """One file for each kind of stream."""
    return f"online-{setting.inside if setting.data == MADE else setting.data}.csv"


def grid_file(setting: Setting) -> str:
    """One file for each reading."""
    return f"grid-{setting.inside}.csv"


def grid_rows(folder: Path) -> list[dict[str, str]]:
    """Of both readings."""
    return [row for inside in (FREE, LIMITED) for row in rows(folder / f"grid-{inside}.csv")]


def one_shot_rows(folder: Path) -> list[dict[str, str]]:
    """Of both readings."""
    return [row for inside in READINGS for row in rows(folder / one_shot_file(inside))]


def stream_rows(folder: Path) -> list[dict[str, str]]:
    """Of all kinds of streams."""
    return [row for name in (FREE, LIMITED, "azure") for row in rows(folder / f"online-{name}.csv")]


class Streams:
    """What was measured of streams."""

    def __init__(self, measured: Sequence[Row]) -> None:
        self.rows = measured
        self._cells: dict[tuple[str, ...], dict[str, dict[str, Row]]] = {}
        for row in measured:
            methods = self._cells.setdefault(tuple(row[name] for name in COLUMNS), {})
            methods.setdefault(row["method"], {})[row["seed"]] = row

    def of(self, setting: Setting, method: str) -> Mapping[str, Row]:
        """Seed -> row."""
        return self._cells.get(setting.key, {}).get(method, {})

    def column(self, setting: Setting, method: str, name: str) -> dict[str, float]:
        """Seed -> a number."""
        return {seed: float(row[name]) for seed, row in self.of(setting, method).items() if row[name]}

    def bounds(self, setting: Setting) -> dict[str, float]:
        """Seed -> the lowest proven bound of the optimum."""
        found: dict[str, float] = {}
        for of_method in self._cells.get(setting.key, {}).values():
            for seed, row in of_method.items():
                if row["bound"]:
                    found[seed] = min(float(row["bound"]), found.get(seed, float("inf")))
        return found

    def ratios(self, setting: Setting, method: str) -> dict[str, float]:
        """Seed -> the bound over what a method accepted: at least the true ratio."""
        bounds = self.bounds(setting)
        values = self.column(setting, method, "value")
        return {seed: bounds[seed] / value for seed, value in values.items() if seed in bounds and value > 0}

    def known_ratios(self, setting: Setting, method: str) -> dict[str, float]:
        """Seed -> the best value of any method over what a method accepted: at most the true ratio. Where there is a bound."""
        best: dict[str, float] = {}
        for other in self._cells.get(setting.key, {}):
            for seed, value in self.column(setting, other, "value").items():
                best[seed] = max(value, best.get(seed, 0.0))
        values, bounds = self.column(setting, method, "value"), self.bounds(setting)
        return {seed: best[seed] / value for seed, value in values.items() if seed in bounds and value > 0}

    def ratio(self, setting: Setting, method: str) -> float | None:
        """The mean over seeds."""
        found = self.ratios(setting, method)
        return mean(found.values()) if found else None

    def mean(self, setting: Setting, method: str, name: str) -> float | None:
        """The mean of a column over seeds."""
        found = self.column(setting, method, name)
        return mean(found.values()) if found else None

    def winners(self, setting: Setting, method: str) -> float | None:
        """The mean share of requests accepted."""
        found = self.mean(setting, method, "winners")
        return None if found is None else found / setting.requests

    def load(self, setting: Setting) -> float | None:
        """What is asked for by what there is, on average over seeds."""
        found = {seed: float(row["load"]) for of in self._cells.get(setting.key, {}).values() for seed, row in of.items()}
        return mean(found.values()) if found else None

    def ahead(self, setting: Setting, method: str, other: str) -> float | None:
        """By how much the other's mean ratio is above the method's, over the seeds that both have."""
        return paired(self.ratios(setting, method), self.ratios(setting, other))

    def more(self, setting: Setting, method: str, other: str, name: str) -> float | None:
        """By how much the method's mean of a column is above the other's, over the seeds that both have."""
        return paired(self.column(setting, other, name), self.column(setting, method, name))


def paired(mine: Mapping[str, float], other: Mapping[str, float]) -> float | None:
    """The other's mean by mine, minus 1, over the keys of both; None if there are none."""
    both = [seed for seed in mine if seed in other]
    return mean(other[seed] for seed in both) / mean(mine[seed] for seed in both) - 1 if both else None
