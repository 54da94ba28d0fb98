"""The most containers of a workload that a machine still takes, and machines filled one after the other ([UCaC] Algorithm 2).

The chance constraint of [UCaC] (2): mean + d sqrt(variance) <= capacity, for each resource whose usage is random. On a machine
the largest `d` of the workloads that run there counts. What is certain is a plain sum.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import allocating_kernel

ROUNDING = 1e-10  # of the free mean


class Sizes(NamedTuple):
    """What one container of each workload needs."""

    mean: npt.NDArray[np.float64]  # (chance, workload)
    variance: npt.NDArray[np.float64]  # (chance, workload)
    d: npt.NDArray[np.float64]  # (chance, workload)
    request: npt.NDArray[np.int64]  # (resource, workload)


class Bins(NamedTuple):
    """What machines, or groups of equal machines, have left."""

    capacity: npt.NDArray[np.float64]  # (bin, chance)
    free_mean: npt.NDArray[np.float64]  # (bin, chance) capacity less the mean of what runs there
    variance: npt.NDArray[np.float64]  # (bin, chance) of what runs there
    d: npt.NDArray[np.float64]  # (bin, chance) the largest of what runs there, 0 if nothing does
    free: npt.NDArray[np.int64]  # (bin, resource)
    max_count: npt.NDArray[np.int64]  # (bin, workload) containers at most: 0 where the workload may not run


@allocating_kernel
def chance_holds(sizes, bins, i, k, w, q):
    """Does chance constraint q hold with w more containers of workload k?"""
    d = max(bins.d[i, q], sizes.d[q, k]) if w > 0 else bins.d[i, q]
    used = w * sizes.mean[q, k] + d * np.sqrt(bins.variance[i, q] + w * sizes.variance[q, k])
    return used <= bins.free_mean[i, q] + ROUNDING * (abs(bins.free_mean[i, q]) + used)


@allocating_kernel
def max_containers(sizes, bins, i, k, wanted):
    """The most containers of workload k, up to `wanted`, that bin i takes: the root of a quadratic, corrected by trying."""
    w = min(wanted, bins.max_count[i, k])
    for r in range(sizes.request.shape[0]):
        if sizes.request[r, k] > 0:
            w = min(w, bins.free[i, r] // sizes.request[r, k])
    for q in range(sizes.mean.shape[0]):
        if w <= 0:
            return 0
        if chance_holds(sizes, bins, i, k, w, q):
            continue
        free_mean, mean, variance = bins.free_mean[i, q], sizes.mean[q, k], sizes.variance[q, k]
        d = max(bins.d[i, q], sizes.d[q, k])
        above = free_mean * free_mean - d * d * bins.variance[i, q]
        if free_mean <= 0.0 or above <= 0.0:
            w = 0
        else:
            half = free_mean * mean + 0.5 * d * d * variance
            root = above / (half + np.sqrt(max(0.0, half * half - mean * mean * above)))
            w = min(w, np.int64(root) + 1)
        while w > 0 and not chance_holds(sizes, bins, i, k, w, q):
            w -= 1
    return max(0, w)


@allocating_kernel
def add_containers(sizes, bins, i, k, w):
    """Add w containers of workload k to bin i."""
    for q in range(sizes.mean.shape[0]):
        bins.free_mean[i, q] -= w * sizes.mean[q, k]
        bins.variance[i, q] += w * sizes.variance[q, k]
        bins.d[i, q] = max(bins.d[i, q], sizes.d[q, k])
    for r in range(sizes.request.shape[0]):
        bins.free[i, r] -= w * sizes.request[r, k]
    bins.max_count[i, k] -= w


@allocating_kernel
def fill_in_order(sizes, bins, bin_order, workload_order, left, count_out):
    """Fill bins in order with workloads in order, each as often as it fits ([UCaC] Algorithm 2). `bins` and `left` change."""
    unplaced = left.sum()
    for i in bin_order:
        if unplaced == 0:
            return
        for k in workload_order:
            if left[k] > 0:
                w = max_containers(sizes, bins, i, k, left[k])
                if w > 0:
                    add_containers(sizes, bins, i, k, w)
                    left[k] -= w
                    unplaced -= w
                    count_out[i, k] += w
