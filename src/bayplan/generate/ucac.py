"""Services with uncertain cpu usage that ask for room (003 section 6.1 and Table 5)."""

from typing import NamedTuple

import numpy as np

from bayplan.generate.registry import require
from bayplan.model import (
    Cluster,
    Confidence,
    Containers,
    FloatArray,
    IntArray,
    Machines,
    Objective,
    Placement,
    Progress,
    Resource,
    Services,
    Snapshot,
    Traffic,
    Workloads,
    floats,
    ints,
    machine_level,
    silent,
)


class Usage(NamedTuple):
    """One column of 003 Table 5, in cpu cores."""

    mean: float
    std: float
    containers: int
    remove_rate: float  # share that leaves when the paper makes its nonempty layout; not used on an empty cluster


TABLE_5 = (  # 003 appendix E, left to right, upper half first
    Usage(6.18, 1.73, 270, 0.5),
    Usage(2.47, 0.47, 55, 0.3),
    Usage(1.07, 0.43, 1618, 0.8),
    Usage(4.12, 2.69, 904, 0.5),
    Usage(1.06, 0.85, 576, 0.8),
    Usage(0.73, 0.19, 1085, 0.8),
    Usage(1.94, 0.9, 1035, 0.5),
    Usage(2.48, 0.82, 118, 0.5),
    Usage(2.42, 0.97, 1450, 0.5),
    Usage(2.49, 0.62, 313, 0.5),
    Usage(0.97, 0.31, 44, 0.8),
    Usage(2.46, 0.62, 544, 0.3),
    Usage(2.52, 0.84, 697, 0.5),
    Usage(1.06, 0.57, 427, 0.8),
    Usage(2.59, 0.7, 363, 0.3),
    Usage(1.96, 0.55, 360, 0.3),
    Usage(3.33, 0.9, 701, 0.5),
)
MILLI = 1000  # base units in a core
CAPACITY = 31_580  # 31.58 cores, 003 section 6
STD_FACTOR = (0.9, 1.1)  # 003 section 6.1 (1)
LIMIT_STD = 4.0  # limit = mean + 4 std; 003 gives none. Beyond what a 99.9 % confidence sees, so only usage below 0 is cut often


def ucac(
    *,
    services: int = 17,
    alpha: float = 0.999,
    scale: float = 1.0,
    machines: int = 4000,
    seed: int = 0,
    progress: Progress = silent,
) -> Snapshot:
    """`services` services of Table 5 whose containers all wait, and empty machines.

    Up to 17 services are drawn without replacement and keep the table's order; more are drawn with
    replacement (003 runs K = 20). `scale` multiplies the numbers of containers. Containers have no
    request: the one rule is the chance constraint (003 (2)).
    """
    require(
        "ucac",
        (1 <= services <= 1000, f"services is {services}; expected 1 to 1,000"),
        (0.5 <= alpha < 1, f"alpha is {alpha}; expected 0.5 or more and below 1"),
        (
            0 < scale * services <= 10_000,
            f"scale is {scale} for {services} services; expected a product of 0 to 10,000",
        ),
        (1 <= machines <= 1_000_000, f"machines is {machines}; expected 1 to 1,000,000"),
    )
    rng = np.random.default_rng(seed)
    column = _columns(services, rng)
    std_factor = rng.uniform(*STD_FACTOR, size=services)
    replicas = ints([max(1, round(scale * TABLE_5[j].containers)) for j in column])
    cluster = _cluster(_workloads(column, std_factor), replicas, machines, Confidence(resource=0, alpha=alpha))
    notes = (f"limit = mean + {LIMIT_STD:g} std: 003 states none", "containers request nothing: only the confidence rule binds")
    placement = Placement.empty(len(cluster.containers.name))
    return Snapshot(cluster=cluster, placement=placement, objective=Objective.default(cluster), notes=notes)


def _columns(services: int, rng: np.random.Generator) -> IntArray:
    """Which columns of Table 5, ascending."""
    return np.sort(rng.choice(len(TABLE_5), size=services, replace=services > len(TABLE_5)))


def _workloads(column: IntArray, std_factor: FloatArray) -> Workloads:
    mean = np.array([[MILLI * TABLE_5[j].mean] for j in column])
    std = np.array([[MILLI * TABLE_5[j].std] for j in column]) * std_factor[:, None]
    return Workloads(
        name=tuple(f"s{i + 1:02d}" for i in range(len(column))),
        service=ints(np.arange(len(column))),
        request=ints(np.zeros(mean.shape)),
        usage_mean=floats(mean),
        usage_std=floats(std),
        limit=ints(np.ceil(mean + LIMIT_STD * std)),
    )


def _cluster(workloads: Workloads, replicas: IntArray, machines: int, rule: Confidence) -> Cluster:
    machine = tuple(f"m{m:04d}" for m in range(machines))
    capacity = ints(np.full((machines, 1), CAPACITY))
    return Cluster(
        name=f"ucac-{len(workloads.name)}",
        resources=(Resource(name="cpu", scale=MILLI, unit="cores"),),
        machines=Machines(name=machine, capacity=capacity, safety=capacity),
        levels=(machine_level(machine),),
        services=Services(name=workloads.name, clique=floats(np.zeros(len(workloads.name)))),
        workloads=workloads,
        containers=Containers.replicas_of(workloads.name, replicas),
        traffic=Traffic.none(),
        rules=(rule,),
    )
