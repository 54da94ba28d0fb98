"""Packing as obvious loops: does a pattern fit, which one is worth most, machines filled one container at a time."""

from itertools import product
from math import sqrt

from bayplan.kernels.pack.fill import Bins, Sizes

ROUNDING = 1e-10


def fits(sizes: Sizes, bins: Bins, i: int, count: list[int]) -> bool:
    """May bin i take these containers beside what it has?"""
    if any(count[k] > bins.max_count[i, k] for k in range(len(count))):
        return False
    for r in range(len(sizes.request)):
        if sum(n * int(sizes.request[r, k]) for k, n in enumerate(count)) > bins.free[i, r]:
            return False
    for q in range(len(sizes.mean)):
        d = max([float(bins.d[i, q]), *(float(sizes.d[q, k]) for k, n in enumerate(count) if n)])
        mean = sum(n * float(sizes.mean[q, k]) for k, n in enumerate(count))
        variance = float(bins.variance[i, q]) + sum(n * float(sizes.variance[q, k]) for k, n in enumerate(count))
        used = mean + d * sqrt(variance)
        if used > bins.free_mean[i, q] + ROUNDING * (abs(bins.free_mean[i, q]) + used):
            return False
    return True


def most_of(sizes: Sizes, bins: Bins, i: int, k: int, wanted: int) -> int:
    """One more, until it does not fit."""
    count = [0] * sizes.mean.shape[1]
    while count[k] < wanted:
        count[k] += 1
        if not fits(sizes, bins, i, count):
            return count[k] - 1
    return count[k]


def best_pattern(sizes: Sizes, bins: Bins, i: int, value: list[float], minimise_ucac: bool) -> tuple[float, tuple[int, ...]]:
    """The largest value - cost of all patterns, by trying all of them."""
    best: tuple[float, tuple[int, ...]] = (0.0, (0,) * len(value))
    for count in product(*(range(int(bins.max_count[i, k]) + 1) for k in range(len(value)))):
        if fits(sizes, bins, i, list(count)):
            best = max(best, (worth(sizes, bins, i, list(count), value, minimise_ucac), count))
    return best


def worth(sizes: Sizes, bins: Bins, i: int, count: list[int], value: list[float], minimise_ucac: bool) -> float:
    """Value - cost of one pattern."""
    total = sum(n * v for n, v in zip(count, value, strict=True))
    if not minimise_ucac:
        return total
    d = max([float(bins.d[i, 0]), *(float(sizes.d[0, k]) for k, n in enumerate(count) if n)])
    start = float(bins.variance[i, 0])
    variance = start + sum(n * float(sizes.variance[0, k]) for k, n in enumerate(count))
    return total - (d * sqrt(variance) - float(bins.d[i, 0]) * sqrt(start))
