"""How busy machines are, how long a visit takes there, and how often it fails.

A container uses the CPU that its workload states (a share of its request where it states none), in proportion to the visits that
it gets. The stated use is that of the placement in which it was measured. Where other calls stay on their machine than there, a
workload uses less CPU, or more: `serialisation` times the difference of the shares of its calls that stay.

Saturated machines: a machine from `saturated_at` on is taken to be as slow as there, and counted. There is no infinity.
"""

from dataclasses import dataclass

import numpy as np

from bayplan.model import BoolArray, Cluster, FloatArray, floats
from bayplan.score.performance.assumptions import Assumptions
from bayplan.score.performance.call_graph import RequestGraph
from bayplan.score.performance.routing import Routing

CURVE = (0.6, 0.8, 0.9), (50.0, 200.0, 800.0)  # CPU share, ms: [FreeContainer] §VII-C; straight lines between, level outside


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MachineLoad:
    """What machines use of their CPU. Of a cluster that has no resource `cpu`, every machine is idle."""

    cell: FloatArray  # (cell of the routing,) share of its machine's CPU that a workload uses there, at the stated load
    served: FloatArray  # (machine,) share of its CPU used by workloads with traffic, at the stated load
    other: FloatArray  # (machine,) by the others
    used: FloatArray  # (machine,) of both, at the assumed load; up to `saturated_at`
    saturated: BoolArray  # (machine,)
    visit_ms: FloatArray  # (machine,) mean time of a visit
    fails: FloatArray  # (machine,) probability that a visit fails there

    @property
    def max_load(self) -> float | None:
        """How many times the stated traffic the first machine can take; None if no workload with traffic uses any CPU."""
        busy = self.served > 0
        if not busy.any():
            return None
        return float(max(0.0, ((1.0 - self.other[busy]) / self.served[busy]).min()))


def machine_load(cluster: Cluster, graph: RequestGraph, routing: Routing, measured: Routing, given: Assumptions) -> MachineLoad:
    """The load of machines under a routing; `measured` is the one in which the CPU use was stated."""
    cell = _cpu_of_cells(cluster, graph, routing, measured, given)
    has_traffic = np.r_[_has_traffic(cluster, graph), np.zeros(len(cluster.services.name), dtype=np.bool_)][routing.row]
    n_m = len(cluster.machines.name)
    parts = (cell * has_traffic, cell * ~has_traffic)
    served, other = (floats(np.bincount(routing.machine, weights=part, minlength=n_m)) for part in parts)
    share = given.load * served + other
    used = np.minimum(share, given.saturated_at)
    over = np.clip((np.minimum(share, 1.0) - given.overload_from) / max(1e-9, 1.0 - given.overload_from), 0.0, 1.0)
    return MachineLoad(
        cell=cell,
        served=served,
        other=other,
        used=used,
        saturated=share >= given.saturated_at,
        visit_ms=visit_ms(used, given),
        fails=over * given.overload_error,
    )


def visit_ms(used: FloatArray, given: Assumptions) -> FloatArray:
    """Mean time of a visit at some use of CPU: S / (1 - u) under processor sharing, or the measured curve."""
    if given.queue == "curve":
        return np.asarray(np.interp(used, *CURVE), dtype=np.float64)
    return np.asarray(given.service_ms / (1.0 - used), dtype=np.float64)


def _cpu_of_cells(cluster: Cluster, graph: RequestGraph, routing: Routing, measured: Routing, given: Assumptions) -> FloatArray:
    """(cell,) share of its machine's CPU that a workload uses there, at the stated load; 0 of cells of services."""
    n_w = len(cluster.workloads.name)
    cpu = next((r for r, resource in enumerate(cluster.resources) if resource.name.lower() == "cpu"), None)
    if cpu is None:
        return floats(np.zeros(len(routing.row)))
    running = np.asarray(routing.counts.sum(axis=1), dtype=np.float64).ravel()[:n_w]
    saved = given.serialisation * (local_calls(cluster, graph, routing) - local_calls(cluster, graph, measured))
    use = np.r_[_use_of_replica(cluster, cpu, given) * running * (1.0 - saved), np.zeros(len(cluster.services.name))]
    capacity = cluster.machines.capacity[:, cpu].astype(np.float64)
    return floats(_share_of(use[routing.row] * routing.share, capacity[routing.machine]))


def _use_of_replica(cluster: Cluster, cpu: int, given: Assumptions) -> FloatArray:
    """(workload,) base units of CPU that one container uses."""
    workloads = cluster.workloads
    request, mean = workloads.request[:, cpu].astype(np.float64), workloads.usage_mean[:, cpu]
    stated = (mean != request) | (workloads.usage_std[:, cpu] > 0)
    return np.asarray(np.where(stated, mean, given.request_used * request), dtype=np.float64)


def _share_of(use: FloatArray, capacity: FloatArray) -> FloatArray:
    """Use over capacity; a machine that has none of what it runs is full."""
    return np.asarray(np.where(capacity > 0, use / np.where(capacity > 0, capacity, 1.0), (use > 0) * 1.0), dtype=np.float64)


def _has_traffic(cluster: Cluster, graph: RequestGraph) -> BoolArray:
    """(workload,) does it have calls, of its own or of its service?"""
    n_w = len(cluster.workloads.name)
    rows = np.zeros(n_w + len(cluster.services.name), dtype=np.bool_)
    rows[graph.row] = True
    return np.asarray(rows[:n_w] | rows[n_w:][cluster.workloads.service], dtype=np.bool_)


def local_calls(cluster: Cluster, graph: RequestGraph, routing: Routing) -> FloatArray:
    """(workload,) share of the calls that it makes and gets which stay on their machine; its service's if it has none itself."""
    n_w = len(cluster.workloads.name)
    ends = np.r_[graph.row[graph.caller], graph.row[graph.callee]]
    flow, kept = np.tile(routing.flow, 2), np.tile(routing.flow * routing.local, 2)
    total, stays = (np.bincount(ends, weights=each, minlength=n_w + len(cluster.services.name)) for each in (flow, kept))
    share = stays / np.where(total > 0, total, 1.0)
    return np.asarray(np.where(total[:n_w] > 0, share[:n_w], share[n_w:][cluster.workloads.service]), dtype=np.float64)
