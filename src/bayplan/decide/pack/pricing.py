"""The pricing problem of pattern generation: for each group of machines the pattern of the least reduced cost, exactly."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from bayplan.decide.pack.kernel_arrays import select_bins
from bayplan.kernels.pack.fill import Bins, Sizes
from bayplan.kernels.pack.pricing import KnapsackTable, PatternSearch, best_patterns, can_pay, make_table, survivors
from bayplan.model import Budget, FloatArray, IntArray, ints

INTERVALS = 64  # of the variance
CELLS = (4_096, 16_384, 65_536, 262_144)  # of the free capacity, in tables one after the other, while an interval may still pay
FINE = 2  # the first of them with which it pays to search
NODES = 2_000  # of one search with any but the last table
LIMITS = (20_000, 2**60)  # nodes of one search with the last table, first and second time: beyond it nothing is proven
MEMORY = 2**24  # entries of a table, 128 MB
PATIENCE = 200_000  # nodes between two looks at the clock: some 50 ms
LOOKS = 10  # of those in one pricing where the budget has iterations and no seconds: without them one search may not end
FEW = 8  # bins; where there are more, each gives one pattern


def never() -> bool:
    """No limit of time."""
    return False


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
    memory: FloatArray = field(default_factory=lambda: np.empty(MEMORY))  # for tables


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DeviateProblem:
    """The part of a pricing problem in which one deviate counts: workloads that need no larger one, and their bins."""

    whole: PricingProblem
    deviates: FloatArray  # (chance,) that count
    index: IntArray  # (bin,) in the whole problem
    order: IntArray  # workloads, the largest value for its size first
    bins: Bins
    shift: FloatArray  # (bin,) what a pattern must be worth to gain more than nothing

    @property
    def few(self) -> bool:
        """Are there so few bins that each should give many patterns?"""
        return len(self.index) <= FEW


def deviate_problems(problem: PricingProblem) -> list[DeviateProblem]:
    """Workloads may have deviates of their own: each deviate is searched with the workloads that need no larger one."""
    sizes, bins, value, parts = problem.sizes, problem.bins, problem.value, []
    for deviate in np.unique(np.concatenate([sizes.d[0], bins.d[:, 0]])).tolist():
        index, order = np.flatnonzero(bins.d[:, 0] <= deviate), order_of(sizes, deviate, value)
        if deviate > 0.0 and len(index) and len(order):
            raised = (deviate - bins.d[index, 0]) * np.sqrt(bins.variance[index, 0]) if problem.minimise_ucac else 0.0
            parts.append(
                DeviateProblem(
                    whole=problem,
                    deviates=np.array([deviate, *sizes.d[1:, order].max(axis=1)]),
                    index=index,
                    order=order,
                    bins=select_bins(bins, index),
                    shift=problem.base[index] + raised,
                )
            )
    return parts


def most_looks(budget: Budget) -> float:
    """How many times PATIENCE nodes one pricing may search: without a limit where seconds end it, or nothing does."""
    return LOOKS if budget.seconds is None and budget.iterations is not None else float("inf")


def price_patterns(problem: PricingProblem, *, over: Callable[[], bool] = never, looks: float = float("inf")) -> PricedPatterns:
    """The pattern of the largest gain of each bin, and those of intervals of the variance, if that is above the threshold.

    Once `over` says so, or after this many looks at it within searches, it ends and proves nothing.
    """
    for limit in LIMITS:
        search = _ExactSearch(problem, limit, over, looks)
        for part in deviate_problems(problem):
            search.run(part)
        priced = search.priced()
        if len(priced.gain) or priced.proven or over():
            break
    return priced


def gathered(problem: PricingProblem, parts: list[tuple[IntArray, IntArray, FloatArray]], *, proven: bool) -> PricedPatterns:
    """Lists of bins, patterns and gains as one."""
    nothing = (ints([]), np.zeros((0, len(problem.value)), dtype=np.int64), np.zeros(0))
    whole = [np.concatenate(part) for part in zip(nothing, *parts, strict=True)]
    return PricedPatterns(bin=whole[0], pattern=whole[1], gain=whole[2], proven=proven)


class _ExactSearch:
    """One pass over all deviates and intervals of the variance; the patterns of the best gain so far."""

    def __init__(self, problem: PricingProblem, limit: int, over: Callable[[], bool], looks: float) -> None:
        self.problem, self.limit, self.clock_over, self.looks = problem, limit, over, looks
        self.patterns: list[tuple[IntArray, IntArray, FloatArray]] = []
        self.proven = True

    def over(self) -> bool:
        """Is there no time, or no node, for more?"""
        return self.looks <= 0 or self.clock_over()

    def priced(self) -> PricedPatterns:
        """What it has found."""
        return gathered(self.problem, self.patterns, proven=self.proven)

    def run(self, part: DeviateProblem) -> None:
        """Every interval, so that together they cover every variance that a pattern can have."""
        top = np.sqrt(largest_variance(self.problem.sizes, part.bins, float(part.deviates[0])))
        edge = np.square(np.linspace(0.0, max(top, 1e-6) * (1.0 + 1e-9), INTERVALS + 1)).tolist()
        worth = part.shift + self.problem.threshold
        for low, high in pairwise(edge):
            best = self._interval(part, low, high, worth)
            worth = worth if part.few else best

    def _interval(self, part: DeviateProblem, low: float, high: float, worth: FloatArray) -> FloatArray:
        """(bin,) what its best patterns are worth; `worth` where none is worth more.

        Each table is finer than the one before, and has only the workloads that may be in a pattern that pays by the one before.
        """
        problem, order = self.problem, part.order
        sizes, value, priced, d = problem.sizes, problem.value, problem.minimise_ucac, float(part.deviates[0])
        keep = np.zeros(len(order), dtype=np.bool_)
        for level in range(len(CELLS)):
            if self.over():
                self.proven = False
                return worth
            table = self._table(part, low, high, len(order), CELLS[level])
            if level == 0 and not can_pay(sizes, part.bins, d, value, priced, order, worth, table):
                return worth
            make_table(sizes, d, value, priced, order, table)
            if survivors(sizes, part.bins, d, priced, order, worth, table, keep) == 0:
                return worth
            last = level == len(CELLS) - 1
            if level >= FINE:
                best, ended = self._search(part, order, table, worth, self.limit if last else NODES)
                if ended or last:
                    self.proven = self.proven and ended
                    return best
            order = order[keep[: len(order)]]
        return worth

    def _search(
        self, part: DeviateProblem, order: IntArray, table: KnapsackTable, worth: FloatArray, limit: int
    ) -> tuple[FloatArray, bool]:
        """(bin,) what the best patterns of the interval are worth, which are added if that is all; and is it?"""
        problem, n_b = self.problem, len(part.index)
        pattern, best = np.zeros((n_b, len(problem.value)), dtype=np.int64), worth.copy()
        cut, state = np.zeros(n_b, dtype=np.bool_), _state(problem.sizes, len(order))
        known = problem.sizes, part.bins, part.deviates, problem.value, problem.minimise_ucac, order, table
        while not best_patterns(*known, PATIENCE, limit, worth, state, pattern, best, cut):
            self.looks -= 1
            if self.over():
                cut[:] = True
                break
        ended = not cut.any()
        if ended or limit != NODES:
            better = np.flatnonzero(best > worth)
            self.patterns.append((part.index[better], pattern[better], (best - part.shift)[better]))
        return best, ended

    def _table(self, part: DeviateProblem, low: float, high: float, workloads: int, most_cells: int) -> KnapsackTable:
        """The knapsack of an interval, in the memory of the problem, which the next one takes."""
        cells = max(16, min(most_cells, MEMORY // (workloads + 1) - 1))
        bound = self.problem.memory[: (workloads + 1) * (cells + 1)].reshape(workloads + 1, cells + 1)
        width = max(float(part.bins.free_mean[:, 0].max()), 1e-9) / cells
        return KnapsackTable(
            low=low, high=high, bound=bound, weight=np.zeros(workloads), value=np.zeros(workloads), cell_width=width
        )


def _state(sizes: Sizes, workloads: int) -> PatternSearch:
    return PatternSearch(
        at=np.zeros(4, dtype=np.int64),
        sums=np.zeros(2),
        used=np.zeros((2, len(sizes.mean))),
        free=np.zeros(len(sizes.request), dtype=np.int64),
        pattern=np.zeros(workloads, dtype=np.int64),
    )


def order_of(sizes: Sizes, deviate: float, value: FloatArray) -> IntArray:
    """Workloads that need no larger deviate and have a value, the largest value for its size first."""
    size = sizes.mean[0] + deviate * np.sqrt(sizes.variance[0])
    valuable = np.flatnonzero((sizes.d[0] <= deviate) & (value > 0.0))
    return valuable[np.argsort(-value[valuable] / np.maximum(size[valuable], 1e-12), kind="stable")]


def largest_variance(sizes: Sizes, bins: Bins, deviate: float) -> float:
    """No pattern has more: rate * (S - B) + deviate * sqrt(S) <= free, with the least mean that comes with a variance."""
    varies = sizes.variance[0] > 0
    rate = float((sizes.mean[0][varies] / sizes.variance[0][varies]).min()) if varies.any() else 1.0
    free, start = np.maximum(0.0, bins.free_mean[:, 0]), bins.variance[:, 0]
    root = (free + rate * start) * 2.0 / (deviate + np.sqrt(deviate * deviate + 4.0 * rate * (free + rate * start)))
    return float(np.maximum(np.square(root), start).max()) * (1.0 + 1e-9)
