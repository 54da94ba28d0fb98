"""Small random subproblems of `collocate`: two resources, anti-affinity, allow lists, fixed containers."""

from dataclasses import replace

import numpy as np

from bayplan.decide.collocate.subproblem import Subproblem
from bayplan.model import (
    Capacity,
    Cluster,
    Containers,
    Machines,
    Objective,
    Placement,
    Resource,
    Services,
    Snapshot,
    Traffic,
    Workloads,
    ints,
    machine_level,
)


def drawn_subproblem(
    seed: int, *, workloads: int = 3, machines: int = 3, most: int = 3, edges: int = 3, huge: bool = False
) -> Subproblem:
    """A subproblem with something to decide; some containers stay, some stand already."""
    rng = np.random.default_rng(seed)
    demand = rng.integers(0 if rng.random() < 0.2 else 1, most + 1, workloads)
    fixed = rng.integers(1, 3, (workloads, machines)) * (
        rng.random((workloads, machines)) < (0.15 if rng.random() < 0.5 else 0.0)
    )
    request = rng.integers(0 if rng.random() < 0.3 else 1, 7, (workloads, 2))
    large = 10 ** int(rng.integers(0, 12 if huge else 5)) if rng.random() < 0.5 else 1
    request, free = request * large + (large > 1) * rng.integers(0, 3, request.shape), rng.integers(0, 18, (machines, 2)) * large
    sets = int(rng.integers(0, 3))
    a, b = _pairs(rng, workloads, edges)
    weight = rng.uniform(0.05, 1.0, len(a)) if rng.random() < 0.7 else np.ones(len(a))
    subproblem = Subproblem(
        workload=np.arange(workloads),
        machine=np.arange(machines),
        replicas=np.maximum(1, demand + fixed.sum(axis=1) + rng.integers(0, 2, workloads)),
        demand=demand,
        request=request,
        free=free,
        row_of=rng.integers(0, 2, workloads),
        allow=np.vstack([np.ones(machines, dtype=np.bool_), rng.random(machines) < 0.7]),
        member=rng.random((sets, workloads)) < 0.6,
        set_free=rng.integers(0, most + 1, (sets, machines)),
        a=a,
        b=b,
        weight=weight / max(1.0, weight.sum()),
        now=np.zeros((workloads, machines), dtype=np.int64),
        fixed=fixed,
    )
    return _with_start(subproblem, rng)


def _pairs(rng: np.random.Generator, workloads: int, edges: int) -> tuple[np.ndarray, np.ndarray]:
    """Different pairs of different workloads."""
    a, b = np.triu_indices(workloads, 1)
    chosen = rng.permutation(len(a))[:edges]
    return a[chosen], b[chosen]


def _with_start(subproblem: Subproblem, rng: np.random.Generator) -> Subproblem:
    """Some containers stand somewhere: often, but not always, where they may."""
    now = np.zeros(subproblem.shape, dtype=np.int64)
    for s, demand in enumerate(subproblem.demand.tolist()):
        for m in rng.integers(0, len(subproblem.machine), demand):
            now[s, m] += rng.random() < 0.5
    return replace(subproblem, now=now)


def whole_subproblem(snapshot: Snapshot) -> Subproblem:
    """A cluster as one subproblem, every container movable, every machine allowed, without anti-affinity."""
    cluster = snapshot.cluster
    n_w, n_m = len(cluster.workloads.name), len(cluster.machines.name)
    now = np.zeros((n_w, n_m), dtype=np.int64)
    np.add.at(now, (cluster.containers.workload, snapshot.placement.machine_of), 1)
    return Subproblem(
        workload=np.arange(n_w),
        machine=np.arange(n_m),
        replicas=now.sum(axis=1),
        demand=now.sum(axis=1),
        request=cluster.workloads.request,
        free=cluster.machines.capacity,
        row_of=np.zeros(n_w, dtype=np.int64),
        allow=np.ones((1, n_m), dtype=np.bool_),
        member=np.zeros((0, n_w), dtype=np.bool_),
        set_free=np.zeros((0, n_m), dtype=np.int64),
        a=cluster.traffic.a,
        b=cluster.traffic.b,
        weight=cluster.traffic.weight / cluster.traffic.weight.sum(),
        now=now,
        fixed=np.zeros_like(now),
    )


def pairs_apart(pairs: int = 2, replicas: int = 2, spare: int = 1) -> Snapshot:
    """So many pairs of services that talk, on as many machines, each service of a pair on the next machine after the other's."""
    names = tuple(f"{side}{n}" for n in range(pairs) for side in "ab")
    machines = tuple(f"m{n}" for n in range(pairs))
    capacity = ints([[2 * replicas + spare]] * pairs)
    cluster = Cluster(
        name="pairs",
        resources=(Resource(name="cpu"),),
        machines=Machines(name=machines, capacity=capacity, safety=capacity),
        levels=(machine_level(machines),),
        services=Services(name=names, clique=np.zeros(2 * pairs)),
        workloads=Workloads.by_request(names, ints(range(2 * pairs)), ints([[1]] * (2 * pairs))),
        containers=Containers.replicas_of(names, [replicas] * (2 * pairs)),
        traffic=Traffic(a=ints(range(0, 2 * pairs, 2)), b=ints(range(1, 2 * pairs, 2)), weight=np.ones(pairs)),
        rules=(Capacity(resources=(0,)),),
    )
    stands = [n if side == 0 else (n + 1) % pairs for n in range(pairs) for side in (0, 1) for _ in range(replicas)]
    return Snapshot(cluster=cluster, placement=Placement(machine_of=ints(stands)), objective=Objective.default(cluster))
