"""The whole distribution of latency by discrete-event simulation of the same walks. It is a model too.

The requests that walk are those of the call graph. What else a machine's CPU does arrives as visits that are not part of any
request, so that every machine is as busy as its load says. The rate of requests is the largest at which no machine is busier.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayplan.errors import ModelError
from bayplan.model import FloatArray, IntArray, floats, ints
from bayplan.model.arrays import random_state
from bayplan.score.performance.assumptions import Assumptions
from bayplan.score.performance.routing import Routing
from bayplan.score.performance.walk_latency import Walks

if TYPE_CHECKING:
    from bayplan.kernels.performance.arrays import CellArrays, MachineArrays, SimulationSettings, WalkArrays

BATCHES = 20
T_95 = 2.093  # of Student's t with 19 degrees of freedom, two-sided
WARM_UP = 0.2  # of the counted requests come before, uncounted
PLACES, WIDTH = 1 << 16, 4096  # requests under way, visits on one machine: more means overload
IDLE = 0.01  # how busy idle machines are in the simulation, where no workload uses CPU


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SimulatedLatency:
    """Latencies of simulated requests, in the order in which they came."""

    latency_ms: FloatArray  # (request,)
    error_rate: float
    local_share: float  # of calls

    @property
    def mean_ms(self) -> float:
        """Their mean."""
        return float(self.latency_ms.mean())

    @property
    def half_width_ms(self) -> float:
        """Half of the 95 % confidence interval of the mean, from the means of 20 consecutive batches."""
        usable = len(self.latency_ms) // BATCHES * BATCHES
        means = self.latency_ms[:usable].reshape(BATCHES, -1).mean(axis=1)
        return float(T_95 * means.std(ddof=1) / np.sqrt(BATCHES))

    def quantile_ms(self, share: float) -> float:
        """A quantile, such as 0.95."""
        return float(np.quantile(self.latency_ms, share))


def simulate_walks(walks: Walks, *, requests: int, seed: int) -> SimulatedLatency:
    """Simulate requests; the same seed gives the same latencies. ModelError if fewer than 20 are wanted."""
    from bayplan.kernels.performance.arrays import TOO_MANY, Tally
    from bayplan.kernels.performance.simulate import simulate

    if requests < BATCHES:
        raise ModelError(f"{requests} simulated requests: expected {BATCHES} or more")
    machines = len(walks.load.used)
    tally = Tally(np.zeros(requests), np.zeros(requests, dtype=np.int64), np.zeros(2, dtype=np.int64), np.zeros(machines))
    ended = simulate(*kernel_arrays(walks, skipped=int(WARM_UP * requests)), PLACES, random_state(seed), tally)
    if ended == TOO_MANY:
        raise ModelError(f"the simulation has more than {WIDTH:,} visits on one machine at once; assume less load")
    return SimulatedLatency(
        latency_ms=floats(tally.latency),
        error_rate=float(tally.failed.mean()),
        local_share=float(tally.calls[1] / max(1, int(tally.calls.sum()))),
    )


def kernel_arrays(walks: Walks, *, skipped: int) -> "tuple[WalkArrays, CellArrays, MachineArrays, SimulationSettings]":
    """What the kernel is given."""
    from bayplan.kernels.performance.arrays import EXPONENTIAL, CellArrays, MachineArrays, SimulationSettings, WalkArrays

    graph, routing, given = walks.graph, walks.routing, walks.given
    order = np.argsort(graph.caller, kind="stable")
    first = np.searchsorted(graph.caller[order], np.arange(len(graph.row) + 1))
    rate, others = _rates(walks)
    arrays = WalkArrays(
        entry=np.cumsum(graph.entry) / graph.requests,
        first=first.astype(np.int64),
        go_on=_within(np.cumsum(graph.go_on[order]), first),
        callee=graph.callee[order],
        peers=graph.peers[order].astype(np.int64),
        row=graph.row,
    )
    cells = CellArrays(routing.counts.indptr.astype(np.int64), routing.machine, _ends(routing))
    total = float(others.sum())
    machines = MachineArrays(np.cumsum(others) / max(total, 1e-300), walks.load.visit_ms, walks.load.fails)
    settings = SimulationSettings(
        request_rate=rate,
        other_rate=total if given.queue == "ps" else 0.0,
        sharing=1 if given.queue == "ps" else 0,
        service_ms=given.service_ms,
        size_kind=EXPONENTIAL,
        router=_router(given),
        ipc_ms=given.ipc_ms,
        network_ms=given.network_ms,
        ipc_error=given.ipc_error,
        network_error=given.network_error,
        skipped=skipped,
        width=WIDTH if given.queue == "ps" else 1,
    )
    return arrays, cells, machines, settings


def _router(given: Assumptions) -> int:
    from bayplan.kernels.performance.arrays import PREFER_LOCAL, RANDOM, SPILL_OVER

    return {"random": RANDOM, "prefer-local": PREFER_LOCAL, "spill-over": SPILL_OVER}[given.router]


def _rates(walks: Walks) -> tuple[float, FloatArray]:
    """Requests per ms, and (machine,) visits per ms that are not part of a request."""
    graph, routing, load = walks.graph, walks.routing, walks.load
    row_visits = np.bincount(graph.row, weights=routing.visits, minlength=len(routing.runs))
    per_request = row_visits[routing.row] * routing.share / graph.requests
    visits = np.bincount(routing.machine, weights=per_request, minlength=len(load.used))
    wanted = np.maximum(load.used, IDLE if not load.used.any() else 0.0) / max(walks.given.service_ms, 1e-300)
    limited = (visits > 0) & (wanted > 0)
    rate = float((wanted[limited] / visits[limited]).min()) if limited.any() else 1.0
    return rate, floats(np.maximum(0.0, wanted - rate * visits))


def _within(cumulative: FloatArray, first: IntArray) -> FloatArray:
    """Cumulative numbers that start anew at each of `first`."""
    before = np.r_[0.0, cumulative][first[:-1]]
    return np.asarray(cumulative - np.repeat(before, np.diff(first)), dtype=np.float64)


def _ends(routing: Routing) -> IntArray:
    """(cell,) containers of its row up to this cell."""
    first = routing.counts.indptr
    cumulative = np.cumsum(routing.counts.data)
    before = np.r_[0, cumulative][first[:-1]]
    return ints(cumulative - np.repeat(before, np.diff(first)))
