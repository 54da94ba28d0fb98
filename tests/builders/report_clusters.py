"""Small and big clusters for the tests of the reports, built by hand."""

import numpy as np

from bayplan.model import (
    NO_LIMIT,
    Cluster,
    Containers,
    Level,
    Machines,
    Objective,
    Placement,
    Resource,
    Services,
    Snapshot,
    Traffic,
    Workloads,
    machine_level,
)

GIB = 2**30
RESOURCES = (Resource(name="cpu", scale=1000, unit="cores"), Resource(name="memory", unit="bytes"))


def cluster_of(*, machines: int, services: int, replicas: int, seed: int = 0, name: str = "sample") -> Snapshot:
    """A random cluster: every container on a random machine, except the last one, which is unplaced."""
    rng = np.random.default_rng(seed)
    names = tuple(f"node-{m}" for m in range(machines))
    capacity = np.stack([rng.choice([16000, 32000], machines), rng.choice([64, 128], machines) * GIB], axis=1)
    request = np.stack([rng.choice([250, 500, 1000], services), rng.choice([1, 2, 4], services) * GIB], axis=1)
    workload = np.repeat(np.arange(services), replicas)
    a = np.arange(max(0, services - 1))
    cluster = Cluster(
        name=name,
        resources=RESOURCES,
        machines=Machines(name=names, capacity=capacity, safety=capacity * 4 // 5),
        levels=(machine_level(names), Level(name="zone", group=("east", "west"), group_of=np.arange(machines) % 2)),
        services=Services(name=tuple(f"svc-{s}" for s in range(services)), clique=np.zeros(services)),
        workloads=Workloads(
            name=tuple(f"work-{s}" for s in range(services)),
            service=np.arange(services),
            request=request,
            usage_mean=request,
            usage_std=np.zeros(request.shape),
            limit=np.full(request.shape, NO_LIMIT),
        ),
        containers=Containers(name=tuple(f"work-{w}-{c}" for c, w in enumerate(workload.tolist())), workload=workload),
        traffic=Traffic(a=a, b=a + 1, weight=np.ones(len(a))),
    )
    machine_of = rng.integers(0, machines, len(workload))
    machine_of[-1:] = -1
    return Snapshot(cluster=cluster, placement=Placement(machine_of=machine_of), objective=Objective.default(cluster))
