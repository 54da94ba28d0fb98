"""The colours of pictures: of services, by size, and of machines, by how full they are."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayplan.model import BoolArray, Cluster, FloatArray, IntArray, ints
from bayplan.report.svg import element, escaped, rect, text, width_of

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


OVER_SAFETY, OVER_CAPACITY, NONE = 10, 11, 12
CLASSES = (*(f"h{step}" for step in range(12)), "hx")
WORDS = (*(f"{10 * step}–{10 * step + 10}\u00a0%" for step in range(10)), "over safety", "over capacity", "none")


def steps(share: FloatArray, hot: BoolArray, over: BoolArray) -> IntArray:
    """The index into `CLASSES` of every share; `NONE` where there is no number and nothing is over capacity."""
    known = np.nan_to_num(share)
    step = np.clip((known * 10).astype(np.int64), 0, 9)
    step = np.where(hot, OVER_SAFETY, step)
    step = np.where(np.isnan(share), NONE, step)
    return ints(np.where(over, OVER_CAPACITY, step))


def fullness_legend(present: Sequence[int], *, left: float, top: float, none: str = "") -> str:
    """The scale from empty to full, and the warnings that occur."""
    parts = [text(left, top + 10, "empty", "soft small")]
    x = left + 46
    for step in range(10):
        parts.append(element("g", element("title", escaped(WORDS[step])), rect(x, top, 20, 11, CLASSES[step])))
        x += 20
    parts.append(text(x + 6, top + 10, "full", "soft small"))
    x += 46
    for step in (OVER_SAFETY, OVER_CAPACITY, NONE):
        words = none if step == NONE else WORDS[step]
        if step in present and words:
            parts += [rect(x, top, 11, 11, CLASSES[step]), text(x + 17, top + 10, words, "soft small")]
            x += 17 + width_of(words, 11) + 22
    return "".join(parts)
