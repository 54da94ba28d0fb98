"""The containers of a bay plan as blocks: which stack, how high up, how tall."""

from dataclasses import dataclass

import numpy as np

from bayplan.model import Cluster, FloatArray, IntArray, Placement, floats, ints
from bayplan.report.loads import Use
from bayplan.report.palette import Palette


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Blocks:
    """Placed containers, machine by machine from the ground up, those of one service together."""

    container: IntArray  # (block,)
    machine: IntArray  # (block,)
    service: IntArray  # (block,)
    base: FloatArray  # (block,) where it stands, as a share of the machine
    height: FloatArray  # (block,) its share of the machine's fullest resource

    def __len__(self) -> int:
        return len(self.container)


def stacked(cluster: Cluster, placement: Placement, use: Use, palette: Palette) -> Blocks:
    """All placed containers as blocks. The heights on a machine add up to its level.

    On a machine that has none of its fullest resource, they are shares of the load, stretched to its level.
    """
    c = placement.placed
    m, w = placement.machine_of[c], cluster.containers.workload[c]
    s = cluster.workloads.service[w]
    order = np.lexsort((c, w, palette.rank[s], m))
    c, m, w, s = c[order], m[order], w[order], s[order]
    r = use.fullest[m]
    room = cluster.machines.capacity[m, r] if cluster.resources else np.zeros(len(m))
    asked = cluster.workloads.request[w, r] if cluster.resources else np.zeros(len(m))
    load = np.bincount(m, weights=asked, minlength=len(use.level)) / np.where(use.endless, use.level, 1.0)
    room = np.where(use.endless[m], load[m], room)
    height = np.divide(asked, room, out=np.zeros(len(m)), where=room > 0)
    return Blocks(container=ints(c), machine=ints(m), service=ints(s), base=floats(_bases(m, height)), height=floats(height))


def waiting(cluster: Cluster, placement: Placement, palette: Palette) -> Blocks:
    """Containers without a machine, as dominant shares of an average machine, piled up in stacks no higher than one."""
    c = placement.unplaced
    w = cluster.containers.workload[c]
    s = cluster.workloads.service[w]
    order = np.lexsort((c, w, palette.rank[s]))
    c, w, s = c[order], w[order], s[order]
    has = np.maximum(1, (cluster.machines.capacity > 0).sum(axis=0))
    average = cluster.machines.capacity.sum(axis=0, dtype=np.float64) / has
    share = np.divide(cluster.workloads.request, average, out=np.zeros(cluster.workloads.request.shape), where=average > 0)
    height = share.max(axis=1, initial=0)[w]
    pile = _piles(height)
    return Blocks(
        container=ints(c), machine=ints(pile), service=ints(s), base=floats(_bases(pile, height)), height=floats(height)
    )


def _bases(stack: IntArray, height: FloatArray) -> FloatArray:
    """Where each block stands, if blocks of one stack come one after another."""
    before = np.cumsum(height) - height
    first = np.flatnonzero(np.diff(stack, prepend=-1))
    return before - np.repeat(before[first], np.diff(first, append=len(stack)))


def _piles(height: FloatArray) -> IntArray:
    pile, level = np.zeros(len(height), dtype=np.int64), 0.0
    for index, tall in enumerate(height.tolist()):
        opens = level > 0 and level + tall > 1
        level = tall if opens else level + tall
        pile[index] = (pile[index - 1] if index else 0) + opens
    return pile
