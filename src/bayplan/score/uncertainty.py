"""Other beliefs about usage than the normal distribution, as deviations that replace it.

Packing knows one form, mean + D(alpha) sqrt(sum std^2) <= capacity ([UCaC] (2), where b_j is "any uncertainty metric"). So each
belief becomes a deviation per workload with which that form is the belief's own size of a machine:

gaussian        what the cluster states.
hoeffding       usage lies within [0, limit], and only its mean is known: the sum exceeds its mean by
                t = sqrt(ln(1/(1-alpha))/2 sum limit^2) with probability 1 - alpha at most (Hoeffding 1963, Theorem 2).
hoeffding-mean  the same, by Hoeffding's Theorem 1, which also uses where in [0, limit] the mean lies: never larger, and 0 where
                the mean is 0 or the limit.
empirical       measured samples: see `score/pooled.py`.

All of them take usages as independent, as [UCaC] does (Observations 1 and 2).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

import numpy as np

from bayplan.errors import UsageError
from bayplan.model import NO_LIMIT, BoolArray, Cluster, FloatArray, IntArray, floats
from bayplan.score.confidence import deviate
from bayplan.score.empirical import pooled_std

SHOWN = 5  # names in a message


class Uncertainty(StrEnum):
    """What is believed about usage."""

    GAUSSIAN = "gaussian"
    HOEFFDING = "hoeffding"
    HOEFFDING_MEAN = "hoeffding-mean"
    EMPIRICAL = "empirical"


def effective(
    cluster: Cluster,
    resource: int,
    alpha: float | Sequence[float],
    model: str,
    samples: Mapping[int, FloatArray] | None = None,
    seed: int = 0,
) -> Cluster:
    """The cluster with usage deviations of one resource for which mean + D(alpha) sqrt(sum std^2) is the model's size.

    `samples` are base units per workload, for `empirical` alone; where there are none, the cluster's own mean and deviation
    stay. With several confidences in use, give them all: the largest deviation counts.
    """
    alphas = [alpha] if isinstance(alpha, int | float) else list(alpha)
    _check(cluster, resource, alphas, model)
    if model == Uncertainty.GAUSSIAN:
        return cluster
    if model == Uncertainty.EMPIRICAL:
        return _empirical(cluster, resource, alphas, samples or {}, seed)
    std = np.max([_bounded(cluster, resource, a, sharp=model == Uncertainty.HOEFFDING_MEAN) for a in alphas], axis=0)
    return _with(cluster, resource, cluster.workloads.usage_mean[:, resource], std)


def with_usage(cluster: Cluster, resource: int, samples: Mapping[int, FloatArray]) -> Cluster:
    """The cluster with mean and deviation of one resource from samples (base units), where a workload has samples.

    The deviation is that of a sample (divisor n - 1); 0 for a single one.
    """
    mean, std = (np.array(part[:, resource]) for part in (cluster.workloads.usage_mean, cluster.workloads.usage_std))
    for w, value in samples.items():
        mean[w] = value.mean()
        std[w] = value.std(ddof=1) if len(value) > 1 else 0.0
    return _with(cluster, resource, mean, std)


def uncertainty_notes(
    cluster: Cluster, resource: int, alpha: float, model: str, samples: Mapping[int, FloatArray] | None = None
) -> tuple[str, ...]:
    """What a user should know of `effective`: which workloads have no samples, and which too few to see the tail."""
    if model != Uncertainty.EMPIRICAL:
        return ()
    known, used = samples or {}, np.flatnonzero(cluster.replicas)
    without = [w for w in used.tolist() if w not in known]
    needed = math.ceil(1 / (1 - alpha) - 1e-6)
    few = [w for w in used.tolist() if w in known and len(known[w]) < needed]
    name = cluster.resources[resource].name
    notes = [f"no samples of {name}: {_named(cluster, without)}; taken as Gaussian with the stated mean and deviation"]
    notes += [f"fewer than {needed:,} samples of {name}: {_named(cluster, few)}; a tail of {1 - alpha:g} is beyond them"]
    return tuple(note for note, concerned in zip(notes, (without, few), strict=True) if concerned)


def _check(cluster: Cluster, resource: int, alphas: Sequence[float], model: str) -> None:
    if model not in list(Uncertainty):
        raise UsageError(f"uncertainty '{model}' is not known; expected one of {', '.join(Uncertainty)}")
    for alpha in alphas:
        if not 0.5 < alpha < 1:
            name = cluster.resources[resource].name
            raise UsageError(f"confidence {alpha:g} of resource '{name}': expected above 0.5 and below 1")


# ---- bounded support -----------------------------------------------------------------------------------------------------------


def _bounded(cluster: Cluster, resource: int, alpha: float, *, sharp: bool) -> FloatArray:
    """(workload,) deviations by Hoeffding. Usage with neither a limit nor a deviation is certain."""
    mean, std = cluster.workloads.usage_mean[:, resource], cluster.workloads.usage_std[:, resource]
    limit = cluster.workloads.limit[:, resource]
    _refuse_unbounded(cluster, resource, (limit == NO_LIMIT) & (std > 0))
    _refuse_beyond(cluster, resource, mean > limit)
    width = np.where(limit == NO_LIMIT, 0, limit).astype(np.float64)
    share = np.divide(mean, width, out=np.zeros_like(mean), where=width > 0)
    share = np.minimum(share, 1.0)  # a workload without containers may state any mean
    proxy = _proxy(share) if sharp else np.full_like(mean, 0.25)
    return width * np.sqrt(2 * math.log(1 / (1 - alpha)) * proxy) / deviate(alpha)


def _proxy(p: FloatArray) -> FloatArray:
    """(workload,) v with E exp(s (X - p)) <= exp(s^2 v / 2), s >= 0, for X in [0, 1] of mean p: 1/(2 g(p)), Hoeffding (2.2)."""
    low = np.clip(p, 1e-300, 0.5 - 1e-6)  # at 1/2 both parts are 1/4
    below = (1 - 2 * low) / (2 * np.log((1 - low) / low))
    return np.where(p <= 0, 0.0, np.where(p < 0.5 - 1e-6, below, np.minimum(p * (1 - p), 0.25)))


def _refuse_unbounded(cluster: Cluster, resource: int, wrong: BoolArray) -> None:
    workloads = np.flatnonzero(wrong & (cluster.replicas > 0))
    if len(workloads):
        name, named = cluster.resources[resource].name, _named(cluster, workloads)
        raise UsageError(f"no limit of {name}: {named}; expected limits, for Hoeffding's bound needs usage within [0, limit]")


def _refuse_beyond(cluster: Cluster, resource: int, wrong: BoolArray) -> None:
    workloads = np.flatnonzero(wrong & (cluster.replicas > 0))
    if len(workloads):
        name, named = cluster.resources[resource].name, _named(cluster, workloads)
        raise UsageError(
            f"mean usage of {name} above the limit: {named}; expected a mean within [0, limit] for Hoeffding's bound"
        )


# ---- samples -------------------------------------------------------------------------------------------------------------------


def _empirical(cluster: Cluster, resource: int, alphas: Sequence[float], samples: Mapping[int, FloatArray], seed: int) -> Cluster:
    measured = with_usage(cluster, resource, samples)
    mean, std = (np.array(part[:, resource]) for part in (measured.workloads.usage_mean, measured.workloads.usage_std))
    largest = float(cluster.machines.capacity[:, resource].max(initial=0))
    for w, value in samples.items():
        most = int(min(cluster.replicas[w], largest // mean[w])) if mean[w] > 0 else int(cluster.replicas[w])
        std[w] = max(pooled_std(value, alpha, most, np.random.default_rng([seed, w])) for alpha in alphas)
    return _with(measured, resource, mean, std)


def _with(cluster: Cluster, resource: int, mean: FloatArray, std: FloatArray) -> Cluster:
    """The cluster with another usage of one resource."""
    means, stds = np.array(cluster.workloads.usage_mean), np.array(cluster.workloads.usage_std)
    means[:, resource], stds[:, resource] = mean, std
    return replace(cluster, workloads=replace(cluster.workloads, usage_mean=floats(means), usage_std=floats(stds)))


def _named(cluster: Cluster, workloads: IntArray | Sequence[int]) -> str:
    """'workload 'web'', or 'workloads 'a', 'b', ... (12)'."""
    names = [f"'{cluster.workloads.name[int(w)]}'" for w in workloads[:SHOWN]]
    if len(workloads) > SHOWN:
        return f"workloads {', '.join(names)}, ... ({len(workloads)} in all)"
    return f"workload{'s' * (len(workloads) > 1)} {', '.join(names)}"
