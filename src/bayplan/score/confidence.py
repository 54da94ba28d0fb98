"""Used Capacity at Confidence ([UCaC] §4), with Gaussian usage. Amounts are floats in base units."""

import numpy as np
from scipy.special import ndtr, ndtri

from bayplan.errors import ModelError
from bayplan.model import Cluster, FloatArray, Placement
from bayplan.score.counts import workload_counts

ALPHA = 0.999  # the confidence where none is stated
ROUNDING = 1e-9  # relative: certain usage this little above the capacity is rounding, not a violation


def deviate(alpha: float) -> float:
    """D(alpha) = Phi^-1(alpha): how many standard deviations cover the share alpha."""
    if not 0 < alpha < 1:
        raise ModelError(f"confidence {alpha} is not between 0 and 1")
    return float(ndtri(alpha))


def usage(cluster: Cluster, placement: Placement, resource: int) -> tuple[FloatArray, FloatArray]:
    """(machine,) mean and variance of the usage on each machine, containers being independent."""
    on_machine = workload_counts(cluster, placement).T
    mean = on_machine @ cluster.workloads.usage_mean[:, resource]
    variance = on_machine @ np.square(cluster.workloads.usage_std[:, resource])
    return np.asarray(mean, dtype=np.float64), np.asarray(variance, dtype=np.float64)


def machine_ucac(
    cluster: Cluster, placement: Placement, resource: int, *, alpha: float = ALPHA, d: float | None = None
) -> FloatArray:
    """(machine,) mean + D sqrt(variance) ([UCaC] Definition 1): the usage that is not exceeded with probability alpha.

    0 on an empty machine. `d` replaces D(alpha).
    """
    mean, variance = usage(cluster, placement, resource)
    return mean + (deviate(alpha) if d is None else d) * np.sqrt(variance)


def ucac(cluster: Cluster, placement: Placement, resource: int, *, alpha: float = ALPHA, d: float | None = None) -> float:
    """The sum of the machines' UCaC ([UCaC] Definition 2)."""
    return float(machine_ucac(cluster, placement, resource, alpha=alpha, d=d).sum())


def violation_probability(cluster: Cluster, placement: Placement, resource: int) -> FloatArray:
    """(machine,) P(usage > capacity) if the sum of usages is Gaussian; 0 or 1 where nothing varies."""
    mean, variance = usage(cluster, placement, resource)
    capacity = cluster.machines.capacity[:, resource]
    certain = (mean > capacity * (1 + ROUNDING)).astype(np.float64)
    std = np.sqrt(variance)
    random = ndtr((mean - capacity) / np.where(std > 0, std, 1.0))
    return np.where(std > 0, random, certain)
