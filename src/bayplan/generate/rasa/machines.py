"""Machines of M3's ten types in M3's shares, and the named sets that compatibility lists refer to."""

from collections.abc import Iterable

import numpy as np

from bayplan.generate.rasa.settings import LARGE_MEMORY, MACHINE_TYPES, MANY_CORES, MIB, STACKS, Settings
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
    size = np.array([[round(kind.cores * 1000), kind.gib * 1024 * MIB] for kind in MACHINE_TYPES], dtype=np.int64)
    capacity = ints(rng.permutation(np.repeat(size, count, axis=0)))
    digits = len(str(settings.machines - 1))
    names = tuple(f"node-{m:0{digits}d}" for m in range(settings.machines))
    return Machines(name=names, capacity=capacity, safety=capacity)


def make_machine_sets(machines: Machines, rng: np.random.Generator) -> dict[str, IntArray]:
    """Machines by network stack (004 section II names IPv4 and IPv6) and by size."""
    count = apportion(len(machines.name), STACKS.values())
    stack = rng.permutation(np.repeat(np.arange(len(STACKS)), count))
    dual, v4, v6 = (stack == kind for kind in range(len(STACKS)))
    cores, memory = machines.capacity[:, 0] / 1000, machines.capacity[:, 1] / (1024 * MIB)
    members = {"ipv4": dual | v4, "ipv6": dual | v6, "many-cores": cores >= MANY_CORES, "large-memory": memory >= LARGE_MEMORY}
    return {name: ints(np.flatnonzero(inside)) for name, inside in members.items()}
