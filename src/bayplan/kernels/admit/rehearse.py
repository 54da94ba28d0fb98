"""One request offered to several admissions at once: each has prices and bookings of its own, and places greedily."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.admit.bookings import Bookings, add_booking
from bayplan.kernels.admit.decide import greedy_below
from bayplan.kernels.admit.resource_use import first_over, list_use
from bayplan.kernels.jit import kernel

REFUSED = -1


class Shadows(NamedTuple):
    """A admissions, and what they make of a request."""

    load: npt.NDArray[np.int64]  # (A, T, M) their bookings: see `Bookings`
    price: npt.NDArray[np.float64]  # (A, T, M)
    block_load: npt.NDArray[np.int64]  # (A, T / BLOCK, M)
    block_price: npt.NDArray[np.float64]  # (A, T / BLOCK, M)
    limit: npt.NDArray[np.int64]  # (M,)
    alpha: npt.NDArray[np.float64]  # (A,)
    log_base: npt.NDArray[np.float64]  # (A,)
    booked: npt.NDArray[np.int64]  # (A,) the last slot in which something may be booked
    is_busy: npt.NDArray[np.bool_]  # (A,) those that refuse it, whatever it costs


@kernel
def rehearse(shadows, first, last, value, demand, traffic, view, scratch, resource_out, amount_out, taken_out):
    """Decide on a request in slots first..last, and book it where it is accepted ([Online clusters] Algorithm 4).

    `resource_out` and `amount_out` (A, entry) list what it takes, `taken_out` (A,) the number of entries, or `REFUSED`.
    """
    for a in range(len(shadows.alpha)):
        taken_out[a] = REFUSED
        if shadows.is_busy[a]:
            continue
        blocks = shadows.block_load[a], shadows.block_price[a]
        bookings = Bookings(shadows.load[a], shadows.price[a], blocks[0], blocks[1], shadows.limit)
        read = min(last, shadows.booked[a])
        cost = greedy_below(bookings, first, read, False, demand, traffic, value, shadows.alpha[a], view, scratch)
        if cost == np.inf:
            continue
        taken = list_use(scratch.zone, demand, traffic, view.scale, resource_out[a], amount_out[a])
        resource, amount = resource_out[a, :taken], amount_out[a, :taken]
        if first_over(resource, amount, bookings.limit, view.peak) < 0:
            add_booking(bookings, first, last, shadows.log_base[a], resource, amount)
            shadows.booked[a] = max(shadows.booked[a], last)
            taken_out[a] = taken
