"""Tails of sums of measured usages, by drawing from the samples.

A deviation that makes n mean + D(alpha) s sqrt(n) the alpha-quantile of the sum of n usages is

    s(n) = (quantile of the sum of n - n mean) / (D(alpha) sqrt(n)).

It depends on n, most of all where tails are long, and a machine may run any number of a workload's containers: so the largest
of n = 1, 2, 4, ... up to as many as fit counts, and no less than the samples' own deviation, to which s(n) tends and which
rules where many different workloads share a machine. Quantiles are rounded up: the error of drawing, at two deviations, is added.
What no sample shows is not in it: a tail of 0.1 % needs several thousand samples.
"""

import math
from collections.abc import Iterator, Mapping

import numpy as np

from bayplan.model import NO_LIMIT, Cluster, FloatArray, IntArray, Placement
from bayplan.score.confidence import ROUNDING, deviate
from bayplan.score.counts import containers_on, workload_counts
from bayplan.score.monte_carlo import CHUNK, DRAWS

POOLED = 64  # containers beyond which s(n) is not followed: it tends to the samples' deviation
IN_THE_TAIL = 400  # draws above the quantile, on average: its rank is rounded up by a tenth of them
LEAST_DRAWS, MOST_DRAWS = 10_000, 1_000_000


def pooled_std(value: FloatArray, alpha: float, most: int, rng: np.random.Generator) -> float:
    """The deviation per container that stands for the tail of sums of 1 to `most` draws from the samples."""
    own = float(value.std(ddof=1)) if len(value) > 1 else 0.0
    if own == 0:
        return 0.0
    draws = min(max(LEAST_DRAWS, math.ceil(IN_THE_TAIL / (1 - alpha))), MOST_DRAWS)
    mean, largest = float(value.mean()), own
    for n, total in _sums(value, sizes(most), draws, rng):
        largest = max(largest, (_upper(total, alpha) - n * mean) / (deviate(alpha) * math.sqrt(n)))
    return largest


def sizes(most: int) -> list[int]:
    """1, 2, 4, ... and `most` itself, up to 64."""
    last = max(1, min(most, POOLED))
    return sorted({*(2**k for k in range(last.bit_length())), last})


def _sums(value: FloatArray, counts: list[int], draws: int, rng: np.random.Generator) -> Iterator[tuple[int, FloatArray]]:
    """The sums of n draws, for each n: each continues the one before."""
    total, n = np.zeros(draws), 0
    for count in counts:
        for _ in range(count - n):
            total += value[rng.integers(len(value), size=draws)]
        n = count
        yield n, total


def _upper(total: FloatArray, alpha: float) -> float:
    """The alpha-quantile of what was drawn, and two standard errors of its rank more."""
    draws = len(total)
    rank = math.ceil(alpha * draws + 2 * math.sqrt(draws * alpha * (1 - alpha)))
    rank = min(rank, draws) - 1
    return float(np.partition(total, rank)[rank])


# ---- violations ----------------------------------------------------------------------------------------------------------------


def violation_rate_of_samples(
    cluster: Cluster,
    placement: Placement,
    resource: int,
    samples: Mapping[int, FloatArray],
    draws: int = DRAWS,
    seed: int = 0,
) -> float:
    """The share of (machine, draw) with usage above capacity, over the machines that run something, usage drawn from samples."""
    busy = containers_on(cluster, placement) > 0
    rates = violation_rates_of_samples(cluster, placement, resource, samples, draws, seed)
    return float(rates[busy].mean()) if busy.any() else 0.0


def violation_rates_of_samples(
    cluster: Cluster,
    placement: Placement,
    resource: int,
    samples: Mapping[int, FloatArray],
    draws: int = DRAWS,
    seed: int = 0,
) -> FloatArray:
    """(machine,) the share of draws with usage above capacity, each container's usage drawn from its workload's samples.

    A workload without samples is drawn from the normal distribution, cut off at 0 and at the limit. O(containers * draws) time.
    """
    rng = np.random.default_rng(seed)
    count = workload_counts(cluster, placement).T.tocsr()  # (machine, workload)
    rate = np.zeros(len(cluster.machines.name))
    for m in range(len(rate)):
        cells = slice(count.indptr[m], count.indptr[m + 1])
        running = np.repeat(count.indices[cells], count.data[cells].astype(np.int64)).astype(np.int64)
        if len(running):
            limit = cluster.machines.capacity[m, resource] * (1 + ROUNDING)
            totals = _totals(cluster, resource, running, samples, draws, rng)
            rate[m] = sum(int(np.count_nonzero(total > limit)) for total in totals) / draws
    return rate


def _totals(
    cluster: Cluster,
    resource: int,
    running: IntArray,  # workload of each container
    samples: Mapping[int, FloatArray],
    draws: int,
    rng: np.random.Generator,
) -> Iterator[FloatArray]:
    """The machine's usage in each draw, a chunk of draws at a time."""
    size = max(1, CHUNK // len(running))
    for start in range(0, draws, size):
        chunk = min(size, draws - start)
        total = np.zeros(chunk)
        for w in running.tolist():
            total += (
                samples[w][rng.integers(len(samples[w]), size=chunk)]
                if w in samples
                else _clipped(cluster, resource, w, rng, chunk)
            )
        yield total


def _clipped(cluster: Cluster, resource: int, w: int, rng: np.random.Generator, draws: int) -> FloatArray:
    workloads = cluster.workloads
    mean, std, limit = (part[w, resource] for part in (workloads.usage_mean, workloads.usage_std, workloads.limit))
    return np.clip(rng.normal(mean, std, draws), 0.0, np.inf if limit == NO_LIMIT else float(limit))
