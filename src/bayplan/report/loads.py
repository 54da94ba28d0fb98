"""How full the machines are, as shares of their capacity."""

from dataclasses import dataclass

import numpy as np

from bayplan.model import BoolArray, Cluster, FloatArray, IntArray, Placement, floats, ints
from bayplan.score.counts import containers_on, loads
from bayplan.score.gmrp import machine_overload
from bayplan.score.utilisation import machine_utilisation

INFINITE = 1.25  # a machine that runs what it has none of is drawn at least this high


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MachineUse:
    """The load of every machine under one placement.

    What a machine has none of is not counted, unless its containers request it all the same: then it is infinitely full.
    """

    share: FloatArray  # (machine, resource) load / capacity, nan where the machine has none
    fullest: IntArray  # (machine,) the resource with the highest share: what the machine runs out of first
    level: FloatArray  # (machine,) share of the fullest resource; for the infinitely full as drawn: no other is higher
    lacks: BoolArray  # (machine, resource) does it run what it has none of?
    over: BoolArray  # (machine, resource) does it run more than it has?
    margin: FloatArray  # (machine, resource) safety / capacity, 1 where the machine has none
    safety: FloatArray  # (machine,) safety / capacity of the fullest resource
    hot: BoolArray  # (machine,) is any resource above its safety capacity?
    containers: IntArray  # (machine,)

    @property
    def full(self) -> BoolArray:
        """(machine,) does it run more of something than it has?"""
        return np.asarray(self.over.any(axis=1), dtype=np.bool_)

    @property
    def endless(self) -> BoolArray:
        """(machine,) is it infinitely full?"""
        return np.asarray(self.lacks.any(axis=1), dtype=np.bool_)


def machine_use(cluster: Cluster, placement: Placement) -> MachineUse:
    """Load of every machine. O(containers x resources)."""
    n_m, n_r = cluster.machines.capacity.shape
    share = machine_utilisation(cluster, placement) if n_r else np.full((n_m, 1), np.nan)
    margin = np.ones(share.shape)
    capacity = cluster.machines.capacity
    if n_r:
        np.divide(cluster.machines.safety, capacity, out=margin, where=capacity > 0)
    load = loads(cluster, placement) if n_r else np.zeros((n_m, 1), dtype=np.int64)
    over = load > (capacity if n_r else 0)
    lacks = over & np.isnan(share)
    known = np.where(lacks, np.inf, np.nan_to_num(share, nan=-1.0))
    fullest, every = np.argmax(known, axis=1), np.arange(n_m)
    level = np.maximum(0.0, known[every, fullest])
    highest = level[np.isfinite(level)].max(initial=INFINITE)
    return MachineUse(
        share=floats(share),
        fullest=ints(fullest),
        level=floats(np.minimum(level, highest)),
        lacks=np.asarray(lacks, dtype=np.bool_),
        over=np.asarray(over, dtype=np.bool_),
        margin=floats(margin),
        safety=floats(margin[every, fullest]),
        hot=np.asarray((machine_overload(cluster, placement) > 0).any(axis=1), dtype=np.bool_),
        containers=ints(containers_on(cluster, placement)),
    )
