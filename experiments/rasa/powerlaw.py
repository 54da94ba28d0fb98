"""Figure 5: an exponential and a power law fitted to the total affinity of the services that have most."""

from collections.abc import Callable, Mapping

import numpy as np
from scipy.optimize import curve_fit

from bayplan.model import Cluster, FloatArray
from experiments.calibration.quantities import service_affinity

TOP = 40
MEASURES = ("services", "rate", "scale", "squares", "r2")  # rate: beta of the power law


def _power(rank: FloatArray, scale: float, rate: float) -> FloatArray:
    return scale / rank**rate


def _exponential(rank: FloatArray, scale: float, rate: float) -> FloatArray:
    return scale * np.exp(-rate * rank)


CURVES: Mapping[str, Callable[[FloatArray, float, float], FloatArray]] = {"power law": _power, "exponential": _exponential}


def ranked(cluster: Cluster, top: int = TOP) -> FloatArray:
    """T(s) of the first services, of a total of 1 over all edges, descending."""
    affinity: FloatArray = np.sort(service_affinity(cluster) / cluster.traffic.weight.sum())[::-1][:top]
    return affinity


def fitted(affinity: FloatArray, curve: str) -> dict[str, str]:
    """The columns of `MEASURES`: least squares of the values themselves, not of their logarithms."""
    rank = np.arange(1.0, len(affinity) + 1)
    start = affinity[0], 1.0 if curve == "power law" else 0.1
    (scale, rate), _ = curve_fit(CURVES[curve], rank, affinity, p0=start, maxfev=10_000)
    squares = float(((affinity - CURVES[curve](rank, scale, rate)) ** 2).sum())
    r2 = 1 - squares / float(((affinity - affinity.mean()) ** 2).sum())
    numbers = (f"{rate:.4f}", f"{scale:.6f}", f"{squares:.8f}", f"{r2:.5f}")
    return dict(zip(MEASURES, (str(len(affinity)), *numbers), strict=True))
