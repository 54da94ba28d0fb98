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
from dataclasses import dataclass

import numpy as np

from bayplan.model import NO_LIMIT, Cluster, FloatArray, IntArray, Placement, floats, ints
from bayplan.score.confidence import ROUNDING, deviate
from bayplan.score.counts import containers_on, workload_counts
from bayplan.score.monte_carlo import BLOCK, CHUNK, DRAWS, groups, rates_in_turn, stream

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
    return rates_in_turn(sampled_draws(cluster, placement, resource, samples, draws, seed))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SampledDraws:
    """Usage drawn from samples, machine after machine within a block."""

    workload: IntArray  # of each container, machine by machine
    first: IntArray  # (machine + 1,) where the containers of each machine begin
    limit: FloatArray  # (machine,) what is not above capacity
    samples: Mapping[int, FloatArray]  # by workload
    normal: tuple[FloatArray, FloatArray, FloatArray]  # (workload,) mean, deviation and limit, for workloads without samples
    draws: int
    seed: int
    blocks: tuple[IntArray, ...]

    @property
    def without_draws(self) -> FloatArray:
        """(machine,) no machine overflows that runs nothing."""
        return np.zeros(len(self.limit))

    def rates(self, block: int) -> FloatArray:
        """The rates of the machines of a block."""
        rng = stream(self.seed, block)
        over = [np.count_nonzero(total > self.limit[m]) for m in self.blocks[block].tolist() for total in [self._total(m, rng)]]
        return np.array(over) / self.draws

    def _total(self, machine: int, rng: np.random.Generator) -> FloatArray:
        """The machine's usage in each draw, a chunk of draws at a time."""
        running = self.workload[self.first[machine] : self.first[machine + 1]].tolist()
        size, total = max(1, CHUNK // len(running)), np.zeros(self.draws)
        for start in range(0, self.draws, size):
            part = total[start : start + size]
            for w in running:
                part += self._drawn(w, len(part), rng)
        return total

    def _drawn(self, w: int, draws: int, rng: np.random.Generator) -> FloatArray:
        if w in self.samples:
            return self.samples[w][rng.integers(len(self.samples[w]), size=draws)]
        mean, std, limit = (part[w] for part in self.normal)
        return np.clip(rng.normal(mean, std, draws), 0.0, limit)


def sampled_draws(
    cluster: Cluster,
    placement: Placement,
    resource: int,
    samples: Mapping[int, FloatArray],
    draws: int = DRAWS,
    seed: int = 0,
) -> SampledDraws:
    """The usage of containers, to be drawn from their workloads' samples."""
    count, stated = workload_counts(cluster, placement).T.tocsr(), cluster.workloads  # (machine, workload)
    workload = ints(np.repeat(count.indices, count.data.astype(np.int64)))
    running = ints(np.add.reduceat(np.append(count.data, 0), count.indptr[:-1]) * (np.diff(count.indptr) > 0))
    limit = stated.limit[:, resource]
    return SampledDraws(
        workload=workload,
        first=ints(np.concatenate([[0], np.cumsum(running)])),
        limit=floats(cluster.machines.capacity[:, resource] * (1 + ROUNDING)),
        samples=dict(samples),
        normal=(
            floats(stated.usage_mean[:, resource]),
            floats(stated.usage_std[:, resource]),
            floats(np.where(limit == NO_LIMIT, np.inf, limit)),
        ),
        draws=draws,
        seed=seed,
        blocks=tuple(groups(running, draws, BLOCK)),
    )
