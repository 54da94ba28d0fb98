"""The pricing problem of pattern generation: for each group of machines the patterns of the least reduced cost, exactly."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from bayplan.decide.pack.kernel_arrays import select_bins
from bayplan.kernels.pack.fill import Bins, Sizes
from bayplan.kernels.pack.pricing import KnapsackTable, best_patterns, can_pay, make_table
from bayplan.model import FloatArray, IntArray, ints
from bayplan.model.interrupt import StopFlag


class PricingEffort(NamedTuple):
    """How hard to look."""

    intervals: int  # of the variance
    cells: int  # of the free capacity, in the tables
    nodes: int  # of one search; beyond it nothing is proven


EFFORTS = (  # the next where one finds nothing and proves nothing; the finer the tables, the fewer nodes
    PricingEffort(16, 1_024, 2_000),
    PricingEffort(32, 16_384, 20_000),
    PricingEffort(64, 65_536, 300_000),
    PricingEffort(96, 262_144, 100_000_000),
)
FEW = 8  # bins; where there are more, the first effort is made smaller and each gives one pattern a round


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PricedPatterns:
    """Patterns that gain more than the threshold."""

    bin: IntArray  # (pattern,)
    pattern: IntArray  # (pattern, workload)
    gain: FloatArray  # (pattern,) value - cost - base
    proven: bool  # if there is none: is it proven that none exists?


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PricingProblem:
    """Maximise value - cost - base over the patterns of each bin."""

    sizes: Sizes
    bins: Bins
    value: FloatArray  # (workload,)
    base: FloatArray  # (bin,)
    minimise_ucac: bool  # the cost of a pattern is the uncertainty that it adds; otherwise it is in `base`
    threshold: float  # gains up to this do not count


def price_patterns(problem: PricingProblem, *, exhaustive: bool = False, stop: StopFlag | None = None) -> PricedPatterns:
    """Patterns of the largest gain of each bin and interval of the variance, if that is above the threshold.

    `exhaustive`: the best of all, not only some that gain. Once a stop is requested, it ends and proves nothing.
    """
    stop = StopFlag() if stop is None else stop
    for effort in EFFORTS[-1:] if exhaustive else EFFORTS:
        priced = _PricingRound(problem, effort, stop).run()
        if len(priced.gain) or priced.proven or stop.requested:
            break
    return priced


class _PricingRound:
    """One pass over all deviates and intervals of the variance; the patterns of the best gain so far."""

    def __init__(self, problem: PricingProblem, effort: PricingEffort, stop: StopFlag) -> None:
        self.problem, self.effort, self.stop = problem, effort, stop
        self.patterns: list[tuple[IntArray, IntArray, FloatArray]] = []
        self.proven = True

    def run(self) -> PricedPatterns:
        """Workloads may have deviates of their own: each deviate is searched with the workloads that need no larger one."""
        sizes, bins, value = self.problem.sizes, self.problem.bins, self.problem.value
        for deviate in np.unique(np.concatenate([sizes.d[0], bins.d[:, 0]])).tolist():
            index, order = np.flatnonzero(bins.d[:, 0] <= deviate), _order(sizes, deviate, value)
            if deviate > 0.0 and len(index) and len(order):
                self._search(deviate, index, order)
        nothing = (ints([]), np.zeros((0, len(value)), dtype=np.int64), np.zeros(0))
        parts = [np.concatenate(part) for part in zip(nothing, *self.patterns, strict=True)]
        return PricedPatterns(bin=parts[0], pattern=parts[1], gain=parts[2], proven=self.proven)

    def _search(self, deviate: float, index: IntArray, order: IntArray) -> None:
        """The bins at `index`, with the workloads in `order`."""
        sizes, value, minimise_ucac = self.problem.sizes, self.problem.value, self.problem.minimise_ucac
        bins, few = select_bins(self.problem.bins, index), len(index) <= FEW
        raised = (deviate - bins.d[:, 0]) * np.sqrt(bins.variance[:, 0]) if minimise_ucac else 0.0
        shift = self.problem.base[index] + raised
        worth = shift + self.problem.threshold
        nodes = self.effort.nodes
        limit = nodes if few or self.effort is not EFFORTS[0] else max(50, FEW * nodes // len(index))
        deviates = np.array([deviate, *sizes.d[1:, order].max(axis=1)])
        for table in _tables(sizes, bins, deviate, len(order), self.effort):
            if self.stop.requested:
                self.proven = False
                return
            if not can_pay(sizes, bins, deviate, value, minimise_ucac, order, worth, table):
                continue
            make_table(sizes, deviate, value, minimise_ucac, order, table)
            pattern = np.zeros((len(index), len(value)), dtype=np.int64)
            best, seen = worth.copy(), np.zeros(len(index), dtype=np.int64)
            best_patterns(sizes, bins, deviates, value, minimise_ucac, order, table, limit, worth, pattern, best, seen)
            better = np.flatnonzero(best > worth)
            self.patterns.append((index[better], pattern[better], (best - shift)[better]))
            self.proven = self.proven and bool((seen >= 0).all())
            worth = worth if few else best


def _order(sizes: Sizes, deviate: float, value: FloatArray) -> IntArray:
    """Workloads that need no larger deviate and have a value, the largest value for its size first."""
    size = sizes.mean[0] + deviate * np.sqrt(sizes.variance[0])
    valuable = np.flatnonzero((sizes.d[0] <= deviate) & (value > 0.0))
    return valuable[np.argsort(-value[valuable] / np.maximum(size[valuable], 1e-12), kind="stable")]


def _tables(sizes: Sizes, bins: Bins, deviate: float, workloads: int, effort: PricingEffort) -> Iterator[KnapsackTable]:
    """A knapsack table for each interval, in the same memory; together they cover every variance that a pattern can have."""
    top = np.sqrt(_largest_variance(sizes, bins, deviate))
    edge = np.square(np.linspace(0.0, max(top, 1e-6) * (1.0 + 1e-9), effort.intervals + 1)).tolist()
    bound, cell = np.empty((workloads + 1, effort.cells + 1)), max(float(bins.free_mean[:, 0].max()), 1e-9) / effort.cells
    weight, value = np.zeros(workloads), np.zeros(workloads)
    for low, high in pairwise(edge):
        yield KnapsackTable(low=low, high=high, bound=bound, weight=weight, value=value, cell_width=cell)


def _largest_variance(sizes: Sizes, bins: Bins, deviate: float) -> float:
    """No pattern has more: rate * (S - B) + deviate * sqrt(S) <= free, with the least mean that comes with a variance."""
    varies = sizes.variance[0] > 0
    rate = float((sizes.mean[0][varies] / sizes.variance[0][varies]).min()) if varies.any() else 1.0
    free, start = np.maximum(0.0, bins.free_mean[:, 0]), bins.variance[:, 0]
    root = (free + rate * start) * 2.0 / (deviate + np.sqrt(deviate * deviate + 4.0 * rate * (free + rate * start)))
    return float(np.maximum(np.square(root), start).max()) * (1.0 + 1e-9)
