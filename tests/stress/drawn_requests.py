"""Adversarial timed requests and streams of cluster requests by seed: odd values, odd times, odd amounts, nothing at all."""

import numpy as np
from tests.stress.drawn_clusters import AMOUNTS, VALUES, Rng, chance, one_of

from bayplan.model import ClusterRequest, ClusterRequests, Fleet, Resource, TimedRequests, Zones, floats, ints


def _values(rng: Rng, size: int) -> np.ndarray:
    """All alike, all tiny, all huge, nearly equal, or anything."""
    kind = int(rng.integers(5))
    if kind == 0:
        return np.full(size, one_of(rng, VALUES))
    if kind == 1:
        return rng.integers(0, 10, size) * 1e-10
    if kind == 2:
        return 1e5 + rng.integers(0, 10, size)
    if kind == 3:
        return rng.integers(0, 5, size).astype(float)
    return np.array([one_of(rng, (0.0, *VALUES)) for _ in range(size)], dtype=float)


def _times(rng: Rng, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Start and end; often on a grid, so that ends meet starts."""
    start, length = rng.integers(0, 8, size).astype(float), rng.integers(1, 6, size).astype(float)
    if chance(rng, 0.2):
        start, length = rng.random(size) * 5, rng.random(size) * 3 + 1e-9
    if chance(rng, 0.1):
        start, length = start * 1e9, length * 1e9
    return start, start + length


def drawn_requests(rng: Rng) -> tuple[TimedRequests, Fleet]:
    """Timed requests, and machines of one to three kinds."""
    n, k = int(rng.choice([0, 1, 3, 6, 8, 20], p=[0.03, 0.07, 0.25, 0.3, 0.2, 0.15])), int(rng.integers(1, 4))
    unit = np.array([one_of(rng, AMOUNTS) for _ in range(k)], dtype=np.int64)
    start, end = _times(rng, n)
    capacity = rng.integers(0 if chance(rng, 0.1) else 1, 11, k) * unit
    demand = rng.integers(0 if chance(rng, 0.4) else 1, 8, (n, k)) * unit
    requests = TimedRequests(
        name=tuple(f"q{j}" for j in range(n)),
        resources=tuple(Resource(name=f"r{r}", scale=int(one_of(rng, (1, 1000)))) for r in range(k)),
        capacity=ints(capacity),
        start=floats(start),
        end=floats(end),
        demand=ints(demand),
        value=floats(_values(rng, n)),
        priority=tuple(str(c) for c in rng.choice(["prod", "batch"], n).tolist()) if chance(rng, 0.3) else (),
    )
    machines = int(rng.choice([0, 1, 2, 3], p=[0.05, 0.4, 0.35, 0.2]))
    if chance(rng, 0.6):
        return requests, Fleet.alike(machines, capacity)
    kinds = int(rng.integers(1, 4))
    return requests, Fleet(
        kind=tuple(f"kind-{q}" for q in range(kinds)),
        machines=ints(rng.integers(0, 3, kinds)),
        capacity=ints(rng.integers(0, 11, (kinds, k)) * unit),
    )


def drawn_stream(rng: Rng) -> ClusterRequests:
    """Zones, some links missing, and requests in order of arrival."""
    n_z, k, n = int(rng.integers(1, 4)), int(rng.integers(1, 3)), int(rng.choice([0, 1, 2, 4, 8], p=[0.03, 0.12, 0.25, 0.4, 0.2]))
    unit = np.array([one_of(rng, AMOUNTS) for _ in range(k)], dtype=np.int64)
    capacity = rng.integers(0 if chance(rng, 0.2) else 2, 13, (n_z, k)) * unit
    zones = Zones(
        name=tuple(f"z{z}" for z in range(n_z)),
        resources=tuple(Resource(name=f"r{r}", scale=int(one_of(rng, (1, 1000)))) for r in range(k)),
        capacity=ints(capacity),
        request_cap=ints(capacity if chance(rng, 0.6) else capacity // 2),
        bandwidth=ints(rng.integers(0, 7, (n_z, n_z)) * int(one_of(rng, (1, 1, 1000))) * (1 - np.eye(n_z, dtype=int))),
    )
    start, end = _times(rng, n)
    early = np.maximum(start - rng.choice([0.0, 0.0, 1.0], n), 0.0) if n else start
    value = _values(rng, n)
    drawn = [_request(i, k, unit, (early[i], start[i], end[i]), float(value[i]), rng) for i in range(n)]
    return ClusterRequests(zones=zones, requests=tuple(sorted(drawn, key=lambda request: request.arrival)))


def _request(i: int, k: int, unit: np.ndarray, times: tuple[float, float, float], value: float, rng: Rng) -> ClusterRequest:
    v = int(rng.choice([1, 2, 3, 5], p=[0.35, 0.35, 0.25, 0.05]))
    traffic = rng.choice([0.0, 0.0, 0.5, 1.0, 3.0, 1e-9], (v, v)) * (1 - np.eye(v))
    return ClusterRequest(
        name=f"q{i}",
        members=tuple(f"v{j}" for j in range(v)),
        demand=ints(rng.integers(0 if chance(rng, 0.3) else 1, 7, (v, k)) * unit),
        traffic=floats(traffic),
        arrival=times[0],
        start=times[1],
        end=times[2],
        value=value,
    )
