"""Machines of M3's ten types in M3's shares, and the named sets that compatibility lists refer to."""

from collections.abc import Iterable

import numpy as np

from bayplan.generate.rasa.settings import LARGE_MEMORY, MACHINE_TYPES, MANY_CORES, MIB, STACKS, MachineType, Settings
from bayplan.model import IntArray, Machines, ints


def apportion(total: int, shares: Iterable[float]) -> IntArray:
    """`total` split into whole numbers in these proportions (largest remainders; ties to the first)."""
    share = np.asarray(list(shares), dtype=np.float64)
    exact = total * share / share.sum()
    count = np.floor(exact).astype(np.int64)
    rest = np.argsort(count - exact, kind="stable")[: total - count.sum()]
    count[rest] += 1
    return ints(count)


def make_machines(settings: Settings, rng: np.random.Generator) -> Machines:
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
    """Machines by network stack (004 section II names IPv4 and IPv6) and by size."""
    count = apportion(len(machines.name), STACKS.values())
    stack = rng.permutation(np.repeat(np.arange(len(STACKS)), count))
    dual, v4, v6 = (stack == kind for kind in range(len(STACKS)))
    cores, memory = machines.capacity[:, 0] / 1000, machines.capacity[:, 1] / (1024 * MIB)
    members = {"ipv4": dual | v4, "ipv6": dual | v6, "many-cores": cores >= MANY_CORES, "large-memory": memory >= LARGE_MEMORY}
    return {name: ints(np.flatnonzero(inside)) for name, inside in members.items()}
