"""Random clusters, and random rules that are as strict as a known order of moves allows."""

from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from bayplan.model import (
    UNPLACED,
    Allow,
    AntiAffinity,
    Cluster,
    CoLocate,
    Confidence,
    Containers,
    Dependency,
    IntArray,
    Interference,
    Level,
    Machines,
    Pinned,
    Resource,
    Rule,
    Services,
    Spread,
    Traffic,
    Transient,
    TransientMode,
    Workloads,
    floats,
    ints,
    machine_level,
)

Rng = np.random.Generator
RESOURCES = (Resource(name="cpu"), Resource(name="memory"))


def drawn_cluster(request, replicas, capacity, rng: Rng, *, services: int | None = None) -> Cluster:
    """Machines in up to three zones; a service is one or more workloads."""
    n_w, n_m = len(replicas), len(capacity)
    n_s = services or n_w
    names = tuple(f"w-{w}" for w in range(n_w))
    machines = tuple(f"m-{m}" for m in range(n_m))
    zones = Level(name="zone", group=("z-0", "z-1", "z-2"), group_of=ints(rng.permutation(np.arange(n_m) % 3)))
    usage = np.asarray(request) * rng.choice([0.4, 0.6, 0.8], (n_w, 1))
    return Cluster(
        name="drawn",
        resources=RESOURCES,
        machines=Machines(name=machines, capacity=ints(capacity), safety=ints(capacity)),
        levels=(machine_level(machines), zones),
        services=Services(name=tuple(f"s-{s}" for s in range(n_s)), clique=floats(np.zeros(n_s))),
        workloads=Workloads(
            name=names,
            service=ints(rng.permutation(np.arange(n_w) % n_s)),
            request=ints(request),
            usage_mean=floats(usage),
            usage_std=floats(0.2 * usage),
            limit=ints(np.full(np.shape(request), 2**62)),
        ),
        containers=Containers.replicas_of(names, replicas),
        traffic=Traffic.none(),
    )


def load_of(cluster: Cluster, machine_of: IntArray) -> IntArray:
    """(machine, resource) requests of what is placed."""
    load = np.zeros_like(cluster.machines.capacity)
    placed = np.flatnonzero(machine_of != UNPLACED)
    np.add.at(load, machine_of[placed], cluster.request_of(placed))
    return load


def with_capacity(cluster: Cluster, capacity: IntArray) -> Cluster:
    """The cluster with machines of other sizes."""
    machines = replace(cluster.machines, capacity=ints(capacity), safety=ints(capacity))
    return replace(cluster, machines=machines)


def ruled(cluster: Cluster, batches, stays, units: list[tuple[int, ...]], rng: Rng) -> Cluster:
    """Random rules as strict as they can be while every (high, low) pair of `batches` keeps them."""
    n_w, n_s, n_m = len(cluster.workloads.name), len(cluster.services.name), len(cluster.machines.name)
    trace = _Trace(cluster, batches)
    rules: list[Rule] = [CoLocate(containers=unit) for unit in units]
    for _ in range(int(rng.integers(0, 4))):
        count, level = min(n_w, int(rng.integers(1, 4))), _level(rng)
        workloads = tuple(sorted(rng.choice(n_w, count, replace=False).tolist()))
        rules.append(AntiAffinity(workloads=workloads, limit=max(1, trace.most_together(workloads, level)), level=level))
    for _ in range(int(rng.integers(0, 3))):
        a, b, level = int(rng.integers(n_w)), int(rng.integers(n_w)), _level(rng)
        rules.append(Interference(a=a, b=b, limit=max(int(a == b), trace.most_beside(a, b, level)), level=level))
    for _ in range(int(rng.integers(0, 3))):
        s, level = int(rng.integers(n_s)), _level(rng)
        rules.append(Spread(service=s, minimum=max(1, trace.fewest_groups(s, level)), level=level))
    for _ in range(int(rng.integers(0, 4))):
        a, on = (int(s) for s in rng.integers(n_s, size=2))
        if a != on and trace.always_served(a, on, 1):
            rules.append(Dependency(service=a, on=on, level=1))
    sets = {}
    for i in range(int(rng.integers(0, 3))):
        w = tuple(sorted(rng.choice(n_w, min(n_w, 2), replace=False).tolist()))
        sets[f"set-{i}"] = ints(np.union1d(trace.machines_of(w), np.flatnonzero(rng.random(n_m) < 0.5)))
        rules.append(Allow(workloads=w, machines=f"set-{i}"))
    if rng.random() < 0.3:
        rules.append(Pinned(containers=tuple(c for c in np.flatnonzero(stays).tolist() if rng.random() < 0.3)))
    alpha = float(rng.choice([0.9, 0.99]))
    if rng.random() < 0.3 and trace.confident(0, alpha):
        rules.append(Confidence(resource=0, alpha=alpha))
    if rng.random() < 0.15:
        rules.append(Transient(resource=1, mode=TransientMode.SEQUENTIAL))
    order = rng.permutation(len(rules))
    return replace(cluster, rules=tuple(rules[i] for i in order), machine_sets=sets)


def _level(rng: Rng) -> int:
    return int(rng.random() < 0.4)


@dataclass
class _Trace:
    """What runs at most and at least in each batch: (instance, 2) arrays of container and machine."""

    cluster: Cluster
    batches: list[tuple[np.ndarray, np.ndarray]]

    def _groups(self, pairs, mine, level: int) -> np.ndarray:
        """(group,) instances of those that `mine` marks."""
        group = self.cluster.levels[level].group_of[pairs[mine[pairs[:, 0]], 1]]
        return np.bincount(group, minlength=len(self.cluster.levels[level].group))

    def _of_workloads(self, workloads) -> np.ndarray:
        return np.isin(self.cluster.containers.workload, workloads)

    def _of_service(self, s: int) -> np.ndarray:
        return self.cluster.workloads.service[self.cluster.containers.workload] == s

    def most_together(self, workloads, level: int) -> int:
        return max(int(self._groups(high, self._of_workloads(workloads), level).max()) for high, _ in self.batches)

    def most_beside(self, a: int, b: int, level: int) -> int:
        most = 0
        for high, _ in self.batches:
            with_a = self._groups(high, self._of_workloads([a]), level) > 0
            most = max(most, int((self._groups(high, self._of_workloads([b]), level) * with_a).max()))
        return most

    def fewest_groups(self, s: int, level: int) -> int:
        return min(int((self._groups(low, self._of_service(s), level) > 0).sum()) for _, low in self.batches)

    def always_served(self, a: int, on: int, level: int) -> bool:
        asks = (self._groups(high, self._of_service(a), level) > 0 for high, _ in self.batches)
        has = (self._groups(low, self._of_service(on), level) > 0 for _, low in self.batches)
        return all(not (ask & ~have).any() for ask, have in zip(asks, has, strict=True))

    def machines_of(self, workloads) -> np.ndarray:
        mine = self._of_workloads(workloads)
        return np.unique(np.concatenate([high[mine[high[:, 0]], 1] for high, _ in self.batches]))

    def confident(self, r: int, alpha: float) -> bool:
        workloads, has = self.cluster.workloads, self.cluster.machines.capacity[:, r]
        for high, _ in self.batches:
            w, n_m = self.cluster.containers.workload[high[:, 0]], len(has)
            mean = np.bincount(high[:, 1], weights=workloads.usage_mean[w, r], minlength=n_m)
            variance = np.bincount(high[:, 1], weights=workloads.usage_std[w, r] ** 2, minlength=n_m)
            if (mean + NormalDist().inv_cdf(alpha) * np.sqrt(variance) > has).any():
                return False
        return True
