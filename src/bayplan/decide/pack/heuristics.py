"""Heuristics of [UCaC]: best fit by UCaC or by a fixed size (§5.1), and Bi-level (§5.2, Algorithm 2).

Best fit: each container goes to the machine that is fullest with it, and can take it. Containers of a workload arrive one
after the other. Where one of them has gone, the next one goes too while it fits: that machine is now fuller still. So a
workload is packed by sorting machines once, and the result is that of one container at a time.

Bi-level: machines in the order of their uncertainty, workloads in that of theirs. Readings: line 6 has the variance of the
machine inside of the root, w mu_j + D sqrt(w b_j + B_i) <= V - C_i; line 10 is left out, its sigma is defined nowhere.
"""

import numpy as np

from bayplan.decide.pack.kernel_arrays import bins_of, copy_bins, sizes_of
from bayplan.decide.pack.options import PackOptions
from bayplan.decide.pack.problem import PackProblem
from bayplan.decide.pack.result import pack_result
from bayplan.kernels.pack.fill import Bins, Sizes, fill_in_order
from bayplan.model import Budget, FloatArray, IntArray, Placement, Progress, Result


def bf_ucac(problem: PackProblem, options: PackOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """Best fit by UCaC, workloads in the order of the input. It draws no random numbers."""
    clock = budget.clock()
    count = best_fit(sizes_of(problem), bins_of(problem), problem.unplaced)
    return pack_result(problem, count, seconds=clock.seconds)


def bf_nsigma(problem: PackProblem, options: PackOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """Best fit by a fixed size of each container: its mean and n deviations, D(alpha) if n is not given ([UCaC] §6).

    With fewer deviations than D(alpha) machines may violate the chance constraint; the result says how many do.
    """
    clock = budget.clock()
    sizes, bins = fixed_sizes(sizes_of(problem), bins_of(problem), problem.running, options.n_sigma)
    count = best_fit(sizes, bins, problem.unplaced)
    return pack_result(problem, count, seconds=clock.seconds, may_violate_confidence=True)


def bi_level(problem: PackProblem, options: PackOptions, *, budget: Budget, seed: int, progress: Progress) -> Result[Placement]:
    """Algorithm 2. It draws no random numbers."""
    clock = budget.clock()
    count = fill_by_uncertainty(sizes_of(problem), bins_of(problem), problem.unplaced)
    return pack_result(problem, count, seconds=clock.seconds)


def best_fit(sizes: Sizes, bins: Bins, unplaced: IntArray) -> IntArray:
    """(bin, workload) how many containers go where; ties go to the first machine."""
    bins, left = copy_bins(bins), unplaced.copy()
    count = np.zeros(bins.max_count.shape, dtype=np.int64)
    for w in np.flatnonzero(unplaced).tolist():
        order = np.argsort(-fullness(sizes, bins, w), kind="stable")
        fill_in_order(sizes, bins, order, np.array([w]), left, count)
    return count


def fullness(sizes: Sizes, bins: Bins, w: int) -> FloatArray:
    """(bin,) UCaC of the main resource with one more container of workload w, up to a constant of all bins."""
    d = np.maximum(bins.d[:, 0], sizes.d[0, w])
    used: FloatArray = sizes.mean[0, w] + d * np.sqrt(bins.variance[:, 0] + sizes.variance[0, w])
    return used + bins.capacity[:, 0] - bins.free_mean[:, 0]


def fill_by_uncertainty(sizes: Sizes, bins: Bins, unplaced: IntArray) -> IntArray:
    """(bin, workload) how many containers go where by Algorithm 2; ties go to the first."""
    mean, variance = sizes.mean[0], sizes.variance[0]
    machines = np.argsort(-bins.variance[:, 0], kind="stable")  # line 1
    workloads = np.argsort(-variance / np.maximum(mean, 1e-30), kind="stable")  # line 2
    count = np.zeros(bins.max_count.shape, dtype=np.int64)
    fill_in_order(sizes, copy_bins(bins), machines, workloads, unplaced.copy(), count)  # lines 3 to 9
    return count


def fixed_sizes(sizes: Sizes, bins: Bins, running: IntArray, n: float | None) -> tuple[Sizes, Bins]:
    """The same problem, where the size of each container is certain: its mean and n deviations."""
    deviates = sizes.d if n is None else np.full(sizes.d.shape, n)
    mean, zero = sizes.mean + deviates * np.sqrt(sizes.variance), np.zeros(sizes.mean.shape)
    free = np.maximum(0.0, bins.capacity - running @ mean.T)
    certain = bins._replace(free_mean=free, variance=np.zeros(bins.variance.shape), d=np.zeros(bins.d.shape))
    return sizes._replace(mean=mean, variance=zero, d=zero), certain
