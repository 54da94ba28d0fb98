"""Replicas, requests and traffic of workloads: M3's distributions, with M3's rank correlations, at another scale.

Values are stratified: every seed gets the same replica counts and the same requests, given to other workloads. Traffic is a
hub-and-leaf graph whose total affinity per workload falls by a power law: [RASA] Assumption 4.1 says that the s-th by total
affinity has T(s) ~ s^-beta. M3 bends away from a pure power law at the head, so we use (s + shift)^-beta.
"""

from typing import NamedTuple

import numpy as np

from bayplan.generate.rasa.machines import apportion
from bayplan.generate.rasa.settings import (
    ACTIVE_SHARE,
    BETA,
    CORES_PER_CONTAINER,
    CORES_PER_SERVICE,
    CPU_REQUESTED,
    DEGREE_BETA,
    DEGREE_SHIFT_M3,
    EDGE_SPREAD,
    EDGES_PER_SERVICE,
    MEMORY_REQUESTED,
    MIB,
    NEW_COMPONENT,
    RANK_SHIFT_M3,
    REPLICAS,
    REPLICAS_CPU,
    REQUESTS,
    TRAFFIC_CPU,
    TRAFFIC_DEGREE,
    TRAFFIC_REPLICAS,
    ClusterSettings,
)
from bayplan.model import FloatArray, IntArray, Traffic, floats, ints

BISECTIONS = 60
TRADES_PER_SERVICE = 40  # attempts
TRADING_SHARE = 0.05  # of the services: one of each pair is among this share, those with most replicas
CLOSE_ENOUGH = 0.001  # of the capacity, both resources together


class DrawnWorkloads(NamedTuple):
    """Services in order of falling traffic."""

    replicas: IntArray  # (workload,)
    request: IntArray  # (workload, 2) milli-cores, bytes


def make_workloads(settings: ClusterSettings, capacity: IntArray, rng: np.random.Generator) -> DrawnWorkloads:
    """Replicas and requests of all services; the total of the requests is M3's share of `capacity` (2,)."""
    z = _latent(settings.services, rng)
    replicas = np.empty(settings.services, dtype=np.int64)
    replicas[np.argsort(z[:, 1])] = replica_counts(settings)
    menu = _requests(settings, capacity)
    request = np.empty((settings.services, 2), dtype=np.int64)
    shuffled = rng.permutation(menu)  # random memory within equal cpu
    request[np.argsort(z[:, 2])] = shuffled[np.argsort(shuffled[:, 0], kind="stable")]
    target = np.array([CPU_REQUESTED, MEMORY_REQUESTED])
    return DrawnWorkloads(replicas=ints(replicas), request=_swapped_requests(replicas, request, capacity, target, rng))


def _latent(n: int, rng: np.random.Generator) -> FloatArray:
    """(service, 3) normals for traffic (falling), replicas, cpu, with M3's rank correlations."""
    correlation = [[1, TRAFFIC_REPLICAS, TRAFFIC_CPU], [TRAFFIC_REPLICAS, 1, REPLICAS_CPU], [TRAFFIC_CPU, REPLICAS_CPU, 1]]
    z = rng.standard_normal((n, 3)) @ np.linalg.cholesky(correlation).T
    return floats(z[np.argsort(-z[:, 0])])


def replica_counts(settings: ClusterSettings) -> IntArray:
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


def _requests(settings: ClusterSettings, capacity: IntArray) -> IntArray:
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


def _swapped_requests(
    replicas: IntArray, request: IntArray, capacity: IntArray, target: FloatArray, rng: np.random.Generator
) -> IntArray:
    """`request` after random pairs of services traded theirs until the totals are close to `target`.

    Both distributions stay as they are; only which workload requests what changes. One of each pair is among the
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


FITTINGS = 200  # rounds of proportional fitting
DIGITS = 6  # significant digits of a weight


def make_traffic(settings: ClusterSettings, rng: np.random.Generator) -> Traffic:
    """Edges between services that are numbered by falling traffic. The weights sum to 1."""
    active = round(ACTIVE_SHARE * settings.services)
    target = (np.arange(1, active + 1) + settings.rank_shift) ** -BETA
    pull = _edge_propensity(active, settings.rank_shift / RANK_SHIFT_M3, rng)
    low, high = _edges(pull, round(EDGES_PER_SERVICE * settings.services), rng)
    weight = _fitted(low, high, floats(target / target.sum()), rng)
    return Traffic(a=low, b=high, weight=weight)


def _edge_propensity(n: int, spread: float, rng: np.random.Generator) -> FloatArray:
    """(service,) how much each draws edges: a power law over ranks that agree with the traffic's in part."""
    z = TRAFFIC_DEGREE * np.sort(rng.standard_normal(n))[::-1] + np.sqrt(1 - TRAFFIC_DEGREE**2) * rng.standard_normal(n)
    rank = np.empty(n)
    rank[np.argsort(-z)] = np.arange(1, n + 1)
    return floats((rank + DEGREE_SHIFT_M3 * spread) ** -DEGREE_BETA)


def _edges(pull: FloatArray, count: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """`count` different edges (low, high): each service to one with more traffic, the rest between hubs."""
    n = len(pull)
    reach = np.cumsum(pull)
    parent = np.searchsorted(reach, rng.random(n) * np.r_[0.0, reach[:-1]], side="right")
    opens = rng.random(n) < NEW_COMPONENT  # has no edge to an earlier service; the next one joins it
    opens[0], opens[-1] = True, False
    joins = np.flatnonzero(opens[:-1]) + 1
    opens[joins] = False
    parent[joins] = joins - 1
    child = np.flatnonzero(~opens)
    key = np.unique(parent[child] * n + child)
    while len(key) < count:
        ends = np.sort(np.searchsorted(reach, rng.random((4 * count, 2)) * reach[-1], side="right"), axis=1)
        extra = ends[ends[:, 0] != ends[:, 1]] @ [n, 1]
        _, first = np.unique(extra, return_index=True)
        fresh = extra[np.sort(first)]
        key = np.r_[key, fresh[~np.isin(fresh, key)][: count - len(key)]]
    key.sort()
    return ints(key // n), ints(key % n)


def _fitted(a: IntArray, b: IntArray, target: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Log-normal weights, scaled by their ends until the total of every service is close to its target.

    The fit is exact where the graph allows it; a leaf cannot have more traffic than its hub.
    """
    n = len(target)
    weight = np.sqrt(target[a] * target[b]) * np.exp(EDGE_SPREAD * rng.standard_normal(len(a)))
    for _ in range(FITTINGS):
        total = np.bincount(a, weight, n) + np.bincount(b, weight, n)
        ratio = np.sqrt(target * total.sum() / total)
        weight *= ratio[a] * ratio[b]
        weight /= weight.sum()
    return floats([float(f"{w:.{DIGITS}g}") for w in weight])
