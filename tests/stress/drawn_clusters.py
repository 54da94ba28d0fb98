"""Adversarial clusters by seed: all rules, all terms, odd amounts, starts that violate rules, containers without a machine.

The same generator state draws the same cluster. Most are tiny, so that brute force can judge the answers.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bayplan.model import (
    NO_LIMIT,
    UNPLACED,
    Allow,
    AntiAffinity,
    BalanceTarget,
    Capacity,
    Cluster,
    CoLocate,
    Confidence,
    Containers,
    Dependency,
    Interference,
    Level,
    Machines,
    MoveCosts,
    Objective,
    Pinned,
    Placement,
    Resource,
    Rule,
    Services,
    Skew,
    Snapshot,
    Spread,
    Term,
    Traffic,
    Transient,
    TransientMode,
    Workloads,
    floats,
    ints,
    machine_level,
)

Rng = np.random.Generator
ALPHAS = (0.51, 0.9, 0.99, 0.99999)
AMOUNTS = (1, 1, 1, 1000, 10**6, 2**40)  # base units of one step of a request
VALUES = (1e-10, 1e-3, 0.5, 1.0, 1.0, 1.0 + 1e-12, 3.0, 1e5, 100_005.0, 1e12)  # weights of traffic, values of requests


def drawn_snapshot(rng: Rng) -> Snapshot:
    """A cluster with a placement and an objective."""
    cluster = _bare(rng)
    placement = _placement(cluster, rng)
    cluster = replace(_fitted(cluster, placement, rng), machine_sets=_machine_sets(cluster, placement, rng))
    rules = tuple(_rules(cluster, placement, rng))
    cluster = replace(cluster, rules=rules)
    return Snapshot(cluster=cluster, placement=placement, objective=_objective(cluster, rng))


def chance(rng: Rng, probability: float) -> bool:
    """True with this probability."""
    return bool(rng.random() < probability)


def one_of(rng: Rng, values: Sequence):
    """One of the values."""
    return values[int(rng.integers(len(values)))]


def some(rng: Rng, size: int, least: int = 1) -> tuple[int, ...]:
    """Some of 0..size-1, ascending."""
    count = int(rng.integers(min(least, size), size + 1))
    return tuple(sorted(rng.permutation(size)[:count].tolist()))


# ---- without rules -------------------------------------------------------------------------------------------------------------


def _bare(rng: Rng) -> Cluster:
    n_m = int(rng.choice([0, 1, 2, 3, 4, 6, 9], p=[0.02, 0.08, 0.3, 0.3, 0.15, 0.1, 0.05]))
    n_w = int(rng.choice([0, 1, 2, 3, 4, 6, 9], p=[0.02, 0.1, 0.26, 0.28, 0.16, 0.12, 0.06]))
    n_r = int(rng.choice([1, 2, 3, 4], p=[0.35, 0.4, 0.15, 0.1]))
    most = int(rng.choice([1, 2, 3, 6], p=[0.3, 0.35, 0.25, 0.1]))
    replicas = rng.integers(0 if chance(rng, 0.15) else 1, most + 1, n_w)
    unit = np.array([one_of(rng, AMOUNTS) for _ in range(n_r)], dtype=np.int64)
    resources = tuple(Resource(name=f"r{r}", scale=int(one_of(rng, (1, 1, 1000)))) for r in range(n_r))
    names = tuple(f"m{m}" for m in range(n_m))
    capacity = rng.integers(0, 13, (n_m, n_r)) if chance(rng, 0.5) else np.full((n_m, n_r), int(rng.integers(1, 13)))
    request = rng.integers(0 if chance(rng, 0.5) else 1, 7, (n_w, n_r))
    if chance(rng, 0.2):
        request[:, int(rng.integers(n_r))] = 0  # a resource that no container uses
    if chance(rng, 0.2) and n_w:
        request[int(rng.integers(n_w))] = 0  # a workload that requests nothing
    if n_m:
        capacity[~capacity.any(axis=1), 0] = 1  # a file may not have a machine without any capacity
    capacity, request = capacity * unit, request * unit
    n_s = int(rng.integers(1, n_w + 1)) if n_w else int(rng.integers(0, 2))
    return Cluster(
        name="drawn",
        resources=resources,
        machines=Machines(name=names, capacity=ints(capacity), safety=ints(_safety(capacity, rng))),
        levels=(machine_level(names), *_levels(n_m, rng)),
        services=Services(name=tuple(f"s{s}" for s in range(n_s)), clique=floats(rng.choice([0.0, 0.0, 1.0, 1e-10, 1e9], n_s))),
        workloads=_workloads(request, n_s, rng),
        containers=Containers.replicas_of([f"w{w}" for w in range(n_w)], ints(replicas)),
        traffic=_traffic(n_w, rng),
    )


def _safety(capacity: np.ndarray, rng: Rng) -> np.ndarray:
    return (capacity * rng.random(capacity.shape)).astype(np.int64) if chance(rng, 0.5) else capacity


def _levels(n_m: int, rng: Rng) -> list[Level]:
    levels = []
    for k in range(int(rng.choice([0, 1, 2, 3], p=[0.35, 0.35, 0.2, 0.1]))):
        groups = int(rng.integers(1, max(1, n_m) + 1))
        levels.append(
            Level(name=f"level-{k}", group=tuple(f"k{k}-{g}" for g in range(groups)), group_of=rng.integers(0, groups, n_m))
        )
    return levels


def _workloads(request: np.ndarray, n_s: int, rng: Rng) -> Workloads:
    n_w = len(request)
    exact = Workloads.by_request(tuple(f"w{w}" for w in range(n_w)), ints(rng.integers(0, max(1, n_s), n_w)), ints(request))
    if chance(rng, 0.5):
        return exact
    mean = request * rng.choice([0.0, 0.3, 0.7, 1.0, 1.5], request.shape)
    limit = np.maximum(np.ceil(mean).astype(np.int64), request * rng.integers(1, 4, request.shape))
    return replace(
        exact,
        usage_mean=floats(mean),
        usage_std=floats(mean * rng.choice([0.0, 0.1, 0.5, 2.0], request.shape)),
        limit=ints(np.where(rng.random(request.shape) < 0.8, limit, NO_LIMIT)),
    )


def _traffic(n_w: int, rng: Rng) -> Traffic:
    edges = int(rng.integers(0, 2 * n_w + 1)) if n_w > 1 and not chance(rng, 0.1) else 0
    a, b = (rng.integers(0, max(1, n_w), edges) for _ in range(2))
    kept = a != b
    values = VALUES if chance(rng, 0.4) else (1.0, 1.0, 2.0, 5.0)
    weight = np.array([one_of(rng, values) for _ in range(edges)], dtype=float)
    return Traffic.between(ints(a[kept]), ints(b[kept]), floats(weight[kept]))


# ---- where containers run ------------------------------------------------------------------------------------------------------


def _placement(cluster: Cluster, rng: Rng) -> Placement:
    n_c, n_m = len(cluster.containers.name), len(cluster.machines.name)
    if not n_m:
        return Placement.empty(n_c)
    machine_of = rng.integers(0, n_m, n_c) if chance(rng, 0.8) else np.full(n_c, int(rng.integers(n_m)))
    unplaced = float(rng.choice([0.0, 0.2, 0.5, 1.0], p=[0.35, 0.3, 0.2, 0.15]))
    return Placement(machine_of=ints(np.where(rng.random(n_c) < unplaced, UNPLACED, machine_of)))


def _fitted(cluster: Cluster, placement: Placement, rng: Rng) -> Cluster:
    """In most clusters machines are large enough for what runs on them; in some they are exactly full, in others overfull."""
    if chance(rng, 0.3) or not len(placement.placed):
        return cluster
    load = np.zeros_like(cluster.machines.capacity)
    placed = placement.placed
    np.add.at(load, placement.machine_of[placed], cluster.workloads.request[cluster.containers.workload[placed]])
    capacity = np.maximum(cluster.machines.capacity, load)
    if chance(rng, 0.2):
        capacity = np.where(load > 0, load, capacity)
    safety = np.minimum(cluster.machines.safety, capacity)
    return replace(cluster, machines=replace(cluster.machines, capacity=ints(capacity), safety=ints(safety)))


# ---- rules ---------------------------------------------------------------------------------------------------------------------


def _rules(cluster: Cluster, placement: Placement, rng: Rng) -> list[Rule]:
    """A few rules of any kind; some of them loose enough for the start, the others not."""
    n_c, n_w, n_s = len(cluster.containers.name), len(cluster.workloads.name), len(cluster.services.name)
    n_r, n_l = len(cluster.resources), len(cluster.levels)
    rules: list[Rule] = []
    if chance(rng, 0.75):
        rules.append(Capacity(resources=tuple(range(n_r)) if chance(rng, 0.8) else some(rng, n_r)))
    kinds = rng.choice(["anti", "spread", "skew", "dependency", "interference", "allow"], int(rng.choice([0, 1, 2, 4])))
    for kind in kinds.tolist():
        level = int(rng.integers(n_l))
        if kind == "anti" and n_w:
            rules.append(AntiAffinity(workloads=some(rng, n_w), limit=int(rng.choice([0, 1, 1, 2, 3])), level=level))
        elif kind == "spread" and n_s:
            rules.append(Spread(service=int(rng.integers(n_s)), minimum=int(rng.choice([1, 2, 2, 3, 9])), level=level))
        elif kind == "skew" and n_w:
            counted = some(rng, n_w) if chance(rng, 0.4) else ()
            machines, least = one_of(rng, ("", "", "all", "few", "none")), int(rng.choice([0, 0, 0, 2, 9]))
            limit, w = int(rng.choice([1, 1, 1, 2, 3])), int(rng.integers(n_w))
            rules.append(Skew(workload=w, counted=counted, limit=limit, level=level, machines=machines, min_groups=least))
        elif kind == "dependency" and n_s:
            rules.append(Dependency(service=int(rng.integers(n_s)), on=int(rng.integers(n_s)), level=level))
        elif kind == "interference" and n_w:
            a, b = (int(w) for w in rng.integers(0, n_w, 2))
            rules.append(Interference(a=a, b=b, limit=int(rng.choice([0, 1, 2])), level=level))
        elif kind == "allow" and n_w:
            rules.append(Allow(workloads=some(rng, n_w), machines=one_of(rng, ("all", "few", "none"))))
    rules += _single_rules(n_c, n_r, rng)
    rules += _co_locate(placement, n_c, rng)
    return rules


def _single_rules(n_c: int, n_r: int, rng: Rng) -> list[Rule]:
    rules: list[Rule] = []
    if chance(rng, 0.25):
        rules.append(Transient(resource=int(rng.integers(n_r)), mode=one_of(rng, tuple(TransientMode))))
    if n_c and chance(rng, 0.25):
        rules.append(Pinned(containers=some(rng, n_c)))
    if chance(rng, 0.25):
        rules += [Confidence(resource=r, alpha=one_of(rng, ALPHAS)) for r in some(rng, n_r)]
    return rules


def _co_locate(placement: Placement, n_c: int, rng: Rng) -> list[Rule]:
    """Up to two groups, together at the start or not."""
    if n_c < 2 or not chance(rng, 0.25):
        return []
    order = rng.permutation(n_c).tolist()
    if chance(rng, 0.6):
        order.sort(key=lambda c: int(placement.machine_of[c]))
    sizes = rng.integers(2, 4, 2).tolist()
    groups = [order[: sizes[0]], order[sizes[0] : sizes[0] + sizes[1]]]
    return [CoLocate(containers=tuple(sorted(group))) for group in groups[: int(rng.integers(1, 3))] if len(group) > 1]


def _machine_sets(cluster: Cluster, placement: Placement, rng: Rng) -> dict[str, np.ndarray]:
    """The sets that `allow` rules name; in half of the clusters `few` has every machine that is used."""
    n_m = len(cluster.machines.name)
    used = placement.machine_of[placement.placed] if chance(rng, 0.5) else ints([])
    few = np.union1d(np.array(some(rng, n_m), dtype=np.int64), used) if n_m else ints([])
    return {"all": ints(np.arange(n_m)), "few": ints(few), "none": ints([])}


# ---- objectives ----------------------------------------------------------------------------------------------------------------


def _objective(cluster: Cluster, rng: Rng) -> Objective:
    standard = Objective.default(cluster)
    if chance(rng, 0.35):
        return standard
    n_r, n_m, n_w = len(cluster.resources), len(cluster.machines.name), len(cluster.workloads.name)
    costs = MoveCosts(
        container=ints(rng.integers(0, 9, n_w)),
        machine=ints(rng.integers(0, 9, (n_m, n_m)) * (1 - np.eye(n_m, dtype=int)) if chance(rng, 0.5) else np.zeros((0, 0))),
        container_weight=int(rng.integers(0, 9)),
        service_weight=int(rng.integers(0, 9)),
        machine_weight=int(rng.integers(0, 9)),
    )
    targets = tuple(
        BalanceTarget(
            r1=int(rng.integers(n_r)), r2=int(rng.integers(n_r)), target=int(rng.integers(1, 4)), weight=int(rng.integers(0, 6))
        )
        for _ in range(int(rng.integers(0, 3)))
    )
    terms = [term for term in Term if chance(rng, 0.4)] or [Term.OVERLOAD]
    if chance(rng, 0.3):
        terms = [Term.OVERLOAD, Term.TARGETS, Term.MOVE_COST]
    weights = (1.0,) if chance(rng, 0.6) else (0.0, 1e-10, 0.5, 1.0, 1e9)
    return replace(
        standard,
        weight={term: float(one_of(rng, weights)) for term in terms},
        hop=floats(rng.choice([0.0, 1.0, 2.5], len(cluster.levels))),
        overload_weight=floats(rng.choice([0.0, 1.0, 10.0], n_r)),
        targets=targets,
        move_costs=costs if Term.MOVE_COST in terms or chance(rng, 0.2) else None,
        explicit=True,
    )
