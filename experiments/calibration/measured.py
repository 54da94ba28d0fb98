"""What was measured on the published cluster M3 (the authors' data of [RASA]), and how close a generated one must be.

The generator does not read this: tests and the calibration table do.
"""

from collections.abc import Mapping
from typing import NamedTuple


class Fact(NamedTuple):
    """A quantity of M3; `points` or `relative` is the tolerance, neither: shown, not required."""

    value: float
    points: float | None = None  # of 1
    relative: float | None = None

    def agrees(self, other: float) -> bool | None:
        """Is `other` within the tolerance? None where nothing is required."""
        if self.points is not None:
            return abs(other - self.value) <= self.points
        return None if self.relative is None else abs(other - self.value) <= self.relative * self.value


MEASURED: Mapping[str, Fact] = {
    "cpu requested": Fact(0.88350, points=0.02),
    "memory requested": Fact(0.27811, points=0.02),
    "cpu used on a machine, mean": Fact(0.85477, points=0.02),
    "cpu used on a machine, 50 %": Fact(0.95313, points=0.02),
    "cpu used on a machine, 95 %": Fact(0.99811, points=0.02),
    "memory used on a machine, mean": Fact(0.32530, points=0.02),
    "affinity of top 10 services": Fact(0.59960, points=0.05),
    "affinity of top 20 services": Fact(0.79520, points=0.05),
    "affinity of top 50 services": Fact(0.94784, points=0.05),
    "affinity of top 100 services": Fact(0.99713, points=0.05),
    "edges": Fact(344, relative=0.1),
    "services with traffic": Fact(161, relative=0.1),
    "replicas, mean": Fact(6.37112, relative=0.1),
    "replicas, 25 %": Fact(1, relative=0.0),  # small whole numbers: equal
    "replicas, 50 %": Fact(2, relative=0.0),
    "replicas, 75 %": Fact(5, relative=0.0),
    "replicas, 90 %": Fact(12, relative=0.1),
    "replicas, 95 %": Fact(26, relative=0.1),
    "replicas, 99 %": Fact(73.12, relative=0.1),
    "replicas, largest": Fact(206),
    "affinity of the heaviest edge": Fact(0.14731),
    "affinity of 10 heaviest edges": Fact(0.56562),
    "affinity of 100 heaviest edges": Fact(0.96351),
    "largest degree": Fact(34),
    "tenth largest degree": Fact(14),
    "rank correlation, traffic and replicas": Fact(0.2090),
    "rank correlation, traffic and cpu": Fact(0.2114),
    "rank correlation, replicas and cpu": Fact(0.1964),
    "cpu used on a machine, 5 %": Fact(0.20268),
    "memory used on a machine, 5 %": Fact(0.10980),
    "memory used on a machine, 50 %": Fact(0.21927),
    "memory used on a machine, 95 %": Fact(0.76543),
    "gained affinity of ORIGINAL": Fact(0.06995),
}
