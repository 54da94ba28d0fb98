"""Every subset of the few largest containers of each machine: what it costs if just these stay."""

from dataclasses import dataclass

import numpy as np

from bayplan.model import FloatArray, IntArray
from bayplan.score.bound.hinges import ROUNDING, Hinges

MOST_MEMBERS = 9  # 512 subsets a machine
MOST_NUMBERS = 1_500_000  # of a (machine, subset, hinge) table
NOBODY = -1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Subsets:
    """Hinges that grow with load are no less than what the subset alone makes of them."""

    member: IntArray  # (machine, slot) kind, or NOBODY
    inside: FloatArray  # (subset, slot) 1 for members that stay
    hinge: IntArray  # (growing hinge,) which they are
    height: FloatArray  # (machine, subset, growing hinge) weight max(0, a . load of the subset + b)
    forbidden: FloatArray  # (machine, subset) infinite where the subset alone is above the capacity, else 0

    def cheapest(self, share: FloatArray, extra: FloatArray) -> tuple[FloatArray, IntArray]:
        """(machine,) least cost and subset: what `share` (machine, hinge) leaves of the hinges, plus `extra` (machine, slot)
        of each member that stays."""
        rest = 1.0 - share[:, self.hinge]
        cost = np.matmul(self.height, rest[:, :, None])[:, :, 0] + self.forbidden
        cost += _sums_of_subsets(extra)
        subset = cost.argmin(axis=1)
        return cost[np.arange(len(cost)), subset], subset


def _sums_of_subsets(amount: FloatArray) -> FloatArray:
    """(machine, subset) of (machine, slot): subset i has the slots whose bits are set in i."""
    sums = np.zeros((len(amount), 1))
    for column in amount.T:
        sums = np.concatenate([sums, sums + column[:, None]], axis=1)
    return sums


def subsets(request: FloatArray, member: IntArray, shapes: Hinges, least: FloatArray, capacity: FloatArray) -> Subsets:
    """All subsets of `member` (machine, slot), each beside the (machine, resource) load that never leaves."""
    slots = member.shape[1]
    inside = ((np.arange(2**slots)[:, None] >> np.arange(slots)) & 1).astype(np.float64)
    each = np.where((member != NOBODY)[:, :, None], request[member], 0.0)  # (machine, slot, resource)
    load = np.matmul(inside, each) + least[:, None, :]  # (machine, subset, resource)
    hinge = np.flatnonzero(shapes.grows)
    above = np.matmul(load, shapes.a[hinge].T) + shapes.b[:, None, hinge]
    return Subsets(
        member=member,
        inside=inside,
        hinge=hinge,
        height=np.maximum(0.0, above) * shapes.weight[:, None, hinge],
        forbidden=np.where((load <= capacity[:, None, :] * (1 + ROUNDING)).all(axis=2), 0.0, np.inf),
    )


def largest_at_home(home: IntArray, size: FloatArray, machines: int, hinges: int) -> IntArray:
    """(machine, slot) the kinds of largest `size` of each home; as many slots as all subsets have room in memory.

    `home` is NOBODY for kinds that are not to be among them.
    """
    order = np.lexsort((-size, home))
    order = order[home[order] != NOBODY]
    start = np.searchsorted(home[order], np.arange(machines))
    rank = np.arange(len(order)) - start[home[order]]
    room = MOST_NUMBERS // max(1, machines * hinges)
    slots = min(MOST_MEMBERS, max(0, room.bit_length() - 1), int(rank.max(initial=-1)) + 1) if hinges else 0
    member = np.full((machines, slots), NOBODY)
    member[home[order][rank < slots], rank[rank < slots]] = order[rank < slots]
    return member
