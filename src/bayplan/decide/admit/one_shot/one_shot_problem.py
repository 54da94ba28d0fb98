"""The one-shot problem: place the members of one request into zones at the least cost (IQP (4) of [Online clusters])."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bayplan.errors import ModelError
from bayplan.model import FloatArray, IntArray, floats, ints

IMPOSSIBLE = np.inf  # the cost of a placement that does not exist


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OneShotProblem:
    """min sum cost[v, z_v] + sum over ordered pairs (v, w) of traffic[v, w] * link[pair[v, w], z_v, z_w]   (4)

    s.t. the members in zone z ask for at most free[z] of every resource                                      (4a)
    and the traffic from zone y to another zone z is at most bandwidth[y, z]                     (beyond (4): (1e))

    `link` is infinite where there is no link. With one table of link prices `pair` is all zeros; a general tensor
    P_{v,w,y,z} has a table for each ordered pair and a traffic of 1. Pairs without traffic cost nothing.
    """

    cost: FloatArray  # (member, zone) P_vs; infinite where a member may not go
    demand: IntArray  # (member, resource) a_vk
    free: IntArray  # (zone, resource) B_ks, or less if less is free
    traffic: FloatArray  # (member, member) from, to; 0 on the diagonal
    link: FloatArray  # (table, zone, zone) price of one unit of traffic; [t, z, z] is 0 if (4) is read literally
    pair: IntArray  # (member, member) which table
    bandwidth: FloatArray  # (zone, zone) what each link can still take; infinite: no limit; the diagonal is ignored

    def __post_init__(self) -> None:
        for field in ("cost", "traffic", "link", "bandwidth"):
            object.__setattr__(self, field, floats(getattr(self, field)))
        for field in ("demand", "free", "pair"):
            object.__setattr__(self, field, ints(getattr(self, field)))
        (v, z), k = self.cost.shape, self.free.shape[1]
        shapes = (
            self.demand.shape,
            self.free.shape,
            self.traffic.shape,
            self.link.shape[1:],
            self.pair.shape,
            self.bandwidth.shape,
        )
        if v == 0 or shapes != ((v, k), (z, k), (v, v), (z, z), (v, v), (z, z)):
            raise ModelError(f"one-shot problem: arrays of shapes {shapes} for {v} members and {z} zones")
        if np.isnan(self.cost).any() or np.isnan(self.link).any() or self.cost.min(initial=0) < 0 or self.link.min(initial=0) < 0:
            raise ModelError("one-shot problem: a cost is negative or not a number")

    def cost_of(self, zone: IntArray) -> float:
        """(4) of a placement, one zone per member, whether or not it fits."""
        here, member = zone[:, None], np.arange(len(zone))
        talks = self.traffic > 0
        price = self.link[self.pair, here, zone[None, :]]
        return float(self.cost[member, zone].sum() + (self.traffic[talks] * price[talks]).sum())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OneShotPlacement:
    """The answer of a one-shot method. `zone` is None if it found no placement that fits."""

    zone: IntArray | None  # (member,)
    cost: float  # (4); infinite if there is no placement
    bound: float = 0.0  # no placement that fits costs less: proven
    complete: bool = True  # False: the search was cut short, so `zone` None does not prove that nothing fits


@dataclass(frozen=True, slots=True, kw_only=True)
class OneShotOptions:
    """How one request is placed: all have a default."""

    samples: int | None = None  # n of Algorithm 1; None: min(V, ceil(ln V / epsilon^2))
    epsilon: float = 0.6  # of Algorithm 1
    nodes: int | None = None  # limit of the search: the same number gives the same answer; None: the method's own limit


class OneShot(Protocol):
    """A method that places the members of one request within (4a) and the bandwidth, or finds no placement."""

    def __call__(self, problem: OneShotProblem, options: OneShotOptions, *, seed: int) -> OneShotPlacement:
        """A placement of all members, of low cost."""
        ...
