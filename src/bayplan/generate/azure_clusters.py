"""Clusters of containers from two traces: Azure's batches of virtual machines, with the traffic of Alibaba's call graphs.

Sizes, arrivals and lifetimes are those of batches that one tenant started in one slot of 300 s. The trace has no traffic. So
each batch is paired with an application of the other trace that has as many members: **the pairing is synthetic**. Zones,
links, caps and values are those of [Online clusters] §VI. Time is counted in slots.
"""

import os
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bayplan.errors import UsageError
from bayplan.formats.traces.alibaba_callgraphs import read_callgraphs
from bayplan.formats.traces.virtual_machines import RESOURCES, SLOT, azure_batches
from bayplan.generate.container_clusters import CAPACITY, REQUEST_CAP, TRAFFIC, UNIT, largest_use, zones_of
from bayplan.generate.generator import require
from bayplan.model import ClusterRequest, ClusterRequests, FloatArray, IntArray, Zones, floats, ints

SIZES = range(2, 9)  # members of a batch
LARGE = (8.0, 28.0)  # cores and GB of a machine that takes B
ZONES, REQUESTS, SLOTS = 9, 100, 100  # S, I and T of section VI: the stream that `load` is about


class _Batch(NamedTuple):
    name: str
    arrival: int  # slot
    slots: int  # how long
    demand: IntArray  # (member, resource) base units


class _Trace(NamedTuple):
    batches: tuple[_Batch, ...]
    calls: dict[int, tuple[FloatArray, ...]]  # members -> (member, member) calls of each application, the busiest pair 1
    work: FloatArray  # (resource,) demand x slots that a batch requests on average, of a window of T slots


def azure_clusters(  # each argument is a setting of its own on the command line
    *,
    folder: str = "",
    zones: int = ZONES,
    members_least: int = SIZES[0],
    members_most: int = SIZES[-1],
    slots: int = SLOTS,
    value_ratio: float = 50.0,
    count: int = REQUESTS,
    load: float = 1.0,
    seed: int = 0,
) -> ClusterRequests:
    """`count` batches that arrive within `slots` slots, in the order of their arrival; those of one slot in seeded random order.

    `folder` holds azure_v1_vms/ and alibaba_callgraphs/; if it is empty, traces/ in the folder that BAYPLAN_DATA names. A machine
    of 8 cores or of 28 GB takes B; the few that are larger are cut to B. `load` scales the zones: 100 batches of 2-8 members in
    100 slots ask on average for that share of the cpu, and of the memory, of nine of them. Links are scaled as cpu is.
    """
    require(
        "azure-clusters",
        (1 <= zones <= 500, f"zones is {zones}; expected 1 to 500"),
        (
            SIZES[0] <= members_least <= members_most <= SIZES[-1],
            f"members are {members_least} to {members_most}; expected {SIZES[0]} <= least <= most <= {SIZES[-1]}",
        ),
        (1 <= slots <= 2000, f"slots is {slots}; expected 1 to 2,000"),
        (value_ratio >= 1, f"value_ratio is {value_ratio}; expected 1 or more"),
        (0 <= count <= 100_000, f"count is {count}; expected 0 to 100,000"),
        (load > 0, f"load is {load}; expected more than 0"),
    )
    trace, rng = _trace(_folder(folder)), np.random.default_rng(seed)
    factor = REQUESTS * trace.work / (load * ZONES * np.mean(CAPACITY) * UNIT * SLOTS)  # (resource,)
    where = scaled(zones_of(zones, len(trace.work), rng), floats(factor))
    chosen = _chosen(trace, (members_least, members_most), count, slots, rng)
    requests = []
    for batch, first in chosen:
        traffic = _traffic(trace, len(batch.demand), rng)
        requests.append(
            ClusterRequest(
                name=batch.name,
                members=tuple(f"vm{v}" for v in range(len(batch.demand))),
                demand=batch.demand,
                traffic=traffic,
                arrival=float(first),
                start=float(first),
                end=float(min(first + batch.slots, slots)),
                value=float(rng.uniform(1.0, value_ratio) * largest_use(batch.demand, traffic)),
            )
        )
    return ClusterRequests(zones=where, requests=tuple(requests))


