"""Replicas and requests of services: M3's distributions, with M3's rank correlations, at another scale.

Values are stratified: every seed gets the same replica counts and the same requests, dealt to other services.
"""

from typing import NamedTuple

import numpy as np

from bayplan.generate.rasa.machines import apportion
from bayplan.generate.rasa.settings import (
    CORES_PER_CONTAINER,
    CORES_PER_SERVICE,
    CPU_REQUESTED,
    MEMORY_REQUESTED,
    MIB,
    REPLICAS,
    REPLICAS_CPU,
    REQUESTS,
    TRAFFIC_CPU,
    TRAFFIC_REPLICAS,
    Settings,
)
from bayplan.model import FloatArray, IntArray, floats, ints

BISECTIONS = 60
TRADES_PER_SERVICE = 40  # attempts
TRADING_SHARE = 0.05  # of the services: one of each pair is among so many with most replicas
CLOSE_ENOUGH = 0.001  # of the capacity, both resources together


class Drawn(NamedTuple):
    """Services in order of falling traffic."""

    replicas: IntArray  # (workload,)
    request: IntArray  # (workload, 2) milli-cores, bytes


def make_workloads(settings: Settings, capacity: IntArray, rng: np.random.Generator) -> Drawn:
    """Replicas and requests of all services; the total of the requests is M3's share of `capacity` (2,)."""
    z = _latent(settings.services, rng)
    replicas = np.empty(settings.services, dtype=np.int64)
    replicas[np.argsort(z[:, 1])] = replica_counts(settings)
    menu = _requests(settings, capacity)
    request = np.empty((settings.services, 2), dtype=np.int64)
    shuffled = rng.permutation(menu)  # random memory within equal cpu
    request[np.argsort(z[:, 2])] = shuffled[np.argsort(shuffled[:, 0], kind="stable")]
    target = np.array([CPU_REQUESTED, MEMORY_REQUESTED])
    return Drawn(replicas=ints(replicas), request=_traded(replicas, request, capacity, target, rng))


def _latent(n: int, rng: np.random.Generator) -> FloatArray:
    """(service, 3) normals for traffic (falling), replicas, cpu, with M3's rank correlations."""
    correlation = [[1, TRAFFIC_REPLICAS, TRAFFIC_CPU], [TRAFFIC_REPLICAS, 1, REPLICAS_CPU], [TRAFFIC_CPU, REPLICAS_CPU, 1]]
    z = rng.standard_normal((n, 3)) @ np.linalg.cholesky(correlation).T
    return floats(z[np.argsort(-z[:, 0])])


def replica_counts(settings: Settings) -> IntArray:
    """Ascending replicas: M3's quantiles to a power that makes the total exactly the stated containers."""
    share, value = np.array([(0.0, 1.0), *REPLICAS]).T
    m3 = np.exp(np.interp((np.arange(settings.services) + 0.5) / settings.services, share, np.log(value)))
    low, high = 0.0, 3.0
    for _ in range(BISECTIONS):
        power = (low + high) / 2
        low, high = (power, high) if np.rint(m3**power).sum() <= settings.containers else (low, power)
    counts = np.rint(m3**low).astype(np.int64)
    rest = settings.containers - int(counts.sum())  # less than a step of the power: one more for the largest
    counts[len(counts) - rest :] += 1
    return ints(counts)


def _requests(settings: Settings, capacity: IntArray) -> IntArray:
    """(service, 2) M3's requests, tilted towards large ones where a machine has fewer containers than in M3.

    Shares are multiplied by cores^tilt, so that mean cores per service grow as cores per container must.
    """
    menu = np.array([(cores, gib, n) for cores, row in REQUESTS.items() for gib, n in row.items()])
    needed = CPU_REQUESTED * capacity[0] / 1000 / settings.containers
    goal = CORES_PER_SERVICE * needed / CORES_PER_CONTAINER
    low, high = -5.0, 5.0
    for _ in range(BISECTIONS):
        tilt = (low + high) / 2
        weight = menu[:, 2] * menu[:, 0] ** tilt
        low, high = (tilt, high) if weight @ menu[:, 0] / weight.sum() < goal else (low, tilt)
    amount = np.rint(menu[:, :2] * [1000, 1024]).astype(np.int64) * [1, MIB]
    return ints(np.repeat(amount, apportion(settings.services, menu[:, 2] * menu[:, 0] ** low), axis=0))


def _traded(replicas: IntArray, request: IntArray, capacity: IntArray, target: FloatArray, rng: np.random.Generator) -> IntArray:
    """`request` after random pairs of services traded theirs until the totals are close to `target`.

    Both distributions stay as they are; only who requests what changes. One of each pair is among the
    services with most replicas: few trades are then enough, and the rank correlations stay.
    """
    row = request.copy()
    share = request / capacity
    off = replicas @ share - target  # (2,) what is requested too much, as shares of the capacity
    attempts = TRADES_PER_SERVICE * len(replicas)
    largest = np.argsort(-replicas, kind="stable")[: max(1, round(TRADING_SHARE * len(replicas)))]
    pairs = zip(rng.choice(largest, attempts).tolist(), rng.integers(0, len(replicas), attempts).tolist(), strict=True)
    cpu, memory, d = share[:, 0].tolist(), share[:, 1].tolist(), replicas.tolist()
    off_cpu, off_memory = float(off[0]), float(off[1])
    order = list(range(len(d)))
    for a, b in pairs:
        x, y = order[a], order[b]
        new_cpu = off_cpu + (d[a] - d[b]) * (cpu[y] - cpu[x])
        new_memory = off_memory + (d[a] - d[b]) * (memory[y] - memory[x])
        if abs(new_cpu) + abs(new_memory) < abs(off_cpu) + abs(off_memory):
            order[a], order[b] = y, x
            off_cpu, off_memory = new_cpu, new_memory
            if abs(off_cpu) + abs(off_memory) < CLOSE_ENOUGH:
                break
    return ints(row[order])
