"""New patterns for a master problem: for each group of machines those of the least reduced cost, exactly."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from bayplan.decide.pack.bins import chosen
from bayplan.kernels.pack.fill import Bins, Sizes
from bayplan.kernels.pack.pricing import Table, best_patterns, make_table, may_pay
from bayplan.model import FloatArray, IntArray, ints


class Effort(NamedTuple):
    """How hard to look."""

    intervals: int  # of the variance
    cells: int  # of the room, in the tables
    nodes: int  # of one search; beyond it nothing is proven


EFFORTS = (  # the next where one finds nothing and proves nothing; the finer the tables, the fewer nodes
    Effort(16, 1_024, 2_000),
    Effort(32, 16_384, 20_000),
    Effort(64, 65_536, 300_000),
    Effort(96, 262_144, 100_000_000),
)
FEW = 8  # bins; where there are more, the first effort is made smaller and each gives one pattern a round


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Found:
    """Patterns that gain more than was asked for."""

    bin: IntArray  # (found,)
    pattern: IntArray  # (found, service)
    gain: FloatArray  # (found,) value - cost - base
    proven: bool  # if there is none: is there really none?


def price_patterns(
    sizes: Sizes, bins: Bins, value: FloatArray, base: FloatArray, *, priced: bool, least: float, thorough: bool = False
) -> Found:
    """Patterns with the largest value - cost - base of each bin and interval of the variance, if that is more than `least`.

    `priced`: the cost is the uncertainty that a pattern adds; otherwise it is in `base` (bin,). `thorough`: the best of all, not
    only some that gain.
    """
    for effort in EFFORTS[-1:] if thorough else EFFORTS:
        found = _Search(sizes, bins, value, base, priced, least).go(effort)
        if len(found.gain) or found.proven:
            break
    return found


class _Search:
    """One round over all levels and intervals; what it has found so far."""

    def __init__(self, sizes: Sizes, bins: Bins, value: FloatArray, base: FloatArray, priced: bool, least: float) -> None:
        self.sizes, self.bins, self.value, self.base, self.priced, self.least = sizes, bins, value, base, priced, least
        self.found: list[tuple[IntArray, IntArray, FloatArray]] = []
        self.proven = True

    def go(self, effort: Effort) -> Found:
        """Services may have deviates of their own: every level is searched with the services that ask for no more."""
        for level in np.unique(np.concatenate([self.sizes.d[0], self.bins.d[:, 0]])).tolist():
            some, order = np.flatnonzero(self.bins.d[:, 0] <= level), _order(self.sizes, level, self.value)
            if level > 0.0 and len(some) and len(order):
                self._level(level, some, order, effort)
        nothing = (ints([]), np.zeros((0, len(self.value)), dtype=np.int64), np.zeros(0))
        parts = [np.concatenate(part) for part in zip(nothing, *self.found, strict=True)]
        return Found(bin=parts[0], pattern=parts[1], gain=parts[2], proven=self.proven)

    def _level(self, level: float, some: IntArray, order: IntArray, effort: Effort) -> None:
        part, few = chosen(self.bins, some), len(some) <= FEW
        shift = self.base[some] + ((level - part.d[:, 0]) * np.sqrt(part.variance[:, 0]) if self.priced else 0.0)
        worth = shift + self.least
        limit = effort.nodes if few or effort is not EFFORTS[0] else max(50, FEW * effort.nodes // len(some))
        levels = np.array([level, *self.sizes.d[1:, order].max(axis=1)])
        for table in _tables(self.sizes, part, level, len(order), effort):
            if not may_pay(self.sizes, part, level, self.value, self.priced, order, worth, table):
                continue
            make_table(self.sizes, level, self.value, self.priced, order, table)
            pattern = np.zeros((len(some), len(self.value)), dtype=np.int64)
            best, nodes = worth.copy(), np.zeros(len(some), dtype=np.int64)
            best_patterns(self.sizes, part, levels, self.value, self.priced, order, table, limit, worth, pattern, best, nodes)
            better = np.flatnonzero(best > worth)
            self.found.append((some[better], pattern[better], (best - shift)[better]))
            self.proven = self.proven and bool((nodes >= 0).all())
            worth = worth if few else best


def _order(sizes: Sizes, level: float, value: FloatArray) -> IntArray:
    """Services that ask for no more than this level and are worth something, the most worth for their size first."""
    size = sizes.mean[0] + level * np.sqrt(sizes.variance[0])
    some = np.flatnonzero((sizes.d[0] <= level) & (value > 0.0))
    return some[np.argsort(-value[some] / np.maximum(size[some], 1e-12), kind="stable")]


def _tables(sizes: Sizes, bins: Bins, level: float, services: int, effort: Effort) -> Iterator[Table]:
    """A table for each interval, in the same place; together they hold every variance that a pattern can have."""
    top = np.sqrt(_largest_variance(sizes, bins, level))
    edge = np.square(np.linspace(0.0, max(top, 1e-6) * (1.0 + 1e-9), effort.intervals + 1)).tolist()
    bound, cell = np.empty((services + 1, effort.cells + 1)), max(float(bins.room[:, 0].max()), 1e-9) / effort.cells
    weight, value = np.zeros(services), np.zeros(services)
    for low, high in pairwise(edge):
        yield Table(low=low, high=high, bound=bound, weight=weight, value=value, cell=cell)


def _largest_variance(sizes: Sizes, bins: Bins, level: float) -> float:
    """No pattern has more: rate * (S - B) + level * sqrt(S) <= room, with the least mean that comes with a variance."""
    varies = sizes.variance[0] > 0
    rate = float((sizes.mean[0][varies] / sizes.variance[0][varies]).min()) if varies.any() else 1.0
    room, start = np.maximum(0.0, bins.room[:, 0]), bins.variance[:, 0]
    root = (room + rate * start) * 2.0 / (level + np.sqrt(level * level + 4.0 * rate * (room + rate * start)))
    return float(np.maximum(np.square(root), start).max()) * (1.0 + 1e-9)
