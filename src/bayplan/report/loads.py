"""How full the machines are, as shares of their capacity."""

from dataclasses import dataclass

import numpy as np

from bayplan.model import UNPLACED, Cluster, FloatArray, IntArray, Placement, floats, ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Use:
    """The load of every machine under one placement. What a machine has none of is not counted."""

    share: FloatArray  # (machine, resource) load / capacity, nan where the machine has none
    fullest: IntArray  # (machine,) the resource with the highest share: what the machine runs out of first
    level: FloatArray  # (machine,) share of the fullest resource
    safety: FloatArray  # (machine,) safety / capacity of the fullest resource
    containers: IntArray  # (machine,)

    @property
    def over_safety(self) -> IntArray:
        """Machines whose fullest resource is above its safety capacity."""
        return ints(np.flatnonzero(self.level > self.safety))


def machine_use(cluster: Cluster, placement: Placement) -> Use:
    """Load of every machine. O(containers x resources)."""
    n_m, n_r = cluster.machines.capacity.shape
    placed = placement.machine_of != UNPLACED
    m, w = placement.machine_of[placed], cluster.containers.workload[placed]
    load = np.stack(
        [np.bincount(m, weights=cluster.workloads.request[w, r], minlength=n_m) for r in range(n_r)] or [np.zeros(n_m)], axis=1
    )
    capacity = cluster.machines.capacity.astype(np.float64) if n_r else np.zeros((n_m, 1))
    safety = cluster.machines.safety.astype(np.float64) if n_r else np.zeros((n_m, 1))
    share = np.divide(load, capacity, out=np.full(load.shape, np.nan), where=capacity > 0)
    fullest = np.argmax(np.nan_to_num(share, nan=-1.0), axis=1)
    every = np.arange(n_m)
    margin = np.divide(safety, capacity, out=np.ones(load.shape), where=capacity > 0)
    return Use(
        share=floats(share),
        fullest=ints(fullest),
        level=floats(np.nan_to_num(share[every, fullest])),
        safety=floats(margin[every, fullest]),
        containers=ints(np.bincount(m, minlength=n_m)),
    )
