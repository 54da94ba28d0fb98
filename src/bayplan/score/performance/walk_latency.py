"""The latency of a request that walks the call graph: its mean, its quantiles, and whether it fails.

A walk is a sum: a visit, a call, a visit, ... The mean follows from visits and calls per request. With Poisson arrivals a
network of processor-sharing machines has a product form, so the mean is exact (Baskett, Chandy, Muntz and Palacios 1975).

The distribution is worked out as a Laplace transform over the graph, callees before callers, and inverted numerically by the
Euler method (Abate and Whitt 2006). For that the visits of one walk are taken as independent. The time of one visit has two
phases (a balanced hyperexponential) with the variance of M/M/1-PS: (2 + u) / (2 - u) times the squared mean (Coffman, Muntz and
Trotter 1970); around the measured curve it is exponential. The times of calls are constants.
"""

from collections.abc import Sequence
from math import comb, log, pi
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from bayplan.model import FloatArray, IntArray, floats
from bayplan.score.performance.assumptions import Assumptions
from bayplan.score.performance.call_graph import RequestGraph
from bayplan.score.performance.machine_load import MachineLoad
from bayplan.score.performance.routing import Routing, by_depth

ComplexArray: TypeAlias = npt.NDArray[np.complex128]

CLASSES = 32  # machines are grouped by how long visits take there
EULER = 8  # terms; about 5 digits
GRID = 10  # times at which the distribution is worked out, in each of ...
ROUNDS = 3  # ... these rounds, each between two times of the round before
WIDE = 64.0  # the first round: from the mean divided to the mean multiplied by this


class Walks(NamedTuple):
    """All that a walk depends on."""

    graph: RequestGraph
    routing: Routing
    load: MachineLoad
    given: Assumptions


def mean_latency(walks: Walks) -> float:
    """Mean latency of a request, ms."""
    graph, routing, given = walks.graph, walks.routing, walks.given
    calls = float(routing.flow @ call_ms(routing.local, given))
    visits = float((routing.visits * routing.runs[graph.row]) @ visit_mean(walks)[graph.row])
    return (calls + visits) / graph.requests


def call_ms(local: FloatArray, given: Assumptions) -> FloatArray:
    """Mean time, there and back, of calls of which this share stays on its machine."""
    return np.asarray(local * given.ipc_ms + (1.0 - local) * given.network_ms, dtype=np.float64)


def call_fails(local: FloatArray, given: Assumptions) -> FloatArray:
    """Probability that calls fail of which this share stays on its machine."""
    return np.asarray(local * given.ipc_error + (1.0 - local) * given.network_error, dtype=np.float64)


def visit_mean(walks: Walks) -> FloatArray:
    """(row,) mean time of a visit, over the machines that its visits go to."""
    return _over_cells(walks.routing, walks.load.visit_ms)


def visit_fails(walks: Walks) -> FloatArray:
    """(row,) probability that a visit fails; 1 where nothing runs."""
    return np.asarray(np.where(walks.routing.runs, _over_cells(walks.routing, walks.load.fails), 1.0), dtype=np.float64)


def _over_cells(routing: Routing, of_machine: FloatArray) -> FloatArray:
    weights = routing.share * of_machine[routing.machine]
    return np.asarray(np.bincount(routing.row, weights=weights, minlength=len(routing.runs)), dtype=np.float64)


def error_rate(walks: Walks) -> float:
    """Probability that some visit or call of a request fails."""
    graph, routing = walks.graph, walks.routing
    succeeds = 1.0 - visit_fails(walks)[graph.row]
    passes = (graph.go_on * (1.0 - call_fails(routing.local, walks.given)))[:, None]
    return 1.0 - float(_weighted_entry(graph, _backwards(graph, succeeds[:, None], passes)).real[0])


def quantiles(walks: Walks, wanted: Sequence[float]) -> list[float]:
    """Quantiles of the latency of a request, ms."""
    mean = mean_latency(walks)
    if mean <= 0:
        return [0.0 for _ in wanted]
    transform = _Transform(walks)
    first = mean * np.geomspace(1.0 / WIDE, WIDE, GRID)
    distribution = transform.distribution(first)
    return [_quantile(transform, first, distribution, share) for share in wanted]


def _quantile(transform: "_Transform", times: FloatArray, distribution: FloatArray, share: float) -> float:
    for _ in range(ROUNDS - 1):
        low, high = _bracket(times, distribution, share)
        times = np.geomspace(low, high, GRID)
        distribution = transform.distribution(times)
    rising = np.maximum.accumulate(distribution)
    return float(np.interp(share, rising, times))


def _bracket(times: FloatArray, distribution: FloatArray, share: float) -> tuple[float, float]:
    above = int(np.searchsorted(np.maximum.accumulate(distribution), share))
    above = min(max(1, above), len(times) - 1)
    return float(times[above - 1]), float(times[above])


