"""A part of the affinity graph cut in two, so that little gained affinity is lost.

A part is a multiset of containers: n_w of each of its workloads. One side gets x_w, the other one n_w - x_w. If each side had a
machine of its own, an edge (w, v) of weight a would gain

    a (min(x_w / d_w, x_v / d_v) + min((n_w - x_w) / d_w, (n_v - x_v) / d_v)).

With x_w = 0 or n_w this is a cut between workloads, and what is lost is the weight of the cut. With x_w = n_w / 2 it goes through
all workloads, and nothing is lost but what odd numbers of containers lose.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import kernel
from bayplan.kernels.random import below

BETTER = 1e-12  # of a total affinity of 1
PASSES = 8


class BisectedPart(NamedTuple):
    """A part, its workloads numbered from 0, and the two sides."""

    number: npt.NDArray[np.int64]  # (workload,) n: containers in the part
    one_over: npt.NDArray[np.float64]  # (workload,) 1 / d
    size: npt.NDArray[np.float64]  # (workload,) of one container
    edge_start: npt.NDArray[np.int64]  # (workload + 1,)
    neighbour: npt.NDArray[np.int64]  # (half edge,)
    weight: npt.NDArray[np.float64]  # (half edge,)
    side: npt.NDArray[np.int64]  # (workload,) x: containers on the first side; changes
    bond: npt.NDArray[np.float64]  # (workload,) scratch


@kernel
def gain_at(part, w, x):
    """The affinity of the edges of a workload if x of its containers are on the first side."""
    total = 0.0
    here, there = x * part.one_over[w], (part.number[w] - x) * part.one_over[w]
    for e in range(part.edge_start[w], part.edge_start[w + 1]):
        v = part.neighbour[e]
        first = part.side[v] * part.one_over[v]
        second = (part.number[v] - part.side[v]) * part.one_over[v]
        total += part.weight[e] * (min(here, first) + min(there, second))
    return total


@kernel
def kept_affinity(part):
    """The affinity that both sides have together."""
    total = 0.0
    for w in range(part.number.shape[0]):
        total += gain_at(part, w, part.side[w])
    return 0.5 * total


@kernel
def size_of(part):
    """The size of the first side."""
    total = 0.0
    for w in range(part.number.shape[0]):
        total += part.side[w] * part.size[w]
    return total


@kernel
def halve(part):
    """Half of each workload on the first side; an odd container goes where it gains more, or to the smaller side."""
    ahead = 0.0
    for w in range(part.number.shape[0]):
        part.side[w] = part.number[w] // 2
        ahead -= part.number[w] % 2 * part.size[w]
    for w in range(part.number.shape[0]):
        if part.number[w] % 2 == 1:
            more = gain_at(part, w, part.side[w] + 1) - gain_at(part, w, part.side[w])
            if more > BETTER or (more >= -BETTER and ahead < 0.0):
                part.side[w] += 1
                ahead += 2.0 * part.size[w]


@kernel
def strongest_bond(part):
    """The workload, not on the first side yet, with the most traffic to it; the first of equals."""
    best = 0
    for w in range(part.bond.shape[0]):
        if part.bond[w] > part.bond[best]:
            best = w
    return best


@kernel
def grow(part, rng, half):
    """The first side grows around a random workload, always by the one with the most traffic to it, up to half."""
    n = part.number.shape[0]
    part.side[:] = 0
    part.bond[:] = 0.0
    now, grown = below(rng, n), 0.0
    for _ in range(n - 1):
        part.side[now] = part.number[now]
        part.bond[now] = -1.0
        grown += part.number[now] * part.size[now]
        if grown >= half:
            return
        for e in range(part.edge_start[now], part.edge_start[now + 1]):
            v = part.neighbour[e]
            if part.bond[v] >= 0.0:
                part.bond[v] += part.weight[e]
        now = strongest_bond(part)


@kernel
def may_change(before, after, least, most):
    """May the first side change from one size to another? Into the bounds, or nearer to them."""
    middle = 0.5 * (least + most)
    return least <= after <= most or abs(after - middle) < abs(before - middle)


@kernel
def improve(part, least, most):
    """Move whole workloads to the other side while that gains and the first side stays in its bounds."""
    grown = size_of(part)
    for _ in range(PASSES):
        changed = False
        for w in range(part.number.shape[0]):
            now = part.side[w]
            then = part.number[w] - now
            after = grown + (then - now) * part.size[w]
            if may_change(grown, after, least, most) and gain_at(part, w, then) > gain_at(part, w, now) + BETTER:
                part.side[w] = then
                grown = after
                changed = True
        if not changed:
            return


@kernel
def arbitrary_split(part):
    """The first workloads on the first side, the others on the second; half of the containers if there is only one workload."""
    n = part.number.shape[0]
    for w in range(n):
        part.side[w] = part.number[w] // 2 if n == 1 else part.number[w] * (w < n // 2)


@kernel
def bisect(part, tilt, trials, rng, side_out):
    """The best of halves and of some cuts between workloads; the affinity that it keeps. At least two containers.

    `tilt`: the share of the size that the larger side of a cut between workloads may have. Both sides get something.
    """
    best_kept, containers, total = -1.0, 0, 0.0
    for w in range(part.number.shape[0]):
        containers += part.number[w]
        total += part.number[w] * part.size[w]
    for trial in range(trials + 2):
        if trial == 0:
            halve(part)
        elif trial <= trials:
            grow(part, rng, 0.5 * total)
            improve(part, (1.0 - tilt) * total, tilt * total)
        else:
            arbitrary_split(part)
        value, inside = kept_affinity(part), part.side.sum()
        if 0 < inside < containers and value > best_kept + BETTER:
            best_kept = value
            for w in range(part.number.shape[0]):
                side_out[w] = part.side[w]
    return best_kept


def warm_up() -> None:
    """Compile `bisect`, with the types it uses: two workloads that talk."""
    two = np.ones(2, dtype=np.int64)
    part = BisectedPart(two, np.ones(2), np.ones(2), np.arange(3), np.array([1, 0]), np.ones(2), two.copy(), np.zeros(2))
    bisect(part, 0.5, 1, np.ones(1, dtype=np.uint64), two.copy())
