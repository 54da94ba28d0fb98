"""Undirected traffic as a call graph without cycles, on which requests walk from workload to workload.

*Who calls whom.* In each connected part of the traffic requests enter at the workload with the most traffic. Calls lead away from
it: from fewer hops to more; between equals from more traffic to less, then in the cluster's order. So there is no cycle.

*How often.* The weight of an edge is its calls per unit of time. A workload that makes more calls than it gets has the difference
from outside; one that gets more than it makes ends the difference. A request makes one call after the other, each from where the
last one led, to a workload in proportion to the weights: then every edge carries exactly its weight.

*Services whose containers all talk to each other* (clique traffic): a request starts at any container of the service and calls
`peer_calls` times, each time any other container of it.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, dijkstra

from bayplan.model import BoolArray, Cluster, FloatArray, IntArray, floats, ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RequestGraph:
    """Nodes are visits: of a workload, or of one stage of a service's clique. Edges are calls; the first are the cluster's."""

    row: IntArray  # (node,) of the counts: a workload, or the number of workloads plus a service
    entry: FloatArray  # (node,) requests from outside, per unit of time
    caller: IntArray  # (call,) node
    callee: IntArray  # (call,) node
    rate: FloatArray  # (call,) calls per unit of time
    depth: IntArray  # (node,) calls on the longest way to it; a callee is deeper than its callers
    peers: BoolArray  # (call,) between any two containers of a service, whatever the router

    @property
    def requests(self) -> float:
        """From outside, per unit of time."""
        return float(self.entry.sum())

    @property
    def go_on(self) -> FloatArray:
        """(call,) probability that a visit of the caller makes this call."""
        visits = np.bincount(self.callee, weights=self.rate, minlength=len(self.row)) + self.entry
        return np.asarray(self.rate / visits[self.caller], dtype=np.float64)


def call_graph(cluster: Cluster, peer_calls: int) -> RequestGraph | None:
    """The call graph of the cluster's traffic; None if there is no traffic."""
    traffic, n_w = cluster.traffic, len(cluster.workloads.name)
    member, at = np.unique(np.r_[traffic.a, traffic.b], return_inverse=True)
    a, b = at[: len(traffic.a)], at[len(traffic.a) :]
    first_calls = _directed(a, b, traffic.weight, len(member))
    caller, callee = np.where(first_calls, a, b), np.where(first_calls, b, a)
    service, rate = _cliques(cluster, peer_calls)
    stage = len(member) + np.arange(len(service) * (peer_calls + 1)).reshape(len(service), peer_calls + 1)
    row = ints(np.r_[member, np.repeat(n_w + service, peer_calls + 1)])
    if not len(row):
        return None
    caller, callee = np.r_[caller, stage[:, :-1].ravel()], np.r_[callee, stage[:, 1:].ravel()]
    rates = np.r_[traffic.weight, np.repeat(rate, peer_calls)]
    made, got = (np.bincount(end, weights=rates, minlength=len(row)) for end in (caller, callee))
    return RequestGraph(
        row=row,
        entry=floats(np.maximum(0.0, made - got)),
        caller=ints(caller),
        callee=ints(callee),
        rate=floats(rates),
        depth=_depth(caller, callee, len(row)),
        peers=np.arange(len(rates)) >= len(traffic.a),
    )


def _directed(a: IntArray, b: IntArray, weight: FloatArray, nodes: int) -> BoolArray:
    """(edge,) does the first end call the second?"""
    if not len(a):
        return np.zeros(0, dtype=np.bool_)
    total = np.bincount(a, weights=weight, minlength=nodes) + np.bincount(b, weights=weight, minlength=nodes)
    busiest = np.lexsort((np.arange(nodes), -total))
    graph = coo_array((np.ones(len(a)), (a, b)), shape=(nodes, nodes)).tocsr()
    part = connected_components(graph, directed=False)[1]
    entrance = busiest[np.unique(part[busiest], return_index=True)[1]]  # the busiest of each part
    hops = dijkstra(graph, directed=False, indices=entrance, unweighted=True, min_only=True)
    rank = np.empty(nodes, dtype=np.int64)
    rank[np.lexsort((np.arange(nodes), -total, hops))] = np.arange(nodes)
    return np.asarray(rank[a] < rank[b], dtype=np.bool_)


def _cliques(cluster: Cluster, peer_calls: int) -> tuple[IntArray, FloatArray]:
    """Services whose containers all talk to each other, and requests to each per unit of time."""
    containers = np.bincount(cluster.workloads.service, weights=cluster.replicas, minlength=len(cluster.services.name))
    calls = cluster.services.clique * containers * (containers - 1) / 2
    service = ints(np.flatnonzero(calls > 0))
    return service, floats(calls[service] / peer_calls)


def _depth(caller: IntArray, callee: IntArray, nodes: int) -> IntArray:
    depth = np.zeros(nodes, dtype=np.int64)
    while True:
        deeper = depth.copy()
        np.maximum.at(deeper, callee, depth[caller] + 1)
        if (deeper == depth).all():
            return ints(depth)
        depth = deeper