class _Transform:
    """The Laplace transform of the latency; machines with about the same time of visits are one class."""

    def __init__(self, walks: Walks) -> None:
        self._walks = walks
        routing, load = walks.routing, walks.load
        weight = floats(np.bincount(routing.machine, weights=routing.share, minlength=len(load.visit_ms)))
        group = _classes(load.visit_ms, weight)
        self._mean, used = _class_means(group, weight, load.visit_ms), _class_means(group, weight, load.used)
        self._first = _first_phase(used) if walks.given.queue == "ps" else np.full(len(used), 0.5)
        size = len(routing.runs), len(self._mean)
        flat = np.bincount(routing.row * size[1] + group[routing.machine], weights=routing.share, minlength=size[0] * size[1])
        self._class_share = flat.reshape(size)[walks.graph.row]  # (node, class)

    def distribution(self, times: FloatArray) -> FloatArray:
        """(time,) probability that a request takes no longer ([Abate and Whitt] Euler)."""
        beta, eta = _euler()
        s = (beta[None, :] / times[:, None]).ravel()
        values = self._at(s) / s
        terms = (eta * values.real.reshape(len(times), -1)).sum(axis=1)
        return np.asarray(np.clip(10.0 ** (EULER / 3) / times * terms, 0.0, 1.0), dtype=np.float64)

    def _at(self, s: ComplexArray) -> ComplexArray:
        graph, routing, given, runs = self._walks.graph, self._walks.routing, self._walks.given, self._walks.routing.runs
        visit = sum(p[:, None] / (1.0 + s[None, :] * (self._mean / (2.0 * p))[:, None]) for p in (self._first, 1.0 - self._first))
        nodes: ComplexArray = np.asarray(self._class_share @ visit, dtype=np.complex128)
        nodes[~runs[graph.row]] = 1.0
        stays, leaves = (graph.go_on * runs[graph.row[graph.caller]] * part for part in (routing.local, 1.0 - routing.local))
        calls = stays[:, None] * np.exp(-s * given.ipc_ms) + leaves[:, None] * np.exp(-s * given.network_ms)
        return _weighted_entry(graph, _backwards(graph, nodes, calls, ends=_ends(self._walks)))


def _ends(walks: Walks) -> FloatArray:
    """(node,) probability that a walk ends after its visit there."""
    graph = walks.graph
    made = graph.go_on * walks.routing.runs[graph.row[graph.caller]]
    return np.asarray(1.0 - np.bincount(graph.caller, weights=made, minlength=len(graph.row)), dtype=np.float64)


def _backwards(
    graph: RequestGraph, node: FloatArray | ComplexArray, call: FloatArray | ComplexArray, ends: FloatArray | None = None
) -> ComplexArray:
    """(node, point) value of a walk from each node on: node times (end + sum over its calls of call times callee)."""
    go_on = np.bincount(graph.caller, weights=graph.go_on, minlength=len(graph.row))
    rest = np.empty((len(graph.row), node.shape[1]), dtype=np.complex128)
    rest[:] = (1.0 - go_on if ends is None else ends)[:, None]
    value = np.asarray(node * rest, dtype=np.complex128)
    for calls in reversed(by_depth(graph)):
        order = calls[np.argsort(graph.caller[calls], kind="stable")]
        caller, start = np.unique(graph.caller[order], return_index=True)
        value[caller] += node[caller] * np.add.reduceat(call[order] * value[graph.callee[order]], start, axis=0)
    return value


def _weighted_entry(graph: RequestGraph, value: ComplexArray) -> ComplexArray:
    return np.asarray(graph.entry @ value / graph.requests, dtype=np.complex128)


def _classes(visit: FloatArray, weight: FloatArray) -> IntArray:
    """(machine,) class 0, 1, ...: machines in the order of their time, about the same visits in each class."""
    order = np.argsort(visit, kind="stable")
    passed = (np.cumsum(weight[order]) - weight[order] / 2) / max(float(weight.sum()), 1e-300)
    group = np.empty(len(visit), dtype=np.int64)
    group[order] = np.minimum((passed * CLASSES).astype(np.int64), CLASSES - 1)
    return group


def _class_means(group: IntArray, weight: FloatArray, value: FloatArray) -> FloatArray:
    total = np.bincount(group, weights=weight, minlength=CLASSES)
    return np.asarray(np.bincount(group, weights=weight * value, minlength=CLASSES) / np.where(total > 0, total, 1.0))


def _first_phase(used: FloatArray) -> FloatArray:
    """Probability of the first phase of a balanced hyperexponential with the variance of M/M/1-PS."""
    squared = (2.0 + used) / (2.0 - used)
    return np.asarray(0.5 * (1.0 + np.sqrt((squared - 1.0) / (squared + 1.0))), dtype=np.float64)


def _euler() -> tuple[ComplexArray, FloatArray]:
    """Nodes and weights of the Euler method."""
    k = np.arange(2 * EULER + 1)
    xi = np.ones(len(k))
    xi[0], xi[-1] = 0.5, 2.0**-EULER
    for j in range(1, EULER):
        xi[2 * EULER - j] = xi[2 * EULER - j + 1] + 2.0**-EULER * comb(EULER, j)
    return np.asarray(EULER * log(10) / 3 + 1j * pi * k, dtype=np.complex128), (-1.0) ** k * xi
