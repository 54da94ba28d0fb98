"""How often machines would overflow, by drawing the usage of every container ([UCaC] §6.1).

The paper samples usages "and then truncates" them to (0, limit), with a "minor" bias of the mean. For its services
with a large spread (Table 5: mean 1.06, std 0.85) drawing again until the value is inside would raise the mean by
16 %, clipping by 4 %: so we read it as clipping, and offer the other reading.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from bayplan.model import NO_LIMIT, Cluster, FloatArray, IntArray, Placement, floats
from bayplan.score.confidence import ROUNDING
from bayplan.score.counts import containers_on

DRAWS = 10_000
CHUNK = 2**17  # numbers drawn at once: a megabyte stays in the cache
BLOCK = 2**21  # numbers that come from one stream: twenty milliseconds or more, so that what a job costs does not matter


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
    return rates_in_turn(normal_draws(cluster, placement, resource, draws=draws, seed=seed, truncation=truncation))


# ---- blocks of machines --------------------------------------------------------------------------------------------------------


class OverflowDraws(Protocol):
    """Usage to be drawn, in blocks of machines: each has its own stream of random numbers, so blocks may be drawn anywhere."""

    @property
    def blocks(self) -> Sequence[IntArray]:
        """The machines of each block. Borders depend on the numbers to be drawn, not on who draws them."""
        ...

    @property
    def without_draws(self) -> FloatArray:
        """(machine,) rates of the machines that are in no block; a new array."""
        ...

    def rates(self, block: int) -> FloatArray:
        """The rates of the machines of a block: the same wherever and whenever it is drawn."""
        ...


def rates_in_turn(draws: OverflowDraws) -> FloatArray:
    """(machine,) the share of draws with usage above capacity, block after block."""
    rate = draws.without_draws
    for number, machines in enumerate(draws.blocks):
        rate[machines] = draws.rates(number)
    return rate


def stream(seed: int, block: int) -> np.random.Generator:
    """The random numbers of a block; those of the first are those of the seed itself."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(block,) if block else ()))


def groups(containers: IntArray, draws: int, most: int) -> Iterator[IntArray]:
    """Machines that run something, as many as `most` numbers are enough for, at least one. `containers`: (machine,)."""
    machines = np.flatnonzero(containers)
    drawn, start = np.cumsum(containers[machines]) * draws, 0
    while start < len(machines):
        before = int(drawn[start - 1]) if start else 0
        end = max(start + 1, int(np.searchsorted(drawn, before + most, side="right")))
        yield machines[start:end]
        start = end


# ---- normal usage --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NormalDraws:
    """Usage drawn from normal distributions. Machines of a block draw one after the other; those of a chunk draw at once."""

    usage: "_Usage"
    limit: FloatArray  # (machine,) what is not above capacity
    draws: int
    seed: int
    truncation: Truncation
    blocks: tuple[IntArray, ...]

    @property
    def without_draws(self) -> FloatArray:
        """(machine,) 1 where usage that does not vary is above capacity."""
        return (self.usage.certain > self.limit).astype(np.float64)

    def rates(self, block: int) -> FloatArray:
        """The rates of the machines of a block."""
        rng, machines = stream(self.seed, block), self.blocks[block]
        varying = np.diff(self.usage.first)[machines]
        return np.concatenate([self._chunk(machines[some], rng) for some in groups(varying, self.draws, CHUNK)])

    def _chunk(self, machines: IntArray, rng: np.random.Generator) -> FloatArray:
        chunk, draw = self.usage.of(machines), _clipped if self.truncation is Truncation.CLIP else _redrawn
        size = self.draws if len(machines) > 1 else max(1, CHUNK // len(chunk.mean))
        over = np.zeros(len(machines), dtype=np.int64)
        for start in range(0, self.draws, size):
            varying = np.add.reduceat(draw(chunk, min(size, self.draws - start), rng), chunk.first[:-1], axis=0)
            over += np.count_nonzero(chunk.certain[:, None] + varying > self.limit[machines, None], axis=1)
        return floats(over / self.draws)


def normal_draws(
    cluster: Cluster,
    placement: Placement,
    resource: int,
    *,
    draws: int = DRAWS,
    seed: int = 0,
    truncation: Truncation = Truncation.CLIP,
) -> NormalDraws:
    """The usage of containers, to be drawn."""
    usage = _usage(cluster, placement, resource)
    return NormalDraws(
        usage=usage,
        limit=floats(cluster.machines.capacity[:, resource] * (1 + ROUNDING)),
        draws=draws,
        seed=seed,
        truncation=truncation,
        blocks=tuple(groups(np.diff(usage.first), draws, BLOCK)),
    )


class _Usage(NamedTuple):
    """What containers use, machine by machine."""

    certain: FloatArray  # (machine,) sum of the usages that do not vary
    first: IntArray  # (machine + 1,) where the containers of each machine whose usage varies begin
    mean: FloatArray  # of each container whose usage varies
    std: FloatArray
    limit: FloatArray

    def of(self, machines: IntArray) -> "_Usage":
        """The usage of these machines, between which no other machine has a usage that varies."""
        begin, end = self.first[machines[0]], self.first[machines[-1] + 1]
        first = np.append(self.first[machines], end) - begin
        return _Usage(self.certain[machines], first, self.mean[begin:end], self.std[begin:end], self.limit[begin:end])


def _usage(cluster: Cluster, placement: Placement, resource: int) -> _Usage:
    placed = placement.placed
    placed = placed[np.argsort(placement.machine_of[placed], kind="stable")]
    machine, workload, n_m = placement.machine_of[placed], cluster.containers.workload[placed], len(cluster.machines.name)
    mean = cluster.workloads.usage_mean[workload, resource]
    std = cluster.workloads.usage_std[workload, resource]
    limit = cluster.workloads.limit[workload, resource]
    limit = np.where(limit == NO_LIMIT, np.inf, limit)
    varies = std > 0
    certain = floats(np.bincount(machine[~varies], weights=np.minimum(mean, limit)[~varies], minlength=n_m))
    first = np.searchsorted(machine[varies], np.arange(n_m + 1))
    return _Usage(certain, first, mean[varies], std[varies], limit[varies])


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
