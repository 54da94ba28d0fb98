"""Which colour a service has: the biggest have their own, the rest are greys."""

from dataclasses import dataclass

import numpy as np

from bayplan.model import Cluster, IntArray, ints

OWN = 12  # services with a colour of their own: more cannot be told apart
GREYS = 3  # shades for the others, so that neighbours differ

TIERS = ((60, "services ranked 13–60"), (250, "ranked 61–250"), (None, "all smaller"))  # of the overview's greys
TIER_CLASS = ("s14", "s12", "s13")  # darker is bigger


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Palette:
    """Services by size, and their colours: 0..OWN-1 are colours, OWN.. are greys (`.s0`, `.s1`, ... in picture.css)."""

    rank: IntArray  # (service,) 0 is the biggest
    colour: IntArray  # (service,)

    @property
    def tier(self) -> IntArray:
        """(service,) like `colour`, but the greys are tiers by size."""
        first, second = (end for end, _ in TIERS if end is not None)
        greys = OWN + (self.rank >= first).astype(np.int64) + (self.rank >= second)
        return ints(np.where(self.rank < OWN, self.rank, greys))

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
