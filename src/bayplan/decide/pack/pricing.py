"""The pricing problem of pattern generation: for each group of machines the pattern of the least reduced cost."""

from dataclasses import dataclass, field

import numpy as np

from bayplan.decide.pack.kernel_arrays import select_bins
from bayplan.kernels.pack.fill import Bins, Sizes
from bayplan.model import FloatArray, IntArray, ints

MEMORY = 2**24  # entries of a table, 128 MB
FEW = 8  # bins; where there are more, each gives one pattern


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


def gathered(problem: PricingProblem, parts: list[tuple[IntArray, IntArray, FloatArray]], *, proven: bool) -> PricedPatterns:
    """Lists of bins, patterns and gains as one."""
    nothing = (ints([]), np.zeros((0, len(problem.value)), dtype=np.int64), np.zeros(0))
    whole = [np.concatenate(part) for part in zip(nothing, *parts, strict=True)]
    return PricedPatterns(bin=whole[0], pattern=whole[1], gain=whole[2], proven=proven)


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
