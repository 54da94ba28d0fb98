"""The Lagrangian bound of timed requests: what is left of each value after paying for the room that the request takes.

Prices are constant within cells of instants. A request runs from an instant of cell `cell[0]`, the `offset[0]`-th of it, up to
before the one of `cell[1]` and `offset[1]`. `paid` is the running sum of the prices of whole cells, so that the price of an
interval is a difference of two sums: O(1) per request, kind and row, whatever its length.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.search.compiled import kernel

BLOCK = 1024  # terms added up at a time, so that rounding stays far below what the bound is lifted by


class Bidders(NamedTuple):
    """Requests, and where they may run."""

    value: npt.NDArray[np.float64]  # (request,)
    share: npt.NDArray[np.float64]  # (kind, request, row) of one machine
    allowed: npt.NDArray[np.bool_]  # (kind, request)
    cell: npt.NDArray[np.int32]  # (2, request)
    offset: npt.NDArray[np.float64]  # (2, request) whole numbers


class Prices(NamedTuple):
    """What a machine's whole capacity costs."""

    each: npt.NDArray[np.float64]  # (kind, cell + 1, row) at one instant of the cell; 0 in the last
    paid: npt.NDArray[np.float64]  # (kind, cell + 1, row) all instants of the cells before


@kernel
def cost_of(bidders, prices, q, j):
    """What request j pays on a machine of kind q."""
    low, high, skip, more = bidders.cell[0, j], bidders.cell[1, j], bidders.offset[0, j], bidders.offset[1, j]
    cost = 0.0
    for r in range(bidders.share.shape[2]):
        upto = prices.paid[q, high, r] + more * prices.each[q, high, r]
        before = prices.paid[q, low, r] + skip * prices.each[q, low, r]
        cost += bidders.share[q, j, r] * (upto - before)
    return cost


@kernel
def cheapest(bidders, prices, j):
    """The kind on which request j pays least, and what: the first of equals; -1 if it may run nowhere."""
    best, least = -1, np.inf
    for q in range(bidders.share.shape[0]):
        if bidders.allowed[q, j]:
            cost = cost_of(bidders, prices, q, j)
            if cost < least:
                best, least = q, cost
    return best, least


@kernel
def surplus(bidders, prices):
    """The sum over requests of what their value exceeds the least cost by, if it does."""
    total, block = 0.0, 0.0
    for j in range(len(bidders.value)):
        kind, cost = cheapest(bidders, prices, j)
        if kind >= 0 and cost < bidders.value[j]:
            block += bidders.value[j] - cost
        if j % BLOCK == BLOCK - 1:
            total += block
            block = 0.0
    return total + block


@kernel
def smooth_surplus(bidders, prices, softness, whole_out, part_out):
    """Like `surplus`, but a value v is given up gradually while the cost goes from (1 - softness) v to v.

    Adds to whole_out (kind, cell + 1, row) what takes part in all cells before, and to part_out what takes part in so many
    instants of a cell: from them follows the load of each cell, which is the slope by prices.
    """
    total = 0.0
    for j in range(len(bidders.value)):
        q, cost = cheapest(bidders, prices, j)
        left = bidders.value[j] - cost
        if q < 0 or left <= 0.0:
            continue
        soft = softness * bidders.value[j]
        taken = 1.0 if left >= soft else left / soft
        total += taken * (left - 0.5 * taken * soft)
        low, high, skip, more = bidders.cell[0, j], bidders.cell[1, j], bidders.offset[0, j], bidders.offset[1, j]
        for r in range(bidders.share.shape[2]):
            amount = taken * bidders.share[q, j, r]
            whole_out[q, high, r] += amount
            part_out[q, high, r] += amount * more
            whole_out[q, low, r] -= amount
            part_out[q, low, r] -= amount * skip
    return total
