"""Containers that fit nowhere get a machine by ejection: others leave it and get another one.

An ejection pool in the manner of Nagata and Braysy (2009): unplaced containers are a stack. Its top goes to the fullest machine
that can take it. If none can, it goes where those that have to leave are cheapest, and they join the stack. The price of its
workload rises by one each time: what is hard to place is ejected ever less often.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.collocate.packing_state import PackingState, add_containers, pick_by_free_share, rules_allow
from bayplan.kernels.jit import kernel
from bayplan.kernels.random import uniform

NOWHERE = -1
MAX_LEAVING = 6  # containers that may leave at once
NOISE = 0.1  # prices are multiplied by 1 to 1.1, so that nothing goes round in circles


class EjectionPool(NamedTuple):
    """Where containers run, and which are unplaced. All but the first two change."""

    workload: npt.NDArray[np.int64]  # (container,)
    may_leave: npt.NDArray[np.bool_]  # (container,) may be ejected
    machine_of: npt.NDArray[np.int64]  # (container,) or NOWHERE
    price: npt.NDArray[np.float64]  # (workload,) of ejecting one container
    head: npt.NDArray[np.int64]  # (machine,) first container that may leave, or NOWHERE
    after: npt.NDArray[np.int64]  # (container,) next one on its machine, or NOWHERE
    before: npt.NDArray[np.int64]  # (container,) previous one on its machine, or NOWHERE
    unplaced: npt.NDArray[np.int64]  # (container,) stack, its top last
    size: npt.NDArray[np.int64]  # (1,) of the stack
    leaving: npt.NDArray[
        np.int64
    ]  # (2, MAX_LEAVING) scratch: containers that leave the machine at hand, and the cheapest machine
    shortage: npt.NDArray[np.int64]  # (resource,) scratch: what is missing


@kernel
def place(state, pool, c, m):
    """Put a container on a machine."""
    add_containers(state, pool.workload[c], m, 1)
    pool.machine_of[c] = m
    if pool.may_leave[c]:
        pool.after[c], pool.before[c] = pool.head[m], NOWHERE
        if pool.head[m] >= 0:
            pool.before[pool.head[m]] = c
        pool.head[m] = c


@kernel
def remove(state, pool, c):
    """Take a container that may leave off its machine, onto the stack."""
    m = pool.machine_of[c]
    add_containers(state, pool.workload[c], m, -1)
    pool.machine_of[c] = NOWHERE
    if pool.before[c] >= 0:
        pool.after[pool.before[c]] = pool.after[c]
    else:
        pool.head[m] = pool.after[c]
    if pool.after[c] >= 0:
        pool.before[pool.after[c]] = pool.before[c]
    pool.unplaced[pool.size[0]] = c
    pool.size[0] += 1


@kernel
def relief(state, pool, c, m):
    """The part of the shortage that the container takes up, in shares of the machine; and whether that is all of it."""
    w, total, covers_all = pool.workload[c], 0.0, True
    for r in range(pool.shortage.shape[0]):
        if pool.shortage[r] > 0:
            total += min(state.request[w, r], pool.shortage[r]) * state.unit[m, r]
            covers_all = covers_all and state.request[w, r] >= pool.shortage[r]
    return total, covers_all


@kernel
def contains(row, n, c):
    """Is the container one of the first n?"""
    for k in range(n):
        if row[k] == c:
            return True
    return False


@kernel
def next_to_leave(state, pool, m, n):
    """The cheapest container on the machine that ends the shortage, or else the one with the lowest price for what it frees.

    Among equals the first.
    """
    best, least, alone = NOWHERE, np.inf, False
    c = pool.head[m]
    while c >= 0:
        relieved, covers_all = relief(state, pool, c, m)
        if relieved > 0.0 and (covers_all or not alone) and not contains(pool.leaving[0], n, c):
            price = pool.price[pool.workload[c]] if covers_all else pool.price[pool.workload[c]] / relieved
            if price < least or (covers_all and not alone) or (price == least and c < best):
                best, least, alone = c, price, covers_all
        c = pool.after[c]
    return best


@kernel
def choose_leaving(state, pool, w, m, limit):
    """The containers that must leave the machine for one of workload w, in `leaving[0]`: number, price; inf above `limit`."""
    is_short = False
    for r in range(pool.shortage.shape[0]):
        pool.shortage[r] = max(0, state.request[w, r] - state.free[m, r]) if state.request[w, r] > 0 else 0
        is_short = is_short or pool.shortage[r] > 0
    n, price = 0, 0.0
    while is_short:
        c = next_to_leave(state, pool, m, n) if n < MAX_LEAVING else NOWHERE
        if c < 0:
            return n, np.inf
        pool.leaving[0, n] = c
        n += 1
        price += pool.price[pool.workload[c]]
        if price >= limit:
            return n, np.inf
        is_short = False
        for r in range(pool.shortage.shape[0]):
            pool.shortage[r] = max(0, pool.shortage[r] - state.request[pool.workload[c], r])
            is_short = is_short or pool.shortage[r] > 0
    return n, price


@kernel
def eject(state, pool, c, rng):
    """Put a container where those that leave are cheapest; they go on the stack. False if no machine can take it at all."""
    w, best, least, number = pool.workload[c], NOWHERE, np.inf, 0
    for m in range(state.free.shape[0]):
        if rules_allow(state, w, m):
            noise = 1.0 + NOISE * uniform(rng)
            n, price = choose_leaving(state, pool, w, m, least / noise)
            if price * noise < least:
                best, least, number = m, price * noise, n
                for k in range(n):
                    pool.leaving[1, k] = pool.leaving[0, k]
    pool.price[w] += 1.0
    if best < 0:
        return False
    for k in range(number):
        remove(state, pool, pool.leaving[1, k])
    place(state, pool, c, best)
    return True


@kernel
def place_unplaced(state, pool, steps, rng):
    """Place unplaced containers, in at most `steps` steps; the number left.

    What no machine can take at all goes to the bottom of the stack.
    """
    impossible = 0  # at the bottom, not to be tried again
    for _ in range(steps):
        if pool.size[0] <= impossible:
            break
        pool.size[0] -= 1
        c = pool.unplaced[pool.size[0]]
        m = pick_by_free_share(state, pool.workload[c], -1.0)
        if m >= 0:
            place(state, pool, c, m)
        elif not eject(state, pool, c, rng):
            pool.unplaced[pool.size[0]] = pool.unplaced[impossible]
            pool.unplaced[impossible] = c
            impossible += 1
            pool.size[0] += 1
    return pool.size[0]


def warm_up() -> None:
    """Compile `place_unplaced`: two containers, one machine."""
    none, two = np.zeros(0, dtype=np.int64), np.ones(2, dtype=np.int64)
    row_of, allow = np.zeros(1, dtype=np.int64), np.ones((1, 1), dtype=np.bool_)
    for array in (row_of, allow):
        array.flags.writeable = False  # like those of the model: numba compiles once more for what is read-only
    state = PackingState(
        request=np.ones((1, 1), dtype=np.int64),
        one_over=np.ones(1),
        row_of=row_of,
        allow=allow,
        set_start=np.zeros(2, dtype=np.int64),
        set_of=none,
        edge_start=np.zeros(2, dtype=np.int64),
        neighbour=none,
        weight=np.zeros(0),
        traffic_row=-np.ones(1, dtype=np.int64),
        unit=np.ones((1, 1)),
        free=np.ones((1, 1), dtype=np.int64),
        set_free=np.zeros((0, 1), dtype=np.int32),
        placed=np.zeros((0, 1), dtype=np.int32),
    )
    pool = EjectionPool(
        workload=0 * two,
        may_leave=two > 0,
        machine_of=-two,
        price=np.ones(1),
        head=-np.ones(1, dtype=np.int64),
        after=-two,
        before=-two,
        unplaced=np.arange(2),
        size=np.full(1, 2),
        leaving=np.zeros((2, MAX_LEAVING), dtype=np.int64),
        shortage=np.zeros(1, dtype=np.int64),
    )
    place_unplaced(state, pool, 2, np.ones(1, dtype=np.uint64))