def scaled(zones: Zones, factor: FloatArray) -> Zones:
    """The zones with each resource times its factor, links times that of the first; a zone always fits one request."""
    capacity = np.maximum(np.rint(zones.capacity * factor), zones.request_cap)
    return replace(zones, capacity=ints(capacity), bandwidth=ints(np.rint(zones.bandwidth * factor[0])))


def _folder(named: str) -> str:
    if named:
        return named
    data = os.environ.get("BAYPLAN_DATA")
    if not data:
        raise UsageError(
            "generator 'azure-clusters': no traces; expected --set folder=FOLDER, or BAYPLAN_DATA with traces/ in it"
        )
    return str(Path(data) / "traces")


@cache
def _trace(folder: str) -> _Trace:
    """Both traces; lifetimes that are known by their bin only are drawn once, with seed 0."""
    unit = REQUEST_CAP * UNIT / (np.array(LARGE) * [resource.scale for resource in RESOURCES])
    batches = tuple(
        _Batch(
            name=batch.name,
            arrival=round(batch.arrival / SLOT),
            slots=max(1, round((batch.end - batch.arrival) / SLOT)),
            demand=ints(np.clip(np.rint(batch.demand * unit), 1, REQUEST_CAP * UNIT)),
        )
        for batch in azure_batches(Path(folder) / "azure_v1_vms", smallest=SIZES[0], largest=SIZES[-1])
    )
    calls: dict[int, list[FloatArray]] = {size: [] for size in SIZES}
    for graph in read_callgraphs(Path(folder) / "alibaba_callgraphs", smallest=SIZES[0], largest=SIZES[-1]):
        matrix = graph.matrix().astype(np.float64)
        np.fill_diagonal(matrix, 0.0)
        if matrix.max(initial=0.0) > 0:  # some applications are called from outside only
            calls[len(graph.nodes)].append(floats(matrix / matrix.max()))
    lasts = np.array([batch.slots for batch in batches])
    within = np.minimum(lasts[:, None], np.arange(1, SLOTS + 1)).mean(axis=1)  # slots before the window ends
    total = np.array([batch.demand.sum(axis=0) for batch in batches])
    return _Trace(
        batches, {size: tuple(graphs) for size, graphs in calls.items()}, floats((total * within[:, None]).mean(axis=0))
    )


def _chosen(trace: _Trace, sizes: tuple[int, int], count: int, slots: int, rng: np.random.Generator) -> list[tuple[_Batch, int]]:
    """Batches and the slot in which each arrives: of a seeded window of the trace, drawn from all that fit in size.

    Where a window of that many slots has too few, as many windows as needed are laid over one another.
    """
    fitting = [batch for batch in trace.batches if sizes[0] <= len(batch.demand) <= sizes[1] and trace.calls[len(batch.demand)]]
    if count > len(fitting):
        raise UsageError(f"generator 'azure-clusters': count is {count}; the trace has {len(fitting)} batches of such sizes")
    arrival: IntArray = np.array([batch.arrival for batch in fitting], dtype=np.int64)
    begin, end = (int(arrival.min()), int(arrival.max())) if len(arrival) else (0, 0)
    start, wide = int(rng.integers(begin, max(begin, end - slots) + 1)), slots
    while ((arrival >= start) & (arrival < start + wide)).sum() < count:
        start, wide = max(begin, start - slots), wide + 2 * slots
    inside = np.flatnonzero((arrival >= start) & (arrival < start + wide))
    drawn = rng.permutation(inside)[:count]  # a random order, which arrivals of one slot keep
    first = (arrival[drawn] - start) % slots
    return [(fitting[drawn[k]], int(first[k])) for k in np.argsort(first, kind="stable").tolist()]


def _traffic(trace: _Trace, members: int, rng: np.random.Generator) -> FloatArray:
    """(member, member) calls of an application with as many members, the busiest pair 10 units; members are permuted."""
    known = trace.calls[members]
    calls, order = known[int(rng.integers(len(known)))], rng.permutation(members)
    return floats(np.rint(calls[np.ix_(order, order)] * TRAFFIC * UNIT))
