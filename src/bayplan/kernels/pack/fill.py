"""How many containers of a service a machine still takes, and machines filled one after the other (003 Algorithm 2).

The chance constraint of 003 (2): mean + d sqrt(variance) <= room, for each resource whose usage is random. On a machine the
largest `d` of the services that run there counts. What is certain is a plain sum.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

ROUNDING = 1e-10  # of the room


class Sizes(NamedTuple):
    """What one container of each service needs."""

    mean: npt.NDArray[np.float64]  # (chance, service)
    variance: npt.NDArray[np.float64]  # (chance, service)
    d: npt.NDArray[np.float64]  # (chance, service)
    request: npt.NDArray[np.int64]  # (resource, service)


class Bins(NamedTuple):
    """What machines, or groups of equal machines, have left."""

    full: npt.NDArray[np.float64]  # (bin, chance) capacity
    room: npt.NDArray[np.float64]  # (bin, chance) capacity less the mean of what runs there
    variance: npt.NDArray[np.float64]  # (bin, chance) of what runs there
    d: npt.NDArray[np.float64]  # (bin, chance) the largest of what runs there, 0 if nothing does
    free: npt.NDArray[np.int64]  # (bin, resource)
    most: npt.NDArray[np.int64]  # (bin, service) containers at most: 0 where the service may not run


@njit(cache=True)
def holds(sizes, bins, i, k, w, q):
    """Does chance constraint q hold with w more containers of service k?"""
    d = max(bins.d[i, q], sizes.d[q, k]) if w > 0 else bins.d[i, q]
    used = w * sizes.mean[q, k] + d * np.sqrt(bins.variance[i, q] + w * sizes.variance[q, k])
    return used <= bins.room[i, q] + ROUNDING * (abs(bins.room[i, q]) + used)


@njit(cache=True)
def most_of(sizes, bins, i, k, wanted):
    """The most containers of service k, up to `wanted`, that bin i takes: the root of a quadratic, put right by trying."""
    w = min(wanted, bins.most[i, k])
    for r in range(sizes.request.shape[0]):
        if sizes.request[r, k] > 0:
            w = min(w, bins.free[i, r] // sizes.request[r, k])
    for q in range(sizes.mean.shape[0]):
        if w <= 0:
            return 0
        if holds(sizes, bins, i, k, w, q):
            continue
        room, mean, variance = bins.room[i, q], sizes.mean[q, k], sizes.variance[q, k]
        d = max(bins.d[i, q], sizes.d[q, k])
        above = room * room - d * d * bins.variance[i, q]
        if room <= 0.0 or above <= 0.0:
            w = 0
        else:
            half = room * mean + 0.5 * d * d * variance
            root = above / (half + np.sqrt(max(0.0, half * half - mean * mean * above)))
            w = min(w, np.int64(root) + 1)
        while w > 0 and not holds(sizes, bins, i, k, w, q):
            w -= 1
    return max(0, w)


@njit(cache=True)
def put(sizes, bins, i, k, w):
    """Put w containers of service k into bin i."""
    for q in range(sizes.mean.shape[0]):
        bins.room[i, q] -= w * sizes.mean[q, k]
        bins.variance[i, q] += w * sizes.variance[q, k]
        bins.d[i, q] = max(bins.d[i, q], sizes.d[q, k])
    for r in range(sizes.request.shape[0]):
        bins.free[i, r] -= w * sizes.request[r, k]
    bins.most[i, k] -= w


@njit(cache=True)
def fill_in_order(sizes, bins, bin_order, service_order, left, count_out):
    """Fill bins in one order with services in another, each as often as it fits (003 Algorithm 2). `bins` and `left` change."""
    waiting = left.sum()
    for i in bin_order:
        if waiting == 0:
            return
        for k in service_order:
            if left[k] > 0:
                w = most_of(sizes, bins, i, k, left[k])
                if w > 0:
                    put(sizes, bins, i, k, w)
                    left[k] -= w
                    waiting -= w
                    count_out[i, k] += w
