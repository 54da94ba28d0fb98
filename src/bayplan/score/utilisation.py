"""How full the machines are, per resource (000 Table I)."""

from dataclasses import dataclass

import numpy as np

from bayplan.model import Cluster, FloatArray, Placement
from bayplan.score.counts import loads


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceUse:
    """How one resource is used over the machines that have it (000 Table I)."""

    resource: str
    load: int  # base units, all machines
    capacity: int  # base units, all machines
    mean: float  # of the machines' utilisations
    p50: float
    p95: float
    maximum: float
    top1: float  # mean utilisation of the hottest 1 % of machines (at least one)
    top5: float
    top10: float


def machine_utilisation(cluster: Cluster, placement: Placement) -> FloatArray:
    """(machine, resource) load / capacity; nan where the machine does not have the resource."""
    capacity = cluster.machines.capacity.astype(np.float64)
    capacity[capacity == 0] = np.nan
    return np.asarray(loads(cluster, placement) / capacity, dtype=np.float64)


def resource_use(cluster: Cluster, placement: Placement) -> tuple[ResourceUse, ...]:
    """One line per resource, over the machines that have it; zeros if none has."""
    load, share = loads(cluster, placement), machine_utilisation(cluster, placement)
    lines = []
    for r, resource in enumerate(cluster.resources):
        used = share[~np.isnan(share[:, r]), r]
        used = used if used.size else np.zeros(1)
        lines.append(
            ResourceUse(
                resource=resource.name,
                load=int(load[:, r].sum()),
                capacity=int(cluster.machines.capacity[:, r].sum()),
                mean=float(used.mean()),
                p50=float(np.quantile(used, 0.50)),
                p95=float(np.quantile(used, 0.95)),
                maximum=float(used.max()),
                top1=mean_of_top(used, 1),
                top5=mean_of_top(used, 5),
                top10=mean_of_top(used, 10),
            )
        )
    return tuple(lines)


def mean_of_top(values: FloatArray, percent: int) -> float:
    """The mean of the largest `percent` % of at least one value; their number is rounded up."""
    count = -(-len(values) * percent // 100)
    return float(np.partition(values, len(values) - count)[len(values) - count :].mean())
