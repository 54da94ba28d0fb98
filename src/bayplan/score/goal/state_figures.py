"""The few figures by which people compare two states of a cluster."""

from dataclasses import dataclass

import numpy as np

from bayplan.check import violations
from bayplan.model import Cluster, Placement
from bayplan.score.affinity import gained_affinity, total_affinity
from bayplan.score.balance import crossing, utilisation_cost
from bayplan.score.counts import containers_on
from bayplan.score.gmrp import machine_overload
from bayplan.score.utilisation import fullest_shared


@dataclass(frozen=True, slots=True, kw_only=True)
class StateFigures:
    """One state, as a headline compares it with another."""

    violated: int  # rules, in places
    unplaced: int  # containers
    hot: int  # machines above safety capacity
    overload: float  # load above safety, in largest machines
    local: float | None  # share of traffic that can stay on one machine; None without traffic
    fullest: float  # utilisation of the fullest machine; infinite if it lacks what it runs
    p95: float  # 95th percentile over machines, each by its fullest resource
    variance: float  # of utilisation, over all resources
    machines: int  # in use


def state_figures(cluster: Cluster, placement: Placement) -> StateFigures:
    """The figures of a placement."""
    fullness = fullest_shared(cluster, placement)
    over = machine_overload(cluster, placement)
    largest = np.maximum(1, cluster.machines.capacity.max(axis=0, initial=0))
    return StateFigures(
        violated=sum(1 for _ in violations(cluster, placement)),
        unplaced=len(placement.unplaced),
        hot=int(over.any(axis=1).sum()),
        overload=float((over / largest).sum()),
        local=local_share(cluster, placement),
        fullest=float(fullness.max(initial=0.0)),
        p95=float(np.quantile(fullness[np.isfinite(fullness)], 0.95)) if np.isfinite(fullness).any() else 0.0,
        variance=utilisation_cost(cluster, placement),
        machines=int((containers_on(cluster, placement) > 0).sum()),
    )


def local_share(cluster: Cluster, placement: Placement) -> float | None:
    """The share of traffic that can stay on one machine: between workloads, or else within services; None without traffic."""
    if total_affinity(cluster) > 0:
        return gained_affinity(cluster, placement)
    size = np.bincount(cluster.workloads.service, weights=cluster.replicas, minlength=len(cluster.services.name))
    apart = float(cluster.services.clique @ (size * (size - 1) / 2))
    return 1.0 - crossing(cluster, placement, 0) / apart if apart > 0 else None
