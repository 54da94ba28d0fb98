"""What is booked of every resource in every time slot, and its price (001 Algorithm 4, equation (8)).

A resource is one of a zone's (z * K + r) or a link (Z * K + y * Z + z); a slot is a row, so that looking at all resources
over an interval reads memory in order. Rows are a ring: slot t is row t modulo their number. `BLOCK` slots in a row are summed
up, so that a long interval is a few rows; a block is worked out anew from its rows, and is never added to.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.search.compiled import kernel

BLOCK = 8  # slots in a block; the number of rows is a multiple of it


class Ledger(NamedTuple):
    """M resources, T slots (rows)."""

    load: npt.NDArray[np.int64]  # (T, M)
    price: npt.NDArray[np.float64]  # (T, M)
    block_load: npt.NDArray[np.int64]  # (T / BLOCK, M) the most of the block's slots
    block_price: npt.NDArray[np.float64]  # (T / BLOCK, M) the sum over the block's slots
    limit: npt.NDArray[np.int64]  # (M,) capacity, in units of the load


@kernel
def price_of(load, limit, log_base):
    """base^(load / limit) - 1 (8); exactly 0 for nothing."""
    if load == 0:
        return 0.0
    return np.expm1(log_base * (load / limit))


@kernel
def look(ledger, first, last, price_out, peak_out):
    """Per resource the sum of prices and the largest load over slots first..last; the rows must hold them."""
    price_out[:] = 0.0
    peak_out[:] = 0
    rows, blocks = len(ledger.load), len(ledger.block_load)
    t = first
    while t <= last:
        if t % BLOCK == 0 and t + BLOCK - 1 <= last:
            add_row(ledger.block_load[(t // BLOCK) % blocks], ledger.block_price[(t // BLOCK) % blocks], price_out, peak_out)
            t += BLOCK
        else:
            add_row(ledger.load[t % rows], ledger.price[t % rows], price_out, peak_out)
            t += 1


@kernel
def add_row(load, price, price_out, peak_out):
    """One more row of `look`."""
    for m in range(len(load)):
        price_out[m] += price[m]
        peak_out[m] = max(peak_out[m], load[m])


@kernel
def book(ledger, first, last, log_base, resource, amount):
    """Add amounts (of either sign) of the resources named to slots first..last, and set their prices."""
    rows = len(ledger.load)
    for t in range(first, last + 1):
        row = t % rows
        for i in range(len(resource)):
            m = resource[i]
            ledger.load[row, m] += amount[i]
            ledger.price[row, m] = price_of(ledger.load[row, m], ledger.limit[m], log_base)
    for b in range(first // BLOCK, last // BLOCK + 1):
        for i in range(len(resource)):
            sum_block(ledger, b % len(ledger.block_load), resource[i])


@kernel
def sum_block(ledger, b, m):
    """Set the block's figures of one resource from its rows, in their order."""
    load, price = 0, 0.0
    for row in range(b * BLOCK, (b + 1) * BLOCK):
        load = max(load, ledger.load[row, m])
        price += ledger.price[row, m]
    ledger.block_load[b, m] = load
    ledger.block_price[b, m] = price


@kernel
def price_all(ledger, log_base):
    """Set every price, and every block, from the loads."""
    for row in range(len(ledger.load)):
        for m in range(len(ledger.limit)):
            ledger.price[row, m] = price_of(ledger.load[row, m], ledger.limit[m], log_base)
    for b in range(len(ledger.block_load)):
        for m in range(len(ledger.limit)):
            sum_block(ledger, b, m)


@kernel
def clear(ledger, first, last):
    """Empty the blocks first..last, and their rows."""
    for b in range(first, last + 1):
        at = b % len(ledger.block_load)
        ledger.block_load[at] = 0
        ledger.block_price[at] = 0.0
        ledger.load[at * BLOCK : (at + 1) * BLOCK] = 0
        ledger.price[at * BLOCK : (at + 1) * BLOCK] = 0.0
