"""Three services on three machines: the first two talk, the third is trivial."""

import numpy as np

from bayplan.model import (
    Cluster,
    Containers,
    Level,
    Machines,
    Objective,
    Placement,
    Resource,
    Services,
    Traffic,
    Workloads,
    floats,
    ints,
    machine_level,
)
from bayplan.model.problem import Problem

STANDS = {0: (0, 0, 1, 1), 1: (0, 1, 1), 2: (1, 2)}  # workload -> machines of its containers


def problem_of(*, rules=(), capacity=10, replicas=(4, 3, 2)) -> Problem:
    """Workloads of one, two and three units; a total affinity of 5."""
    machines = ("m0", "m1", "m2")
    names = ("a", "b", "trivial")
    amounts = ints(np.full((3, 2), capacity))
    cluster = Cluster(
        name="three",
        resources=(Resource(name="cpu"), Resource(name="memory")),
        machines=Machines(name=machines, capacity=amounts, safety=amounts),
        levels=(machine_level(machines), Level(name="rack", group=("r0", "r1"), group_of=ints([0, 0, 1]))),
        services=Services(name=names, clique=floats([0, 0, 0])),
        workloads=Workloads.by_request(names, ints([0, 1, 2]), ints([[1, 1], [2, 1], [3, 1]])),
        containers=Containers.replicas_of(names, replicas),
        traffic=Traffic.between(ints([0]), ints([1]), floats([5.0])),
        machine_sets={"two": ints([0, 1])},
        rules=rules,
    )
    stands = [m for w, count in enumerate(replicas) for m in STANDS[w][:count]]
    here = Placement(machine_of=ints(stands))
    return Problem(cluster=cluster, objective=Objective.default(cluster), before=here, start=here)
