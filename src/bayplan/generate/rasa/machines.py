"""Machines of M3's ten types in M3's shares, the named sets that allow lists refer to, and the rules of a generated cluster."""

from collections.abc import Iterable, Mapping

import numpy as np

from bayplan.generate.rasa.settings import (
    LARGE_MEMORY,
    MACHINE_TYPES,
    MANY_CORES,
    MIB,
    STACKS,
    ClusterSettings,
    MachineType,
    RuleShares,
)
from bayplan.model import Allow, AntiAffinity, Capacity, IntArray, Machines, Rule, ints


def apportion(total: int, shares: Iterable[float]) -> IntArray:
    """`total` split into whole numbers in these proportions (largest remainders; ties to the first)."""
    share = np.asarray(list(shares), dtype=np.float64)
    exact = total * share / share.sum()
    count = np.floor(exact).astype(np.int64)
    rest = np.argsort(count - exact, kind="stable")[: total - count.sum()]
    count[rest] += 1
    return ints(count)


def make_machines(settings: ClusterSettings, rng: np.random.Generator) -> Machines:
    """Machines in random order of types: capacity (machine, 2) in milli-cores and bytes."""
    count = apportion(settings.machines, (kind.machines for kind in MACHINE_TYPES))
    size = np.array([_size(kind) for kind in MACHINE_TYPES], dtype=np.int64)
    capacity = ints(rng.permutation(np.repeat(size, count, axis=0)))
    digits = len(str(settings.machines - 1))
    names = tuple(f"node-{m:0{digits}d}" for m in range(settings.machines))
    return Machines(name=names, capacity=capacity, safety=capacity)


def joining_order(machines: Machines, rng: np.random.Generator) -> IntArray:
    """Machines as they joined: in random order; M3's share of late ones of each type last, those with most cores first."""
    order = rng.permutation(len(machines.name))
    late = np.zeros(len(order), dtype=np.bool_)
    for kind in MACHINE_TYPES:
        same = order[(machines.capacity[order] == _size(kind)).all(axis=1)]
        late[same[len(same) - round(len(same) * kind.late / kind.machines) :]] = True
    size = np.where(late, machines.capacity[:, 0], 0)[order]
    return ints(order[np.lexsort((-size, late[order]))])


def _size(kind: MachineType) -> tuple[int, int]:
    """Milli-cores and bytes."""
    return round(kind.cores * 1000), kind.gib * 1024 * MIB


def make_machine_sets(machines: Machines, rng: np.random.Generator) -> dict[str, IntArray]:
    """Machines by network stack ([RASA] §II names IPv4 and IPv6) and by size."""
    count = apportion(len(machines.name), STACKS.values())
    stack = rng.permutation(np.repeat(np.arange(len(STACKS)), count))
    dual, v4, v6 = (stack == kind for kind in range(len(STACKS)))
    cores, memory = machines.capacity[:, 0] / 1000, machines.capacity[:, 1] / (1024 * MIB)
    members = {"ipv4": dual | v4, "ipv6": dual | v6, "many-cores": cores >= MANY_CORES, "large-memory": memory >= LARGE_MEMORY}
    return {name: ints(np.flatnonzero(inside)) for name, inside in members.items()}


def make_rules(
    settings: ClusterSettings, replicas: IntArray, machine_sets: Mapping[str, IntArray], rng: np.random.Generator
) -> tuple[Rule, ...]:
    """Capacity of both resources, then allow rules, then anti-affinity of one service, then of several."""
    allow = _allow(settings, rng)
    usable = np.full(settings.services, settings.machines)  # (workload,) machines it may use
    for rule in allow:
        usable[list(rule.workloads)] = len(machine_sets[rule.machines])
    groups = [*_one_workload_sets(settings.rules, replicas, rng), *_several_workload_sets(settings, rng)]
    apart = [AntiAffinity(workloads=group, limit=_limit(group, replicas, usable, settings.rules.slack)) for group in groups]
    return Capacity(resources=(0, 1)), *allow, *apart


def _allow(settings: ClusterSettings, rng: np.random.Generator) -> list[Allow]:
    """One rule per machine set, over different services."""
    shuffled = rng.permutation(settings.services)
    counts = [round(share * settings.services) for share in settings.rules.allow.values()]
    parts = np.split(shuffled, np.cumsum(counts))
    named = zip(settings.rules.allow, parts[:-1], strict=True)
    return [Allow(workloads=_ascending(part), machines=name) for name, part in named if len(part)]


def _one_workload_sets(shares: RuleShares, replicas: IntArray, rng: np.random.Generator) -> list[tuple[int, ...]]:
    several = np.flatnonzero(replicas > 1)
    chosen = rng.choice(several, round(shares.alone * len(several)), replace=False)
    return [(w,) for w in _ascending(chosen)]


def _several_workload_sets(settings: ClusterSettings, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Disjoint groups of several services."""
    low, high = settings.rules.set_sizes
    sizes = rng.integers(low, high + 1, round(settings.rules.sets_per_service * settings.services))
    parts = np.split(rng.permutation(settings.services), np.cumsum(sizes))
    return [_ascending(part) for part in parts[:-1]]


def _limit(group: tuple[int, ...], replicas: IntArray, usable: IntArray, slack: int) -> int:
    """h such that the group needs at most one in `slack` of the machines it may use."""
    members = list(group)
    return max(1, -int(-slack * replicas[members].sum() // usable[members].min()))


def _ascending(workloads: IntArray) -> tuple[int, ...]:
    return tuple(ints(np.sort(workloads)).tolist())
