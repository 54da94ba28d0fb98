"""A cluster of 2,513 machines and over 10,000 containers in which every kind of rule is present and kept."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from bayplan.check import check
from bayplan.generate.freecontainer import freecontainer_dca
from bayplan.model import (
    Allow,
    AntiAffinity,
    Cluster,
    Confidence,
    Dependency,
    IntArray,
    Interference,
    Pinned,
    Rule,
    Skew,
    Snapshot,
    floats,
    ints,
)
from bayplan.model.rules import RULES

ALLOWED, ELSEWHERE = 0.2, 0.8  # share of the workloads with an allow rule; of the machines that it leaves beside theirs
PINNED = 0.01
SKEWED = 0.1  # share of the workloads with a skew rule over racks; of those with one over zones
PAIRS = 300  # interference rules, anti-affinity sets of two workloads per rack
RACK, ZONE = 1, 2
USAGE = 0.7, 0.15  # mean and standard deviation, of the request
ALPHA = 0.95


def all_rules(seed: int = 0) -> Snapshot:
    """`freecontainer-dca` with more rules, each of which the generated layout keeps."""
    snapshot = freecontainer_dca(seed=seed)
    cluster, on = snapshot.cluster, snapshot.placement.machine_of
    rng = np.random.default_rng(seed)
    request = cluster.workloads.request
    workloads = replace(cluster.workloads, usage_mean=floats(USAGE[0] * request), usage_std=floats(USAGE[1] * request))
    sets = {f"set-{w}": _machines(cluster, on, w, rng) for w in _sample(rng, len(request), ALLOWED)}
    added: list[Rule] = [Allow(workloads=(int(name.removeprefix("set-")),), machines=name) for name in sets]
    added += [
        *_pairs(cluster, on, rng),
        *_skews(cluster, on, rng),
        *_dependencies(cluster, on),
        Confidence(resource=0, alpha=ALPHA),
    ]
    added.append(Pinned(containers=tuple(_sample(rng, int((on >= 0).sum()), PINNED))))
    cluster = replace(cluster, workloads=workloads, rules=(*cluster.rules, *added), machine_sets=sets)
    missing = set(RULES) - {rule.kind for rule in cluster.rules}
    violations = check(cluster, snapshot.placement, snapshot.placement)
    if missing or violations:
        raise ValueError(f"rules of the kinds {missing} are missing, {len(violations)} are violated: {violations[:1]}")
    return replace(snapshot, cluster=cluster)


def _sample(rng: np.random.Generator, n: int, share: float) -> list[int]:
    return np.sort(rng.choice(n, size=int(n * share), replace=False)).tolist()


def _machines(cluster: Cluster, on: IntArray, w: int, rng: np.random.Generator) -> IntArray:
    """Where the workload runs, and most other machines."""
    used = on[(cluster.containers.workload == w) & (on >= 0)]
    return ints(np.union1d(used, _sample(rng, len(cluster.machines.name), ELSEWHERE)))


def _counts(cluster: Cluster, on: IntArray, level: int) -> IntArray:
    """(workload, group) containers."""
    group_of = cluster.levels[level].group_of
    counts = np.zeros((len(cluster.workloads.name), int(group_of.max()) + 1), dtype=np.int64)
    runs = on >= 0
    np.add.at(counts, (cluster.containers.workload[runs], group_of[on[runs]]), 1)
    return ints(counts)


def _pairs(cluster: Cluster, on: IntArray, rng: np.random.Generator) -> Iterator[Rule]:
    """Limits on pairs of workloads that are as tight as the layout allows, but no tighter than one."""
    machine, rack = _counts(cluster, on, 0), _counts(cluster, on, RACK)
    for a, b in rng.integers(len(machine), size=(PAIRS, 2)).tolist():
        there = machine[b, machine[a] > 0].max(initial=0)
        yield Interference(a=a, b=b, limit=max(1, int(there)))
        if a != b:
            yield AntiAffinity(workloads=(a, b), limit=max(1, int((rack[a] + rack[b]).max())), level=RACK)


def _skews(cluster: Cluster, on: IntArray, rng: np.random.Generator) -> Iterator[Skew]:
    """Workloads that stay as even over racks and zones as they are."""
    for level in (RACK, ZONE):
        count = _counts(cluster, on, level)
        for w in _sample(rng, len(count), SKEWED):
            yield Skew(workload=w, limit=max(1, int(count[w].max() - count[w].min())), level=level)


def _dependencies(cluster: Cluster, on: IntArray) -> Iterator[Dependency]:
    """Every pair of services of which the first is nowhere without the second in its zone."""
    group_of = cluster.levels[ZONE].group_of
    service = cluster.workloads.service[cluster.containers.workload]
    n_s = int(service[on >= 0].max()) + 1
    zones = [set(group_of[on[(service == s) & (on >= 0)]].tolist()) for s in range(n_s)]
    for s in range(n_s):
        for t in range(n_s):
            if s != t and zones[s] and zones[s] <= zones[t]:
                yield Dependency(service=s, on=t, level=ZONE)
                break
