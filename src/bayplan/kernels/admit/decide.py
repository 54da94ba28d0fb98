"""One request against the prices: what a placement costs where, and the greedy placement in one call."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.admit.bookings import sum_slots
from bayplan.kernels.admit.greedy import best_zone
from bayplan.kernels.admit.resource_use import first_in, first_over, list_use, most_expensive
from bayplan.kernels.admit.zone_problem import UNPLACED, ZoneProblem
from bayplan.kernels.jit import kernel


class SlotView(NamedTuple):
    """Z zones, K resources, M = Z * K + Z * Z: the fixed amounts, and prices and free amounts during the slots of a request."""

    cap: npt.NDArray[np.int64]  # (Z, K) B: the most of one request
    scale: npt.NDArray[np.float64]  # (Z, Z) units of load in one of traffic; 0 where there is no link
    unit: npt.NDArray[np.float64]  # (M,) units of load in one of price: `scale` for a link, 1 for a zone
    price: npt.NDArray[np.float64]  # (M,) summed over the slots
    peak: npt.NDArray[np.int64]  # (M,) the largest load of the slots
    free: npt.NDArray[np.int64]  # (Z, K)
    link: npt.NDArray[np.float64]  # (1, Z, Z)
    bandwidth: npt.NDArray[np.float64]  # (Z, Z)


class RequestScratch(NamedTuple):
    """Scratch for the placement of a request of V members."""

    cost: npt.NDArray[np.float64]  # (V, Z)
    pair: npt.NDArray[np.int64]  # (V, V) zeros: one table of link prices
    zone: npt.NDArray[np.int64]  # (V,)
    resource: npt.NDArray[np.int64]  # (V * K + V * V,) resources that it takes
    amount: npt.NDArray[np.int64]  # (V * K + V * V,)


@kernel
def fill_view(bookings, first, last, literal, view_out):
    """Fill prices, peaks, free, link and bandwidth. `literal`: all of B is free and no link has a limit, as in IQP (4)."""
    n_z, n_r = view_out.cap.shape
    view_zones(bookings, first, last, literal, view_out)
    sum_slots(bookings, first, last, n_z * n_r, len(view_out.price), 1, view_out.price, view_out.peak)
    for y in range(n_z):
        for z in range(n_z):
            view_link(bookings, literal, y, z, view_out)


@kernel
def view_zones(bookings, first, last, literal, view_out):
    """The part of `fill_view` for zones."""
    n_z, n_r = view_out.cap.shape
    sum_slots(bookings, first, last, 0, n_z * n_r, 1, view_out.price, view_out.peak)
    for z in range(n_z):
        for r in range(n_r):
            m = z * n_r + r
            free = bookings.limit[m] - view_out.peak[m]
            view_out.free[z, r] = view_out.cap[z, r] if literal else min(view_out.cap[z, r], free)


@kernel
def view_links(bookings, first, last, literal, y, view_out):
    """The part of `fill_view` for the links from zone y, and to it."""
    n_z, n_r = view_out.cap.shape
    links, end = n_z * n_r, len(view_out.price)
    sum_slots(bookings, first, last, links + y * n_z, links + (y + 1) * n_z, 1, view_out.price, view_out.peak)
    sum_slots(bookings, first, last, links + y, end, n_z, view_out.price, view_out.peak)
    for z in range(n_z):
        view_link(bookings, literal, y, z, view_out)
        view_link(bookings, literal, z, y, view_out)


@kernel
def view_link(bookings, literal, y, z, view_out):
    """Price and free bandwidth of one link, from its sums."""
    n_z, n_r = view_out.cap.shape
    m, is_link = n_z * n_r + y * n_z + z, view_out.scale[y, z] > 0.0
    view_out.link[0, y, z] = view_out.price[m] if is_link else (0.0 if y == z else np.inf)
    free = (bookings.limit[m] - view_out.peak[m]) / view_out.scale[y, z] if is_link else 0.0
    view_out.bandwidth[y, z] = np.inf if literal else free


@kernel
def price_members(view, demand, cost_out):
    """P_vs of IQP (4): what each member costs in each zone over its slots."""
    n_z, n_r = view.free.shape
    for v in range(len(demand)):
        for z in range(n_z):
            total = 0.0
            for r in range(n_r):
                total += demand[v, r] * view.price[z * n_r + r]
            cost_out[v, z] = total


@kernel
def decide_greedily(bookings, first, last, literal, demand, traffic, view, scratch):
    """Cost of the greedy placement in `scratch.zone`, and what `measure_use` gives; infinite, 0, -1, -1 if it finds none.

    Of the view only zones, and links from and to the zones of the placement, are filled.
    """
    cost = greedy_below(bookings, first, last, literal, demand, traffic, np.inf, 1.0, view, scratch)
    if cost == np.inf:
        return cost, 0, -1, -1
    taken, over, most_costly = measure_use(bookings, demand, traffic, view, scratch)
    return cost, taken, over, most_costly


@kernel
def greedy_below(bookings, first, last, literal, demand, traffic, value, alpha, view, scratch):
    """Cost of the greedy placement in `scratch.zone`; infinite if it finds none, or none that is worth its cost.

    Prices of links are read once a member is in one of their zones: no others are asked for.
    """
    zone = scratch.zone
    view_zones(bookings, first, last, literal, view)
    price_members(view, demand, scratch.cost)
    problem = ZoneProblem(scratch.cost, demand, view.free, traffic, view.link, scratch.pair, view.bandwidth)
    zone[:] = UNPLACED
    total = 0.0
    for v in range(len(demand)):
        total += best_zone(problem, zone, v)
        if total == np.inf or value - total / alpha <= 0.0:  # Algorithm 4 line 6; no member costs less than nothing
            return np.inf
        if first_in(zone, v) and v + 1 < len(demand):
            view_links(bookings, first, last, literal, zone[v], view)
    return total


@kernel
def measure_use(bookings, demand, traffic, view, scratch):
    """The number of resources the placement takes (listed in `scratch`), the first that is too much, the one that costs most."""
    taken = list_use(scratch.zone, demand, traffic, view.scale, scratch.resource, scratch.amount)
    resource, amount = scratch.resource[:taken], scratch.amount[:taken]
    over = first_over(resource, amount, bookings.limit, view.peak)
    return taken, over, most_expensive(resource, amount, view.unit, view.price)
