"""The Lagrangian bound of timed requests: what is left of each value after paying for the capacity that the request takes.

Prices are constant within cells of instants. A request runs from an instant of cell `cell[0]`, the `offset[0]`-th of it, up to
before the one of `cell[1]` and `offset[1]`. `running_sum` adds up the prices of whole cells, so that the price of an interval is
a difference of two sums: O(1) per request, kind and row, whatever its length.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import kernel

BLOCK = 1024  # terms added up at a time, so that rounding stays far below what the bound is lifted by


class PricedRequestArrays(NamedTuple):
    """Requests, and where they may run."""

    value: npt.NDArray[np.float64]  # (request,)
    share: npt.NDArray[np.float64]  # (kind, request, row) of one machine
    allowed: npt.NDArray[np.bool_]  # (kind, request)
    cell: npt.NDArray[np.int32]  # (2, request)
    offset: npt.NDArray[np.float64]  # (2, request) integers


class PriceSums(NamedTuple):
    """What a machine's whole capacity costs."""

    price: npt.NDArray[np.float64]  # (kind, cell + 1, row) at one instant of the cell; 0 in the last
    running_sum: npt.NDArray[np.float64]  # (kind, cell + 1, row) all instants of the cells before


@kernel
def cost_of(requests, prices, q, j):
    """What request j pays on a machine of kind q."""
    low, high, skip, more = requests.cell[0, j], requests.cell[1, j], requests.offset[0, j], requests.offset[1, j]
    cost = 0.0
    for r in range(requests.share.shape[2]):
        upto = prices.running_sum[q, high, r] + more * prices.price[q, high, r]
        before = prices.running_sum[q, low, r] + skip * prices.price[q, low, r]
        cost += requests.share[q, j, r] * (upto - before)
    return cost


@kernel
def cheapest(requests, prices, j):
    """The kind on which request j pays least, and what: the first of equals; -1 if it may run nowhere."""
    best, least = -1, np.inf
    for q in range(requests.share.shape[0]):
        if requests.allowed[q, j]:
            cost = cost_of(requests, prices, q, j)
            if cost < least:
                best, least = q, cost
    return best, least


@kernel
def surplus(requests, prices):
    """The sum over requests of the excess of their value over the least cost, where there is any."""
    total, block = 0.0, 0.0
    for j in range(len(requests.value)):
        kind, cost = cheapest(requests, prices, j)
        if kind >= 0 and cost < requests.value[j]:
            block += requests.value[j] - cost
        if j % BLOCK == BLOCK - 1:
            total += block
            block = 0.0
    return total + block


@kernel
def smooth_surplus(requests, prices, softness, before_out, part_out):
    """Like `surplus`, but a value v is given up gradually while the cost goes from (1 - softness) v to v.

    Adds to before_out (kind, cell + 1, row) what takes part in all cells before, and to part_out what takes part in some instants
    of a cell, times their number: from them follows the load of each cell, which is the gradient by prices.
    """
    total = 0.0
    for j in range(len(requests.value)):
        q, cost = cheapest(requests, prices, j)
        left = requests.value[j] - cost
        if q < 0 or left <= 0.0:
            continue
        soft = softness * requests.value[j]
        taken = 1.0 if left >= soft else left / soft
        total += taken * (left - 0.5 * taken * soft)
        low, high, skip, more = requests.cell[0, j], requests.cell[1, j], requests.offset[0, j], requests.offset[1, j]
        for r in range(requests.share.shape[2]):
            amount = taken * requests.share[q, j, r]
            before_out[q, high, r] += amount
            part_out[q, high, r] += amount * more
            before_out[q, low, r] -= amount
            part_out[q, low, r] -= amount * skip
    return total
