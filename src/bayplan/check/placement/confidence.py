"""Confidence: usage stays within capacity with a stated probability."""

from collections.abc import Iterator
from statistics import NormalDist

import numpy as np

from bayplan.check.placement.scene import Numbered, Scene
from bayplan.check.violation import Violation, amount, real_amount
from bayplan.model import UNPLACED, FloatArray, floats

TOLERANCE = 1e-9  # of the capacity: sums of floats are not exact


def quantile(alpha: float) -> float:
    """D of 003: as many standard deviations above the mean as a share `alpha` stays below."""
    return NormalDist().inv_cdf(alpha)


def usage(scene: Scene, r: int) -> tuple[FloatArray, FloatArray]:
    """(machine,) mean and variance of one resource's usage; containers are independent."""
    placed = scene.machine_of != UNPLACED
    machine, w = scene.machine_of[placed], scene.cluster.containers.workload[placed]
    n_m = len(scene.cluster.machines.name)
    mean = np.bincount(machine, weights=scene.cluster.workloads.usage_mean[w, r], minlength=n_m)
    variance = np.bincount(machine, weights=scene.cluster.workloads.usage_std[w, r] ** 2, minlength=n_m)
    return floats(mean), floats(variance)


def confidence(scene: Scene, rules: Numbered) -> Iterator[Violation]:
    """Machines whose mean + D * deviation exceeds their capacity (003 (2) for normal usage)."""
    for number, rule in rules:
        r, resource = rule.resource, scene.cluster.resources[rule.resource]
        mean, variance = usage(scene, r)
        need, has = mean + quantile(rule.alpha) * np.sqrt(variance), scene.cluster.machines.capacity[:, r]
        for m in np.flatnonzero(need > has * (1 + TOLERANCE)):
            name = scene.cluster.machines.name[m]
            yield Violation(
                rule="confidence",
                number=number,
                subject=(name, resource.name),
                excess=float(need[m] - has[m]),
                sentence=f"confidence: machine '{name}' needs {real_amount(need[m], resource)} {resource.name} at {rule.alpha!r} "
                f"(mean {real_amount(mean[m], resource)}, deviation {real_amount(np.sqrt(variance[m]), resource)}), "
                f"it has {amount(has[m], resource)}",
            )
