"""Power laws of measured rows: how time, memory and bytes grow with the number of containers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import exp, log
from statistics import mean
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

from experiments.results import Row

Point = tuple[float, float]
FEWEST = 3  # points of a law
CONFIDENCE = 0.95
LEAST = 0.002  # seconds: what is shorter says nothing


class Law(NamedTuple):
    """y = factor * x^exponent, by least squares of the logarithms; the exponent lies between `low` and `high` at 95 %."""

    factor: float
    exponent: float
    low: float
    high: float
    points: int
    least: float  # x of the smallest and the largest point
    most: float
    last: float = 0.0  # y measured at `most`, on average

    def at(self, x: float) -> float:
        """The value of the law."""
        return self.factor * x**self.exponent

    def beyond(self, x: float) -> float:
        """The value of the law, and above what was measured at least linear growth from there.

        What does not grow, such as memory of an empty process, makes the exponent of a law too small to go on with.
        """
        return max(self.at(x), self.last * x / self.most) if x > self.most else self.at(x)


def fitted(points: Iterable[Point]) -> Law | None:
    """The law of points, those without a positive value left out; None for fewer than three sizes."""
    known = [(log(x), log(y)) for x, y in points if x > 0 and y > 0]
    if len({x for x, _ in known}) < FEWEST:
        return None
    x, y = (np.array(values) for values in zip(*known, strict=True))
    spread = float(((x - x.mean()) ** 2).sum())
    exponent = float(((x - x.mean()) * (y - y.mean())).sum()) / spread
    start = float(y.mean()) - exponent * float(x.mean())
    left = y - start - exponent * x
    error = (float((left**2).sum()) / (len(x) - 2) / spread) ** 0.5
    last = float(np.exp(y[x == x.max()]).mean())
    wide = float(student.ppf(0.5 + CONFIDENCE / 2, len(x) - 2)) * error
    return Law(exp(start), exponent, exponent - wide, exponent + wide, len(x), exp(x.min()), exp(x.max()), last)


def newest(measured: Iterable[Row], *keys: str) -> list[Row]:
    """The last row for each value of the keys."""
    return list({tuple(row[key] for key in keys): row for row in measured}.values())


class Quantity(NamedTuple):
    """Something that grows, and the rows that say how."""

    name: str
    unit: str
    value: Callable[[Row], float]
    counts: Callable[[Row], bool] = lambda row: True


def whole(row: Row) -> bool:
    """Was the cluster solved as a whole?"""
    return row["parts"] == "1"


def in_parts(row: Row) -> bool:
    """Was it solved in parts?"""
    return not whole(row)


def by_default(row: Row) -> bool:
    """Was it solved as `plan` does it?"""
    return row["series"] == "default"


def seconds(*columns: str) -> Callable[[Row], float]:
    """The sum of columns; nothing where that is too short to say something."""

    def value(row: Row) -> float:
        total = sum(float(row[column]) for column in columns)
        return total if total >= LEAST else 0.0

    return value


def number(column: str, times: float = 1.0) -> Callable[[Row], float]:
    """A column as a number."""
    return lambda row: float(row[column]) * times


STAGES: Mapping[str, Quantity] = {
    "load": Quantity("read the file", "s", seconds("load_s"), by_default),
    "check": Quantity("check all rules", "s", seconds("check_s"), by_default),
    "score": Quantity("score all terms", "s", seconds("score_s"), by_default),
    "prepare": Quantity("prepare, in parts", "s", seconds("preparing_s"), in_parts),
    "divide": Quantity("divide and merge parts", "s", lambda row: float(row["search_s"]) - float(row["streaming_s"]), in_parts),
    "search whole": Quantity("search, whole", "s", seconds("search_s"), whole),
    "search in parts": Quantity("search, in parts", "s", seconds("search_s"), in_parts),
    "drop": Quantity("drop moves that do not pay", "s", seconds("dropping_s"), by_default),
    "order": Quantity("order the moves", "s", seconds("ordering_s"), by_default),
    "explain": Quantity("explain the moves", "s", seconds("explaining_s"), by_default),
}
TOTALS: Mapping[str, Quantity] = {
    "job": Quantity("read and plan, whole", "s", seconds("load_s", "plan_s"), whole),
    "wall": Quantity("all, wall time", "s", seconds("wall_s"), by_default),
    "cpu": Quantity("all, processor time", "s", seconds("cpu_s"), by_default),
    "driver": Quantity("of it in the driver, in parts", "s", seconds("driver_cpu_s"), in_parts),
    "file": Quantity("size of the file", "MB", number("file_mb"), by_default),
    "memory whole": Quantity("peak memory, whole", "MB", number("peak_mb"), whole),
    "memory in parts": Quantity("peak memory of the driver, in parts", "MB", number("peak_mb"), in_parts),
    "messages": Quantity("messages", "", number("messages"), lambda row: in_parts(row) and by_default(row)),
    "sent": Quantity("sent to workers", "MB", number("bytes_sent", 2.0**-20), in_parts),
    "received": Quantity("received from workers", "MB", number("bytes_received", 2.0**-20), in_parts),
}


def points_of(quantity: Quantity, measured: Iterable[Row]) -> list[Point]:
    """Containers and the value, each measured row one point."""
    return [(float(row["containers"]), quantity.value(row)) for row in measured if quantity.counts(row)]


def laws_of(quantities: Mapping[str, Quantity], measured: Sequence[Row]) -> dict[str, Law]:
    """The laws that there are enough points for."""
    laws = {name: fitted(points_of(quantity, measured)) for name, quantity in quantities.items()}
    return {name: law for name, law in laws.items() if law is not None}


def means_of(quantity: Quantity, measured: Iterable[Row]) -> list[Point]:
    """One point for each size: the mean of its repetitions. For curves."""
    values: dict[float, list[float]] = {}
    for x, y in points_of(quantity, measured):
        if y > 0:
            values.setdefault(x, []).append(y)
    return [(x, mean(ys)) for x, ys in sorted(values.items())]
