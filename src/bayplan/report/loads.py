"""How full the machines are, as shares of their capacity."""

from dataclasses import dataclass

import numpy as np

from bayplan.model import BoolArray, Cluster, FloatArray, IntArray, Placement, floats, ints
from bayplan.score.counts import containers_on
from bayplan.score.overload import machine_overload
from bayplan.score.utilisation import machine_utilisation


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Use:
    """The load of every machine under one placement. What a machine has none of is not counted."""

    share: FloatArray  # (machine, resource) load / capacity, nan where the machine has none
    fullest: IntArray  # (machine,) the resource with the highest share: what the machine runs out of first
    level: FloatArray  # (machine,) share of the fullest resource
    margin: FloatArray  # (machine, resource) safety / capacity, 1 where the machine has none
    safety: FloatArray  # (machine,) safety / capacity of the fullest resource
    hot: BoolArray  # (machine,) is any resource above its safety capacity?
    containers: IntArray  # (machine,)


def machine_use(cluster: Cluster, placement: Placement) -> Use:
    """Load of every machine. O(containers x resources)."""
    n_m, n_r = cluster.machines.capacity.shape
    share = machine_utilisation(cluster, placement) if n_r else np.full((n_m, 1), np.nan)
    margin = np.ones(share.shape)
    capacity = cluster.machines.capacity
    if n_r:
        np.divide(cluster.machines.safety, capacity, out=margin, where=capacity > 0)
    fullest, every = np.argmax(np.nan_to_num(share, nan=-1.0), axis=1), np.arange(n_m)
    return Use(
        share=floats(share),
        fullest=ints(fullest),
        level=floats(np.nan_to_num(share[every, fullest])),
        margin=floats(margin),
        safety=floats(margin[every, fullest]),
        hot=np.asarray((machine_overload(cluster, placement) > 0).any(axis=1), dtype=np.bool_),
        containers=ints(containers_on(cluster, placement)),
    )
