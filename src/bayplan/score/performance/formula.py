"""The quick answer of the performance model: latency, errors and throughput of a placement, by formula. It is a model."""

from dataclasses import dataclass

import numpy as np

from bayplan.model import Cluster, FloatArray, Placement
from bayplan.score.performance.assumptions import Assumptions
from bayplan.score.performance.call_graph import call_graph
from bayplan.score.performance.machine_load import machine_load
from bayplan.score.performance.routing import route
from bayplan.score.performance.walk_latency import (
    Walks,
    call_fails,
    call_ms,
    error_rate,
    mean_latency,
    quantiles,
    visit_fails,
    visit_mean,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Performance:
    """What requests would see, under the model. Latencies in milliseconds, from the entry of a request to its end."""

    mean_ms: float
    p50_ms: float
    p95_ms: float
    error_rate: float  # share of requests of which some visit or call fails
    max_load: float | None  # times the stated traffic, at which the first machine has no CPU left; None if none is used
    local_share: float  # of calls, that stay on their machine
    calls: float  # of a request
    saturated: int  # machines


@dataclass(frozen=True, slots=True, kw_only=True)
class PerformanceChange:
    """What requests would see before and after a change of the placement, under one set of assumptions."""

    before: Performance
    after: Performance
    assumptions: Assumptions


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairPerformance:
    """The calls between the two workloads of each edge of the traffic, under the model."""

    latency_ms: FloatArray  # (edge,) mean: the time of the call and the visit of the callee
    error_rate: FloatArray  # (edge,) share of calls that fail
    local: FloatArray  # (edge,) share of calls that stay on their machine
    callee: FloatArray  # (edge,) mean time of the visit alone, ms


def walks_of(cluster: Cluster, placement: Placement, given: Assumptions, measured: Placement | None = None) -> Walks | None:
    """The walks of requests over a placement; None if there is no traffic.

    `measured` is the placement in which the stated CPU was used, by default this one.
    """
    graph = call_graph(cluster, given.peer_calls)
    if graph is None:
        return None
    routing = route(cluster, placement, graph, given.router)
    then = routing if measured is None else route(cluster, measured, graph, given.router)
    return Walks(graph, routing, machine_load(cluster, graph, routing, then, given), given)


def performance_change(cluster: Cluster, before: Placement, after: Placement, given: Assumptions) -> PerformanceChange | None:
    """The figures before and after; the stated CPU is that of before. None if there is no traffic."""
    old, new = walks_of(cluster, before, given), walks_of(cluster, after, given, before)
    if old is None or new is None:
        return None
    return PerformanceChange(before=performance_of(old), after=performance_of(new), assumptions=given)


def performance_of(walks: Walks) -> Performance:
    """The figures of walks, by formula."""
    p50, p95 = quantiles(walks, (0.5, 0.95))
    flow = walks.routing.flow
    return Performance(
        mean_ms=mean_latency(walks),
        p50_ms=p50,
        p95_ms=p95,
        error_rate=error_rate(walks),
        max_load=walks.load.max_load,
        local_share=float(flow @ walks.routing.local / max(float(flow.sum()), 1e-300)),
        calls=float(flow.sum()) / walks.graph.requests,
        saturated=int(walks.load.saturated.sum()),
    )


def pair_performance(walks: Walks) -> PairPerformance:
    """The calls of each edge of the traffic, in the order of the traffic."""
    graph, routing = walks.graph, walks.routing
    edges = ~graph.peers
    row, local = graph.row[graph.callee[edges]], routing.local[edges]
    visit, fails = visit_mean(walks)[row], visit_fails(walks)[row]
    return PairPerformance(
        latency_ms=call_ms(local, walks.given) + visit,
        error_rate=1.0 - (1.0 - call_fails(local, walks.given)) * (1.0 - fails),
        local=local,
        callee=visit,
    )


def service_max_load(cluster: Cluster, walks: Walks, service: int) -> float | None:
    """How many times its traffic one service can take alone, until the first of its machines has no CPU left."""
    routing, load, given = walks.routing, walks.load, walks.given
    own_rows = np.r_[cluster.workloads.service == service, np.zeros(len(cluster.services.name), dtype=np.bool_)]
    own = np.bincount(routing.machine, weights=load.cell * own_rows[routing.row], minlength=len(load.served))
    busy = own > 0
    if not busy.any():
        return None
    rest = given.load * (load.served - own) + load.other
    return float(max(0.0, ((1.0 - rest[busy]) / own[busy]).min()))
