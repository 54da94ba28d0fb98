"""Clusters small enough to score by hand."""

from collections.abc import Sequence
from typing import Any

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


def tiny(
    capacity: Sequence[Sequence[int]],
    request: Sequence[Sequence[int]],
    replicas: Sequence[int],
    *,
    service: Sequence[int] | None = None,
    rules: tuple[Rule, ...] = (),
    **parts: Any,  # safety, clique, edges, racks, mean, std, limit, scale
) -> Cluster:
    """A cluster from lists: machines by capacity, workloads by request and number of replicas."""
    n_w, n_r = len(request), len(capacity[0])
    services = list(range(n_w)) if service is None else list(service)
    names = tuple(f"m{m}" for m in range(len(capacity)))
    racks = parts.get("racks")
    levels = (
        [] if racks is None else [Level(name="rack", group=tuple(f"k{k}" for k in range(max(racks) + 1)), group_of=ints(racks))]
    )
    a, b, weight = zip(*parts["edges"], strict=True) if parts.get("edges") else ((), (), ())
    return Cluster(
        name="tiny",
        resources=tuple(Resource(name=f"r{r}", scale=parts.get("scale", 1)) for r in range(n_r)),
        machines=Machines(name=names, capacity=ints(capacity), safety=ints(parts.get("safety", capacity))),
        levels=(machine_level(names), *levels),
        services=Services(
            name=tuple(f"s{s}" for s in range(max(services) + 1)), clique=floats(parts.get("clique", [0] * (max(services) + 1)))
        ),
        workloads=Workloads(
            name=tuple(f"w{w}" for w in range(n_w)),
            service=ints(services),
            request=ints(request),
            usage_mean=floats(parts.get("mean", request)),
            usage_std=floats(parts.get("std", np.zeros((n_w, n_r)))),
            limit=ints(parts.get("limit", np.full((n_w, n_r), NO_LIMIT))),
        ),
        containers=Containers(
            name=tuple(f"w{w}-{i}" for w, count in enumerate(replicas) for i in range(count)),
            workload=ints(np.repeat(np.arange(n_w), replicas)),
        ),
        traffic=Traffic(a=ints(a), b=ints(b), weight=floats(weight)),
        rules=rules,
    )


def on(*machines: int) -> Placement:
    """The containers' machines, in order; -1 for none."""
    return Placement(machine_of=ints(machines))
