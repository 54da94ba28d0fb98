"""Which colour a service has: the biggest have their own, the rest are greys."""

from dataclasses import dataclass

import numpy as np

from bayplan.model import Cluster, IntArray, ints

OWN = 12  # services with a colour of their own: more cannot be told apart
GREYS = 3  # shades for the others, so that neighbours differ


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Palette:
    """Services by size, and their colours: 0..OWN-1 are colours, OWN.. are greys (`.s0`, `.s1`, ... in picture.css)."""

    rank: IntArray  # (service,) 0 is the biggest
    colour: IntArray  # (service,)

    @property
    def own(self) -> IntArray:
        """The services that have a colour of their own, biggest first."""
        return ints(np.argsort(self.rank, kind="stable")[:OWN])


def service_palette(cluster: Cluster) -> Palette:
    """The palette of a cluster. It depends on the cluster alone, so every picture of it agrees.

    Size: the sum of its containers' dominant shares of the whole cluster. Ties: as in the file.
    """
    total = cluster.machines.capacity.sum(axis=0, dtype=np.float64)
    share = np.divide(cluster.workloads.request, total, out=np.zeros(cluster.workloads.request.shape), where=total > 0)
    of_workload = share.max(axis=1, initial=0) * cluster.replicas
    n_s = len(cluster.services.name)
    size = np.bincount(cluster.workloads.service, weights=of_workload, minlength=n_s)
    rank = np.empty(n_s, dtype=np.int64)
    rank[np.argsort(-size, kind="stable")] = np.arange(n_s)
    colour = np.where(rank < OWN, rank, OWN + rank % GREYS)
    return Palette(rank=ints(rank), colour=ints(colour))
