"""How often machines would overflow, by drawing the usage of every container ([UCaC] §6.1).

The paper samples usages "and then truncates" them to (0, limit), with a "minor" bias of the mean. For its services
with a large spread (Table 5: mean 1.06, std 0.85) drawing again until the value is inside would raise the mean by
16 %, clipping by 4 %: so we read it as clipping, and offer the other reading.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from bayplan.model import NO_LIMIT, Cluster, FloatArray, IntArray, Placement
from bayplan.score.confidence import ROUNDING
from bayplan.score.counts import containers_on

DRAWS = 10_000
CHUNK = 2**17  # numbers drawn at once: a megabyte stays in the cache


class Truncation(StrEnum):
    """What happens to a usage outside of (0, limit)."""

    CLIP = "clip"  # it becomes the nearer end
    REJECT = "reject"  # it is drawn again: the truncated normal distribution


def violation_rate(
    cluster: Cluster,
    placement: Placement,
    resource: int,
    *,
    draws: int = DRAWS,
    seed: int = 0,
    truncation: Truncation = Truncation.CLIP,
) -> float:
    """The share of (machine, draw) with usage above capacity, over the machines that run something."""
    busy = containers_on(cluster, placement) > 0
    rates = violation_rates(cluster, placement, resource, draws=draws, seed=seed, truncation=truncation)
    return float(rates[busy].mean()) if busy.any() else 0.0


def violation_rates(
    cluster: Cluster,
    placement: Placement,
    resource: int,
    *,
    draws: int = DRAWS,
    seed: int = 0,
    truncation: Truncation = Truncation.CLIP,
) -> FloatArray:
    """(machine,) the share of draws with usage above capacity. O(containers * draws) time, a few MB."""
    rng = np.random.default_rng(seed)
    rate = np.zeros(len(cluster.machines.name))
    by_machine = np.argsort(placement.machine_of, kind="stable")
    first = np.searchsorted(placement.machine_of[by_machine], np.arange(len(rate) + 1))
    for m in np.flatnonzero(np.diff(first)):
        usage = _usage(cluster, by_machine[first[m] : first[m + 1]], resource)
        limit = cluster.machines.capacity[m, resource] * (1 + ROUNDING)
        over = (np.count_nonzero(total > limit) for total in _totals(usage, draws, rng, truncation))
        rate[m] = sum(over) / draws
    return rate


class _Usage(NamedTuple):
    certain: float  # sum of the usages that do not vary
    mean: FloatArray  # of each that varies
    std: FloatArray
    limit: FloatArray


def _usage(cluster: Cluster, containers: IntArray, resource: int) -> _Usage:
    workload = cluster.containers.workload[containers]
    mean = cluster.workloads.usage_mean[workload, resource]
    std = cluster.workloads.usage_std[workload, resource]
    limit = cluster.workloads.limit[workload, resource]
    limit = np.where(limit == NO_LIMIT, np.inf, limit)
    varies = std > 0
    certain = np.minimum(mean, limit)[~varies].sum()
    return _Usage(float(certain), mean[varies], std[varies], limit[varies])


def _totals(usage: _Usage, draws: int, rng: np.random.Generator, truncation: Truncation) -> Iterator[FloatArray]:
    """The machine's usage in each draw, a chunk of draws at a time."""
    draw = _clipped if truncation is Truncation.CLIP else _redrawn
    size = max(1, CHUNK // max(1, len(usage.mean)))
    for start in range(0, draws, size):
        yield usage.certain + draw(usage, min(size, draws - start), rng).sum(axis=0)


def _clipped(usage: _Usage, draws: int, rng: np.random.Generator) -> FloatArray:
    """(container, draw) normal draws, those outside of (0, limit) moved to the nearer end."""
    value = rng.standard_normal((len(usage.mean), draws))
    value *= usage.std[:, None]
    value += usage.mean[:, None]
    return np.clip(value, 0.0, usage.limit[:, None], out=value)


def _redrawn(usage: _Usage, draws: int, rng: np.random.Generator) -> FloatArray:
    """(container, draw) draws of the normal distribution truncated to (0, limit), by its inverse.

    In logarithms, so that a range far out in the tail is no special case.
    """
    low = log_ndtr(-usage.mean / usage.std)[:, None]
    high = log_ndtr((usage.limit - usage.mean) / usage.std)[:, None]
    share = rng.random((len(usage.mean), draws)) + 2.0**-55  # neither 0 nor 1: both logarithms are finite
    value = ndtri_exp(np.logaddexp(low + np.log1p(-share), high + np.log(share)))
    value *= usage.std[:, None]
    value += usage.mean[:, None]
    return np.clip(value, 0.0, usage.limit[:, None], out=value)  # rounding
