"""One request against the prices: what a placement costs where, and the greedy placement in one call."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.admit.greedy import greedy
from bayplan.kernels.admit.ledger import look
from bayplan.kernels.admit.use import dearest, first_over, use_of
from bayplan.kernels.search.compiled import kernel


class View(NamedTuple):
    """Z zones, K resources, M = Z * K + Z * Z: the fixed amounts, and what a request sees during its slots."""

    cap: npt.NDArray[np.int64]  # (Z, K) B: the most of one request
    scale: npt.NDArray[np.float64]  # (Z, Z) units of load in one of traffic; 0 where there is no link
    unit: npt.NDArray[np.float64]  # (M,) units of load in one of price: `scale` for a link, 1 for a zone
    price: npt.NDArray[np.float64]  # (M,) summed over the slots
    peak: npt.NDArray[np.int64]  # (M,) the largest load of the slots
    room: npt.NDArray[np.int64]  # (Z, K)
    link: npt.NDArray[np.float64]  # (1, Z, Z)
    bandwidth: npt.NDArray[np.float64]  # (Z, Z)


class Desk(NamedTuple):
    """Where the placement of a request of V members is worked out."""

    cost: npt.NDArray[np.float64]  # (V, Z)
    pair: npt.NDArray[np.int64]  # (V, V) zeros: one table of link prices
    zone: npt.NDArray[np.int64]  # (V,)
    resource: npt.NDArray[np.int64]  # (V * K + V * V,) what it takes
    amount: npt.NDArray[np.int64]  # the same length


@kernel
def view(ledger, first, last, literal, view_out):
    """Fill prices, peaks, room, link and bandwidth. `literal`: all of B is room and no link has a limit, as in IQP (4)."""
    look(ledger, first, last, view_out.price, view_out.peak)
    n_z, n_r = view_out.cap.shape
    for z in range(n_z):
        for r in range(n_r):
            m = z * n_r + r
            free = ledger.limit[m] - view_out.peak[m]
            view_out.room[z, r] = view_out.cap[z, r] if literal else min(view_out.cap[z, r], free)
    for y in range(n_z):
        for z in range(n_z):
            m, there = n_z * n_r + y * n_z + z, view_out.scale[y, z] > 0.0
            view_out.link[0, y, z] = view_out.price[m] if there else (0.0 if y == z else np.inf)
            free = (ledger.limit[m] - view_out.peak[m]) / view_out.scale[y, z] if there else 0.0
            view_out.bandwidth[y, z] = np.inf if literal else free


@kernel
def price_members(seen, demand, cost_out):
    """P_vs of IQP (4): what each member costs in each zone over its slots."""
    n_z, n_r = seen.room.shape
    for v in range(len(demand)):
        for z in range(n_z):
            total = 0.0
            for r in range(n_r):
                total += demand[v, r] * seen.price[z * n_r + r]
            cost_out[v, z] = total


@kernel
def decide_greedily(ledger, first, last, literal, demand, traffic, seen, desk):
    """Cost of the greedy placement in `desk.zone`, and as `weigh`; infinite, 0, -1, -1 if it finds none."""
    view(ledger, first, last, literal, seen)
    price_members(seen, demand, desk.cost)
    cost = greedy(desk.cost, demand, seen.room, traffic, seen.link, desk.pair, seen.bandwidth, desk.zone)
    if cost == np.inf:
        return cost, 0, -1, -1
    taken, over, most = weigh(ledger, demand, traffic, seen, desk)
    return cost, taken, over, most


@kernel
def weigh(ledger, demand, traffic, seen, desk):
    """How many resources the placement takes (listed in `desk`), which place of the list is too much, which costs most."""
    taken = use_of(desk.zone, demand, traffic, seen.scale, desk.resource, desk.amount)
    resource, amount = desk.resource[:taken], desk.amount[:taken]
    over = first_over(resource, amount, ledger.limit, seen.peak)
    return taken, over, dearest(resource, amount, seen.unit, seen.price)
