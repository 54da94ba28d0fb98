"""Zones and requests for tests of `admit`, written shortly."""

from bayplan.model import ClusterRequest, Resource, Zones


def zones_of(capacity=((10,), (10,)), *, cap=None, bandwidth=None, names="abcdefgh"):
    """One row of capacities a zone; the cap of one request is the capacity, and every link carries 10, unless said otherwise."""
    n = len(capacity)
    return Zones(
        name=tuple(names[:n]),
        resources=tuple(Resource(name=name) for name in ("cpu", "memory", "disk")[: len(capacity[0])]),
        capacity=capacity,
        request_cap=capacity if cap is None else cap,
        bandwidth=[[0 if y == z else 10 for z in range(n)] for y in range(n)] if bandwidth is None else bandwidth,
    )


def request_of(name="r", start=0.0, end=1.0, *, demand=((1,),), traffic=None, value=100.0, arrival=None):
    """Members m0, m1, ...; it arrives when it starts, and they do not talk, unless said otherwise."""
    v = len(demand)
    return ClusterRequest(
        name=name,
        members=tuple(f"m{i}" for i in range(v)),
        demand=demand,
        traffic=[[0.0] * v] * v if traffic is None else traffic,
        arrival=start if arrival is None else arrival,
        start=start,
        end=end,
        value=value,
    )
