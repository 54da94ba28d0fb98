"""What is booked of every resource in every time slot, and its price ([Online clusters] Algorithm 4, equation (8)).

A resource is one of a zone's (z * K + r) or a link (Z * K + y * Z + z); a slot is a row, so that reading all resources
over an interval reads memory in order. Rows are a ring: slot t is row t modulo their number. `BLOCK` slots in a row are summed
up, so that a long interval is a few rows; a block is recomputed from its rows, never added to.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import kernel

BLOCK = 8  # slots in a block; the number of rows is a multiple of it


class Bookings(NamedTuple):
    """M resources, T slots (rows)."""

    load: npt.NDArray[np.int64]  # (T, M)
    price: npt.NDArray[np.float64]  # (T, M)
    block_load: npt.NDArray[np.int64]  # (T / BLOCK, M) the most of the block's slots
    block_price: npt.NDArray[np.float64]  # (T / BLOCK, M) the sum over the block's slots
    limit: npt.NDArray[np.int64]  # (M,) capacity, in units of the load


@kernel
def price_of(load, limit, log_base):
    """base^(load / limit) - 1 (8); exactly 0 for no load."""
    if load == 0:
        return 0.0
    return np.expm1(log_base * (load / limit))


@kernel
def sum_slots(bookings, first, last, begin, end, step, price_out, peak_out):
    """Sums of prices and largest loads over slots first..last, which have rows, of resources begin, begin + step, ... < end."""
    for m in range(begin, end, step):
        price_out[m], peak_out[m] = 0.0, 0
    rows, blocks = len(bookings.load), len(bookings.block_load)
    t = first
    while t <= last:
        if t % BLOCK == 0 and t + BLOCK - 1 <= last:
            at = (t // BLOCK) % blocks
            add_row(bookings.block_load[at], bookings.block_price[at], begin, end, step, price_out, peak_out)
            t += BLOCK
        else:
            add_row(bookings.load[t % rows], bookings.price[t % rows], begin, end, step, price_out, peak_out)
            t += 1


@kernel
def add_row(load, price, begin, end, step, price_out, peak_out):
    """Add one row to the sums of `sum_slots`. Most resources lie side by side: that loop is made of vector operations."""
    if step == 1:
        for m in range(begin, end):
            price_out[m] += price[m]
            peak_out[m] = max(peak_out[m], load[m])
        return
    for m in range(begin, end, step):
        price_out[m] += price[m]
        peak_out[m] = max(peak_out[m], load[m])


@kernel
def add_booking(bookings, first, last, log_base, resource, amount):
    """Add amounts (of either sign) of the resources named to slots first..last, and set their prices.

    Slots in a row often have the same load, and so the same price, which takes longer to compute than to copy.
    """
    rows = len(bookings.load)
    for t in range(first, last + 1):
        row, before = t % rows, (t - 1) % rows
        for i in range(len(resource)):
            m = resource[i]
            load = bookings.load[row, m] + amount[i]
            bookings.load[row, m] = load
            if t > first and bookings.load[before, m] == load:
                bookings.price[row, m] = bookings.price[before, m]
            else:
                bookings.price[row, m] = price_of(load, bookings.limit[m], log_base)
    for b in range(first // BLOCK, last // BLOCK + 1):
        for i in range(len(resource)):
            refresh_block(bookings, b % len(bookings.block_load), resource[i])


@kernel
def refresh_block(bookings, b, m):
    """Set the block's figures of one resource from its rows, in their order."""
    load, price = 0, 0.0
    for row in range(b * BLOCK, (b + 1) * BLOCK):
        load = max(load, bookings.load[row, m])
        price += bookings.price[row, m]
    bookings.block_load[b, m] = load
    bookings.block_price[b, m] = price


@kernel
def price_all(bookings, log_base):
    """Set every price, and every block, from the loads."""
    for row in range(len(bookings.load)):
        for m in range(len(bookings.limit)):
            bookings.price[row, m] = price_of(bookings.load[row, m], bookings.limit[m], log_base)
    for b in range(len(bookings.block_load)):
        for m in range(len(bookings.limit)):
            refresh_block(bookings, b, m)


@kernel
def clear_blocks(bookings, first, last):
    """Empty the blocks first..last, and their rows."""
    for b in range(first, last + 1):
        at = b % len(bookings.block_load)
        bookings.block_load[at] = 0
        bookings.block_price[at] = 0.0
        bookings.load[at * BLOCK : (at + 1) * BLOCK] = 0
        bookings.price[at * BLOCK : (at + 1) * BLOCK] = 0.0
