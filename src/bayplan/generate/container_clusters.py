"""Zones with links, and clusters of communicating containers that arrive over time ([Online clusters] §VI).

One unit of the paper is `UNIT` base units, for demand, capacity, traffic, bandwidth and value alike,
so that fractions of it are whole numbers and 1 <= b / f <= U holds for the stored amounts.
"""

import numpy as np

from bayplan.generate.generator import require
from bayplan.model import ClusterRequest, ClusterRequests, FloatArray, IntArray, Progress, Resource, Zones, floats, ints, silent

UNIT = 1000  # base units in one unit of [Online clusters]
CAPACITY = (50, 100)  # C and D: uniform, [Online clusters] §VI
TRAFFIC = 10  # uniform on [0, 10], [Online clusters] §VI
REQUEST_CAP = 10  # B, [Online clusters] §VI
DEMAND_MEDIAN, DEMAND_SIGMA = 2.0, 0.6  # lognormal, capped at B; instead of the trace's subtasks, which are not available
RESOURCES = ("cpu", "memory", "disk", "network", "gpu")


def container_clusters(  # more than 7 arguments: each is a setting of its own on the command line
    *,
    zones: int = 9,
    resources: int = 2,
    members_least: int = 2,
    members_most: int = 8,
    slots: int = 100,
    value_ratio: float = 50.0,
    count: int = 100,
    seed: int = 0,
    progress: Progress = silent,
) -> ClusterRequests:
    """`count` requests (I) over `slots` slots (T) for `zones` zones (S) with `resources` resources (K).

    `value_ratio` is U. A request starts in a uniform slot and ends in a uniform slot from there on; it
    arrives when it starts. Closed slots [t-, t+] of [Online clusters] are stored half-open, (t- - 1, t+].
    """
    require(
        "container-clusters",
        (1 <= zones <= 500, f"zones is {zones}; expected 1 to 500"),
        (1 <= resources <= len(RESOURCES), f"resources is {resources}; expected 1 to {len(RESOURCES)}"),
        (1 <= members_least <= members_most, f"members are {members_least} to {members_most}; expected 1 <= least <= most"),
        (members_most <= 12, f"members_most is {members_most}; expected 12 or fewer"),
        (1 <= slots <= 1_000_000, f"slots is {slots}; expected 1 to 1,000,000"),
        (value_ratio >= 1, f"value_ratio is {value_ratio}; expected 1 or more"),
        (0 <= count <= 1_000_000, f"count is {count}; expected 0 to 1,000,000"),
    )
    rng = np.random.default_rng(seed)
    where = zones_of(zones, resources, rng)
    size = rng.integers(members_least, members_most, size=count, endpoint=True)
    first = rng.integers(1, slots, size=count, endpoint=True)
    last = rng.integers(first, slots, endpoint=True)
    order = np.argsort(first, kind="stable")  # equal arrivals stay in the order drawn: random, and seeded
    drawn = [_request(f"r{i:04d}", int(size[j]), resources, rng) for i, j in enumerate(order)]
    return ClusterRequests(
        zones=where,
        requests=tuple(
            ClusterRequest(
                name=name,
                members=tuple(f"{name}-{v}" for v in range(len(demand))),
                demand=demand,
                traffic=traffic,
                arrival=float(first[j] - 1),
                start=float(first[j] - 1),
                end=float(last[j]),
                value=float(rng.uniform(1.0, value_ratio) * largest_use(demand, traffic)),
            )
            for j, (name, demand, traffic) in zip(order, drawn, strict=True)
        ),
    )


def zones_of(zones: int, resources: int, rng: np.random.Generator) -> Zones:
    """The zones of section VI, every one linked to every other, each direction with a bandwidth of its own."""
    low, high = CAPACITY[0] * UNIT, CAPACITY[1] * UNIT
    bandwidth = rng.integers(low, high, size=(zones, zones), endpoint=True)
    np.fill_diagonal(bandwidth, 0)
    return Zones(
        name=tuple(f"zone-{z + 1}" for z in range(zones)),
        resources=tuple(Resource(name=name, unit=f"1/{UNIT} unit") for name in RESOURCES[:resources]),
        capacity=ints(rng.integers(low, high, size=(zones, resources), endpoint=True)),
        request_cap=ints(np.full((zones, resources), REQUEST_CAP * UNIT)),
        bandwidth=ints(bandwidth),
    )


def _request(name: str, members: int, resources: int, rng: np.random.Generator) -> tuple[str, IntArray, FloatArray]:
    """Its name, (member, resource) demand and (member, member) traffic, in whole base units."""
    drawn = DEMAND_MEDIAN * UNIT * np.exp(DEMAND_SIGMA * rng.standard_normal((members, resources)))
    demand = np.clip(np.rint(drawn), 1, REQUEST_CAP * UNIT)
    traffic = rng.integers(0, TRAFFIC * UNIT, size=(members, members), endpoint=True).astype(np.float64)
    np.fill_diagonal(traffic, 0.0)
    return name, ints(demand), floats(traffic)


def largest_use(demand: IntArray, traffic: FloatArray) -> float:
    """max f of [Online clusters] §III: the most of one zone's resource or of one link that a placement can take.

    A zone: all members in it, up to B. A link: the largest directed cut between two groups of members.
    """
    members = len(demand)
    chosen = (np.arange(2**members)[:, None] >> np.arange(members)) & 1  # (subset, member)
    cut = np.einsum("xv,vw,xw->x", chosen, traffic, 1 - chosen).max()
    zone = np.minimum(demand.sum(axis=0), REQUEST_CAP * UNIT).max()
    return float(max(cut, zone))
