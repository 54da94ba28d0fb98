"""One small cluster, made by hand: four machines in two zones, three workloads of two services."""

from dataclasses import replace

import numpy as np

from bayplan.model import (
    NO_LIMIT,
    Cluster,
    Containers,
    Level,
    Machines,
    Placement,
    Resource,
    Rule,
    Services,
    Traffic,
    Workloads,
    floats,
    ints,
    machine_level,
)

WEB, API, DB = 0, 1, 2  # workloads
FRONT, BACK = 0, 1  # services
CPU, MEMORY = 0, 1
MACHINE, ZONE = 0, 1  # levels
WEB_0, WEB_1, WEB_2, API_0, API_1, DB_0 = range(6)  # containers


def cluster(*rules: Rule) -> Cluster:
    """m-0 and m-1 stand in zone 'east', m-2 and m-3 in 'west'; each has 8 cpu and 16 memory."""
    machines = tuple(f"m-{i}" for i in range(4))
    capacity = ints(np.tile([8000, 16], (4, 1)))
    request = ints([[2000, 4], [1000, 2], [4000, 8]])
    return Cluster(
        name="hand-made",
        resources=(Resource(name="cpu", scale=1000), Resource(name="memory")),
        machines=Machines(name=machines, capacity=capacity, safety=capacity),
        levels=(machine_level(machines), Level(name="zone", group=("east", "west"), group_of=ints([0, 0, 1, 1]))),
        services=Services(name=("front", "back"), clique=floats([0, 0])),
        workloads=Workloads(
            name=("web", "api", "db"),
            service=ints([FRONT, FRONT, BACK]),
            request=request,
            usage_mean=floats(request),
            usage_std=floats([[1000, 0], [0, 0], [0, 0]]),
            limit=ints(np.full((3, 2), NO_LIMIT)),
        ),
        containers=Containers(name=("web-0", "web-1", "web-2", "api-0", "api-1", "db-0"), workload=ints([0, 0, 0, 1, 1, 2])),
        traffic=Traffic(a=ints([WEB, API]), b=ints([API, DB]), weight=floats([6.0, 2.0])),
        rules=rules,
        machine_sets={"fast": ints([0, 1]), "west": ints([2, 3])},
    )


def with_capacity(cpu: int, of: Cluster) -> Cluster:
    """The same machines with other cpu (milli-cores) each."""
    capacity = ints(np.tile([cpu, 16], (4, 1)))
    return replace(of, machines=replace(of.machines, capacity=capacity, safety=capacity))


def at(*machine_of: int) -> Placement:
    """web-0, web-1, web-2, api-0, api-1, db-0 in this order; -1 for none."""
    return Placement(machine_of=ints(machine_of))
