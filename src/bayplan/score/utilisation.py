"""How full the machines are, per resource ([FreeContainer] Table I)."""

from dataclasses import dataclass

import numpy as np

from bayplan.model import Cluster, FloatArray, Placement
from bayplan.score.counts import loads


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceUse:
    """How one resource is used over the machines that have it ([FreeContainer] Table I)."""

    resource: str
    load: int  # base units, all machines
    capacity: int  # base units, all machines
    mean: float  # of the machines' utilisations
    p50: float
    p95: float
    maximum: float  # infinite if a machine runs what it has none of
    over_capacity: int  # machines that run more than they have, those that have none among them
    top1: float  # mean utilisation of the hottest 1 % of machines (at least one)
    top5: float
    top10: float


def machine_utilisation(cluster: Cluster, placement: Placement) -> FloatArray:
    """(machine, resource) load / capacity; nan where the machine does not have the resource."""
    capacity = cluster.machines.capacity.astype(np.float64)
    capacity[capacity == 0] = np.nan
    return np.asarray(loads(cluster, placement) / capacity, dtype=np.float64)


def machine_fullness(cluster: Cluster, placement: Placement) -> FloatArray:
    """(machine, resource) like `machine_utilisation`, but infinite where a machine runs what it has none of."""
    lacks = (cluster.machines.capacity == 0) & (loads(cluster, placement) > 0)
    return np.where(lacks, np.inf, machine_utilisation(cluster, placement))


def fullest_shared(cluster: Cluster, placement: Placement) -> FloatArray:
    """(machine,) utilisation of its fullest resource, infinite where it runs what it has none of.

    Where some resources have a safety capacity below their capacity, the others do not count: a GPU is used or it is not, and a
    machine is not full because of it.
    """
    share = np.nan_to_num(machine_fullness(cluster, placement), nan=0.0, posinf=np.inf)
    shared = np.asarray((cluster.machines.safety < cluster.machines.capacity).any(axis=0), dtype=np.bool_)
    counts = shared if shared.any() else ~shared
    return np.asarray(np.where(counts | np.isinf(share), share, 0.0).max(axis=1, initial=0.0), dtype=np.float64)


def resource_use(cluster: Cluster, placement: Placement) -> tuple[ResourceUse, ...]:
    """One line per resource, over the machines that have it; zeros if none has. Only `maximum` looks at the others too."""
    load, share = loads(cluster, placement), machine_utilisation(cluster, placement)
    over = (load > cluster.machines.capacity).sum(axis=0)
    most = np.nan_to_num(machine_fullness(cluster, placement), nan=0.0, posinf=np.inf).max(axis=0, initial=0.0)
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
                maximum=float(most[r]),
                over_capacity=int(over[r]),
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
