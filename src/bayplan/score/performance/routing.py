"""Where the visits of every workload take place, and which calls stay on their machine, under the policy of the router.

- `random`: any running replica, each as likely. A call from machine m stays there with x_b / d_b: Q = sum over m of
  (x_a / d_a) (x_b / d_b).
- `prefer-local`: a replica on the caller's machine if there is one, else any. Q = sum over m with x_b > 0 of the caller's share
  there. Replicas beside many callers get more visits than others, and need more CPU.
- `spill-over`: a replica on the caller's machine until it has had its fair share of all visits, the rest goes to replicas that
  have not. Q = sum over m of min(x_a / d_a, x_b / d_b): [RASA] (1). Every replica gets as many visits.

x is counted over running replicas; a workload without any fails its visits. Between the containers of a service with clique
traffic nothing is chosen: every pair talks, and Q is the share of pairs on one machine.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, vstack

from bayplan.model import BoolArray, Cluster, FloatArray, IntArray, Placement
from bayplan.score.affinity import SharedCells, shared_cells
from bayplan.score.counts import Counts, service_counts, workload_counts
from bayplan.score.performance.call_graph import RequestGraph


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Routing:
    """Visits and local calls. A cell is a row (workload, or service with a clique) and a machine that runs some of it."""

    counts: Counts  # (row, machine) containers
    row: IntArray  # (cell,)
    machine: IntArray  # (cell,)
    share: FloatArray  # (cell,) of the visits of its row
    runs: BoolArray  # (row,) does any container of it run?
    local: FloatArray  # (call,) probability that it stays on its machine
    flow: FloatArray  # (call,) calls per unit of time that are made
    visits: FloatArray  # (node,) per unit of time, failed ones among them


def route(cluster: Cluster, placement: Placement, graph: RequestGraph, router: str) -> Routing:
    """Visits and local calls under a policy."""
    counts: Counts = csr_array(vstack([workload_counts(cluster, placement), service_counts(cluster, placement)]))
    running = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
    row = np.repeat(np.arange(len(running)), np.diff(counts.indptr))
    even = counts.data / running[row]
    flow, visits = _flows(graph, running > 0)
    calls = np.flatnonzero(~graph.peers)
    shared = shared_cells(graph.row[graph.caller[calls]], graph.row[graph.callee[calls]], counts)
    share = _drawn_to_callers(graph, flow, even, row, shared) if router == "prefer-local" else even
    local = np.zeros(len(graph.rate))
    local[calls] = np.bincount(shared.edge, weights=_stays(router, share, shared), minlength=len(calls))
    local[graph.peers] = _pairs_together(counts, row, running)[graph.row[graph.caller[graph.peers]]]
    return Routing(
        counts=counts,
        row=row,
        machine=counts.indices.astype(np.int64),
        share=share,
        runs=running > 0,
        local=np.minimum(local, 1.0),
        flow=flow,
        visits=visits,
    )


def _flows(graph: RequestGraph, runs: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Calls and visits per unit of time: the stated weights, but for what workloads without a running replica do not pass on."""
    go_on, visits, flow = graph.go_on, np.array(graph.entry), np.zeros(len(graph.rate))
    alive = runs[graph.row]
    for calls in by_depth(graph):
        flow[calls] = go_on[calls] * visits[graph.caller[calls]] * alive[graph.caller[calls]]
        visits += np.bincount(graph.callee[calls], weights=flow[calls], minlength=len(visits))
    return flow, visits


def by_depth(graph: RequestGraph) -> list[IntArray]:
    """The calls in groups: all calls to a node come before those that it makes."""
    depth = graph.depth[graph.caller]
    order = np.argsort(depth, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(depth[order])) + 1)


def _stays(router: str, share: FloatArray, shared: SharedCells) -> FloatArray:
    """(shared cell,) share of a call's traffic that stays on that machine."""
    if router == "random":
        return np.asarray(share[shared.of_a] * share[shared.of_b], dtype=np.float64)
    if router == "prefer-local":
        return np.asarray(share[shared.of_a], dtype=np.float64)
    return np.minimum(share[shared.of_a], share[shared.of_b])


def _drawn_to_callers(graph: RequestGraph, flow: FloatArray, even: FloatArray, row: IntArray, shared: SharedCells) -> FloatArray:
    """(cell,) shares of visits if every caller keeps to its machine where it can; callers before callees."""
    share, node_of = np.array(even), np.full(int(max(row.max(initial=0), graph.row.max(initial=0))) + 1, -1)
    calls = np.flatnonzero(~graph.peers)
    node_of[graph.row[graph.callee[calls]]] = graph.callee[calls]
    depth_of_cell = np.where(node_of[row] >= 0, graph.depth[node_of[row]], -1)
    depth = graph.depth[graph.callee[calls]]
    for level in np.unique(depth):
        here = depth[shared.edge] == level
        edge, of_a, of_b = shared.edge[here], shared.of_a[here], shared.of_b[here]
        kept = np.bincount(edge, weights=share[of_a], minlength=len(calls))
        pulled = np.bincount(of_b, weights=flow[calls[edge]] * share[of_a], minlength=len(share))
        into = calls[depth == level]
        rest = flow[into] * (1.0 - kept[depth == level])
        spread = graph.entry + np.bincount(graph.callee[into], weights=rest, minlength=len(graph.row))
        cells = np.flatnonzero(depth_of_cell == level)
        visits = pulled[cells] + spread[node_of[row[cells]]] * even[cells]
        total = np.bincount(row[cells], weights=visits, minlength=len(node_of))[row[cells]]
        share[cells] = np.where(total > 0, visits / np.where(total > 0, total, 1.0), even[cells])
    return share


def _pairs_together(counts: Counts, row: IntArray, running: FloatArray) -> FloatArray:
    """(row,) share of the pairs of its containers that run on one machine; 1 where there is no pair."""
    together = np.bincount(row, weights=counts.data * (counts.data - 1.0), minlength=len(running))
    pairs = running * (running - 1.0)
    return np.asarray(np.where(pairs > 0, together / np.where(pairs > 0, pairs, 1.0), 1.0), dtype=np.float64)
