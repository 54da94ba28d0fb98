"""A part of the affinity graph cut in two, so that little gained affinity is lost.

A part is a multiset of containers: n_s of each of its services. One side gets x_s, the other one n_s - x_s. If each side had a
machine of its own, an edge (s, t) would gain w (min(x_s / d_s, x_t / d_t) + min((n_s - x_s) / d_s, (n_t - x_t) / d_t)). With
x_s = 0 or n_s this is a cut between services, and what is lost is the weight of the cut. With x_s = n_s / 2 it goes through all
services, and nothing is lost but what odd numbers of containers lose.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.search.chance import below
from bayplan.kernels.search.compiled import kernel

BETTER = 1e-12  # of a total affinity of 1
PASSES = 8


class Part(NamedTuple):
    """A part, its services numbered from 0, and the two sides."""

    number: npt.NDArray[np.int64]  # (service,) n: containers in the part
    one_over: npt.NDArray[np.float64]  # (service,) 1 / d
    size: npt.NDArray[np.float64]  # (service,) of one container
    edge_start: npt.NDArray[np.int64]  # (service + 1,)
    neighbour: npt.NDArray[np.int64]  # (half edge,)
    weight: npt.NDArray[np.float64]  # (half edge,)
    side: npt.NDArray[np.int64]  # (service,) x: containers on the first side; changes
    bond: npt.NDArray[np.float64]  # (service,) scratch


@kernel
def gain_at(part, s, x):
    """The affinity of the edges of a service if x of its containers are on the first side."""
    total = 0.0
    here, there = x * part.one_over[s], (part.number[s] - x) * part.one_over[s]
    for e in range(part.edge_start[s], part.edge_start[s + 1]):
        t = part.neighbour[e]
        first = part.side[t] * part.one_over[t]
        second = (part.number[t] - part.side[t]) * part.one_over[t]
        total += part.weight[e] * (min(here, first) + min(there, second))
    return total


@kernel
def kept(part):
    """The affinity that both sides have together."""
    total = 0.0
    for s in range(part.number.shape[0]):
        total += gain_at(part, s, part.side[s])
    return 0.5 * total


@kernel
def size_of(part):
    """The size of the first side."""
    total = 0.0
    for s in range(part.number.shape[0]):
        total += part.side[s] * part.size[s]
    return total


@kernel
def halve(part):
    """Half of each service on the first side; who has an odd one puts it where it gains more, or where there is less."""
    ahead = 0.0
    for s in range(part.number.shape[0]):
        part.side[s] = part.number[s] // 2
        ahead -= part.number[s] % 2 * part.size[s]
    for s in range(part.number.shape[0]):
        if part.number[s] % 2 == 1:
            more = gain_at(part, s, part.side[s] + 1) - gain_at(part, s, part.side[s])
            if more > BETTER or (more >= -BETTER and ahead < 0.0):
                part.side[s] += 1
                ahead += 2.0 * part.size[s]


@kernel
def tied_most(part):
    """The service, not on the first side yet, that is bound to it most; the first of equals."""
    best = 0
    for s in range(part.bond.shape[0]):
        if part.bond[s] > part.bond[best]:
            best = s
    return best


@kernel
def grow(part, chance, half):
    """The first side grows around a random service, always by the one that is bound to it most, up to half."""
    n = part.number.shape[0]
    part.side[:] = 0
    part.bond[:] = 0.0
    now, grown = below(chance, n), 0.0
    for _ in range(n - 1):
        part.side[now] = part.number[now]
        part.bond[now] = -1.0
        grown += part.number[now] * part.size[now]
        if grown >= half:
            return
        for e in range(part.edge_start[now], part.edge_start[now + 1]):
            t = part.neighbour[e]
            if part.bond[t] >= 0.0:
                part.bond[t] += part.weight[e]
        now = tied_most(part)


@kernel
def may_change(before, after, least, most):
    """May the first side change from one size to another? Into the bounds, or nearer to them."""
    middle = 0.5 * (least + most)
    return least <= after <= most or abs(after - middle) < abs(before - middle)


@kernel
def improve(part, least, most):
    """Move whole services to the other side while that gains and the first side stays in its bounds."""
    grown = size_of(part)
    for _ in range(PASSES):
        changed = False
        for s in range(part.number.shape[0]):
            now = part.side[s]
            then = part.number[s] - now
            after = grown + (then - now) * part.size[s]
            if may_change(grown, after, least, most) and gain_at(part, s, then) > gain_at(part, s, now) + BETTER:
                part.side[s] = then
                grown = after
                changed = True
        if not changed:
            return


@kernel
def split_somehow(part):
    """Some services on the first side, the others on the second; half of the containers if there is only one service."""
    n = part.number.shape[0]
    for s in range(n):
        part.side[s] = part.number[s] // 2 if n == 1 else part.number[s] * (s < n // 2)


@kernel
def bisect(part, tilt, trials, chance, side_out):
    """The best of halves and of some cuts between services; the affinity that it keeps. At least two containers.

    `tilt`: the share of the size that the larger side of a cut between services may have. Both sides get something.
    """
    most_kept, containers, total = -1.0, 0, 0.0
    for s in range(part.number.shape[0]):
        containers += part.number[s]
        total += part.number[s] * part.size[s]
    for trial in range(trials + 2):
        if trial == 0:
            halve(part)
        elif trial <= trials:
            grow(part, chance, 0.5 * total)
            improve(part, (1.0 - tilt) * total, tilt * total)
        else:
            split_somehow(part)
        value, inside = kept(part), part.side.sum()
        if 0 < inside < containers and value > most_kept + BETTER:
            most_kept = value
            for s in range(part.number.shape[0]):
                side_out[s] = part.side[s]
    return most_kept


def warm_up() -> None:
    """Compile `bisect`, with the types it uses: two services that talk."""
    two = np.ones(2, dtype=np.int64)
    part = Part(two, np.ones(2), np.ones(2), np.arange(3), np.array([1, 0]), np.ones(2), two.copy(), np.zeros(2))
    bisect(part, 0.5, 1, np.ones(1, dtype=np.uint64), two.copy())
