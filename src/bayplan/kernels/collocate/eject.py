"""Containers that fit nowhere make room for themselves: others leave a machine and look for a new one.

An ejection pool in the manner of Nagata and Braysy (2009): what waits is a stack. Its top goes to the fullest machine that takes
it. If none does, it goes where those that have to leave are cheapest, and they wait in its stead. Its service becomes dearer
by one each time: what is hard to place is sent away ever less often.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.collocate.yard import Yard, book, may_come, pick
from bayplan.kernels.search.chance import share
from bayplan.kernels.search.compiled import kernel

NOWHERE = -1
MOST = 6  # containers that may leave at once
NOISE = 0.1  # prices are multiplied by 1 to 1.1, so that nothing goes round in circles


class Pool(NamedTuple):
    """Who stands where, and who waits. All but the first two change."""

    service: npt.NDArray[np.int64]  # (container,)
    may_go: npt.NDArray[np.bool_]  # (container,) may be sent away
    machine_of: npt.NDArray[np.int64]  # (container,) or NOWHERE
    price: npt.NDArray[np.float64]  # (service,) of sending one container away
    head: npt.NDArray[np.int64]  # (machine,) first container that may go, or NOWHERE
    after: npt.NDArray[np.int64]  # (container,) next one on its machine, or NOWHERE
    before: npt.NDArray[np.int64]  # (container,) previous one on its machine, or NOWHERE
    waiting: npt.NDArray[np.int64]  # (container,) stack, its top last
    size: npt.NDArray[np.int64]  # (1,) of the stack
    leaves: npt.NDArray[np.int64]  # (2, MOST) scratch: who leaves the machine at hand, and the cheapest one
    gap: npt.NDArray[np.int64]  # (resource,) scratch: what is missing


@kernel
def enter(yard, pool, c, m):
    """Put a container on a machine."""
    book(yard, pool.service[c], m, 1)
    pool.machine_of[c] = m
    if pool.may_go[c]:
        pool.after[c], pool.before[c] = pool.head[m], NOWHERE
        if pool.head[m] >= 0:
            pool.before[pool.head[m]] = c
        pool.head[m] = c


@kernel
def leave(yard, pool, c):
    """Take a container that may go off its machine, onto the stack."""
    m = pool.machine_of[c]
    book(yard, pool.service[c], m, -1)
    pool.machine_of[c] = NOWHERE
    if pool.before[c] >= 0:
        pool.after[pool.before[c]] = pool.after[c]
    else:
        pool.head[m] = pool.after[c]
    if pool.after[c] >= 0:
        pool.before[pool.after[c]] = pool.before[c]
    pool.waiting[pool.size[0]] = c
    pool.size[0] += 1


@kernel
def relief(yard, pool, c, m):
    """How much of what is missing the container takes up, in shares of the machine; and whether that is all of it."""
    s, total, whole = pool.service[c], 0.0, True
    for r in range(pool.gap.shape[0]):
        if pool.gap[r] > 0:
            total += min(yard.request[s, r], pool.gap[r]) * yard.unit[m, r]
            whole = whole and yard.request[s, r] >= pool.gap[r]
    return total, whole


@kernel
def among(row, n, c):
    """Is the container one of the first n?"""
    for k in range(n):
        if row[k] == c:
            return True
    return False


@kernel
def next_to_leave(yard, pool, m, n):
    """The cheapest container on the machine that closes the gap, or else the one with the lowest price for what it frees.

    Among equals the first.
    """
    best, least, alone = NOWHERE, np.inf, False
    c = pool.head[m]
    while c >= 0:
        frees, whole = relief(yard, pool, c, m)
        if frees > 0.0 and (whole or not alone) and not among(pool.leaves[0], n, c):
            price = pool.price[pool.service[c]] if whole else pool.price[pool.service[c]] / frees
            if price < least or (whole and not alone) or (price == least and c < best):
                best, least, alone = c, price, whole
        c = pool.after[c]
    return best


@kernel
def choose(yard, pool, s, m, limit):
    """Who must leave the machine for one container of the service: their number in `leaves[0]` and price; inf above `limit`."""
    open_gap = False
    for r in range(pool.gap.shape[0]):
        pool.gap[r] = max(0, yard.request[s, r] - yard.free[m, r]) if yard.request[s, r] > 0 else 0
        open_gap = open_gap or pool.gap[r] > 0
    n, price = 0, 0.0
    while open_gap:
        c = next_to_leave(yard, pool, m, n) if n < MOST else NOWHERE
        if c < 0:
            return n, np.inf
        pool.leaves[0, n] = c
        n += 1
        price += pool.price[pool.service[c]]
        if price >= limit:
            return n, np.inf
        open_gap = False
        for r in range(pool.gap.shape[0]):
            pool.gap[r] = max(0, pool.gap[r] - yard.request[pool.service[c], r])
            open_gap = open_gap or pool.gap[r] > 0
    return n, price


@kernel
def force(yard, pool, c, chance):
    """Put a container where those that leave are cheapest; they wait. False if no machine can take it at all."""
    s, best, least, number = pool.service[c], NOWHERE, np.inf, 0
    for m in range(yard.free.shape[0]):
        if may_come(yard, s, m):
            noise = 1.0 + NOISE * share(chance)
            n, price = choose(yard, pool, s, m, least / noise)
            if price * noise < least:
                best, least, number = m, price * noise, n
                for k in range(n):
                    pool.leaves[1, k] = pool.leaves[0, k]
    pool.price[s] += 1.0
    if best < 0:
        return False
    for k in range(number):
        leave(yard, pool, pool.leaves[1, k])
    enter(yard, pool, c, best)
    return True


@kernel
def settle(yard, pool, steps, chance):
    """Give machines to those that wait, in at most so many steps; who can go nowhere at all goes to the bottom of the stack.

    Ends with the number of those that still wait.
    """
    stuck = 0  # at the bottom, not to be asked again
    for _ in range(steps):
        if pool.size[0] <= stuck:
            break
        pool.size[0] -= 1
        c = pool.waiting[pool.size[0]]
        m = pick(yard, pool.service[c], -1.0)
        if m >= 0:
            enter(yard, pool, c, m)
        elif not force(yard, pool, c, chance):
            pool.waiting[pool.size[0]] = pool.waiting[stuck]
            pool.waiting[stuck] = c
            stuck += 1
            pool.size[0] += 1
    return pool.size[0]


def warm_up() -> None:
    """Compile `settle`: two containers want one machine."""
    none, two = np.zeros(0, dtype=np.int64), np.ones(2, dtype=np.int64)
    row_of, allow = np.zeros(1, dtype=np.int64), np.ones((1, 1), dtype=np.bool_)
    for array in (row_of, allow):
        array.flags.writeable = False  # like those of the model: numba compiles once more for what is read-only
    yard = Yard(
        request=np.ones((1, 1), dtype=np.int64),
        one_over=np.ones(1),
        row_of=row_of,
        allow=allow,
        set_start=np.zeros(2, dtype=np.int64),
        set_of=none,
        edge_start=np.zeros(2, dtype=np.int64),
        neighbour=none,
        weight=np.zeros(0),
        line_of=-np.ones(1, dtype=np.int64),
        unit=np.ones((1, 1)),
        free=np.ones((1, 1), dtype=np.int64),
        spare=np.zeros((0, 1), dtype=np.int32),
        standing=np.zeros((0, 1), dtype=np.int32),
    )
    pool = Pool(
        service=0 * two,
        may_go=two > 0,
        machine_of=-two,
        price=np.ones(1),
        head=-np.ones(1, dtype=np.int64),
        after=-two,
        before=-two,
        waiting=np.arange(2),
        size=np.full(1, 2),
        leaves=np.zeros((2, MOST), dtype=np.int64),
        gap=np.zeros(1, dtype=np.int64),
    )
    settle(yard, pool, 2, np.ones(1, dtype=np.uint64))
