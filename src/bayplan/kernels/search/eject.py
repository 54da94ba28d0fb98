"""Ejection: where an item could run if others left, which of them to lift with it, and the way back."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import inlined, kernel
from bayplan.kernels.random import below
from bayplan.kernels.search.lift_drop import drop, lift
from bayplan.kernels.search.state import CHARGE, LIMIT, LOAD, NOWHERE, SAFETY, amount_index

MAX_LIFTED = 32  # items that one step moves at most
LIFT_WORK, COST_WORK = 12, 4  # what it takes to lift or drop an item, and to price one, in tests of capacity


class LiftedSet(NamedTuple):
    """Items that are lifted together, and scratch of `choose_victims`."""

    item: npt.NDArray[np.int64]
    origin: npt.NDArray[np.int64]
    shortage: npt.NDArray[np.int64]  # (resource,) what is missing on the machine
    lacking: npt.NDArray[np.int64]  # (resource,) the first few: resources of which something is missing
    inverse: npt.NDArray[np.float64]  # (resource,) one over what is missing of these
    work: npt.NDArray[np.int64]  # (1,) units of work of the step, in tests of capacity


def new_lifted_set(resources: int) -> LiftedSet:
    """An empty set, for clusters with that many resources."""
    lifted, amount = np.zeros(MAX_LIFTED, dtype=np.int64), np.zeros(resources, dtype=np.int64)
    return LiftedSet(
        item=lifted,
        origin=lifted.copy(),
        shortage=amount,
        lacking=amount.copy(),
        inverse=np.zeros(resources),
        work=np.zeros(1, dtype=np.int64),
    )


@kernel
def undo(state, lifted, placed, n, total):
    """Return n items to where they were; the first `placed` have been dropped since."""
    for e in range(placed):
        lift(state, lifted.item[e])
    for e in range(n):
        drop(state, lifted.item[e], lifted.origin[e])
    state.floats[state.at[0].total] = total


@inlined
def measure_shortage(state, i, m, shortage_out):
    """Is machine m too full for item i? What is missing goes into `shortage_out`."""
    at, ints = state.at[0], state.ints
    n_r = at.resources
    used, limit = amount_index(state, m, LOAD if ints[at.home + i] == m else CHARGE), amount_index(state, m, LIMIT)
    lacking = False
    for r in range(n_r):
        q = ints[at.request + ints[at.kind_of + i] * n_r + r]
        shortage_out[r] = ints[used + r] - (ints[limit + r] - q) if q > 0 else 0
        lacking = lacking or shortage_out[r] > 0
    return lacking


@inlined
def list_lacking(state, lifted):
    """The number of resources of which there is too little; they, and one over the shortage of each, are listed in `lifted`."""
    n = 0
    for r in range(state.at[0].resources):
        if lifted.shortage[r] > 0:
            lifted.lacking[n] = r
            lifted.inverse[n] = 1.0 / lifted.shortage[r]
            n += 1
    return n


@inlined
def measure_overload(state, i, m, shortage_out):
    """Does item i overload machine m by more than it relieves its own machine of? The difference goes into `shortage_out`."""
    at, ints = state.at[0], state.ints
    n_r, origin = at.resources, ints[at.machine_of + i]
    here, there = amount_index(state, origin, LOAD), amount_index(state, m, LOAD)
    here_safe, there_safe = amount_index(state, origin, SAFETY), amount_index(state, m, SAFETY)
    overloads = False
    for r in range(n_r):
        shortage_out[r] = 0
        if state.floats[at.overload + r] > 0.0:
            q = ints[at.request + ints[at.kind_of + i] * n_r + r]
            rise = min(q, max(0, ints[there + r] + q - ints[there_safe + r]))
            fall = min(q, max(0, ints[here + r] - ints[here_safe + r]))
            shortage_out[r] = max(0, rise - fall)
        overloads = overloads or shortage_out[r] > 0
    return overloads


@inlined
def stays_charged(state, j, m, by_load):
    """Does machine m stay charged for transient resources of item j if it leaves? Not where its load is what counts."""
    return not by_load and state.ints[state.at[0].home + j] == m


@inlined
def shortage_relieved(state, j, charged, lifted, lacking):
    """The share of the shortage that goes away with item j, summed over resources; negative if all of it.

    `charged`: does the machine stay charged for its transient resources?
    """
    at, ints = state.at[0], state.ints
    want = at.request + ints[at.kind_of + j] * at.resources
    relieved, enough = 0.0, True
    for e in range(lacking):
        r = lifted.lacking[e]
        share_of = 0.0 if charged and ints[at.joint + r] == 1 else ints[want + r] * lifted.inverse[e]
        if share_of < 1.0:
            enough = False
            relieved += share_of
        else:
            relieved += 1.0
    return -1.0 if enough else relieved


@inlined
def take_off_shortage(state, j, charged, shortage):
    """Reduce the shortage by what leaves with item j."""
    at, ints = state.at[0], state.ints
    want = at.request + ints[at.kind_of + j] * at.resources
    for r in range(at.resources):
        if not (charged and ints[at.joint + r] == 1):
            shortage[r] -= ints[want + r]


@inlined
def is_chosen(lifted, n, j):
    """Is item j among the first n lifted items?"""
    for e in range(n):
        if lifted.item[e] == j:
            return True
    return False


@kernel
def choose_victims(state, rng, i, m, scan, most, lifted):
    """The number of items to lift so that item i fits on machine m: itself, and victims, in `lifted`; 1 if `most` do not do.

    Each victim is the first one, from a random one on, that frees enough alone, or else the one that relieves most of the
    shortage. If nothing is missing, victims that may be several relieve the overload that the item brings, as far as they can;
    if there is none, it is one random item: a swap. Nothing is lifted.
    """
    at, ints, small = state.at[0], state.ints, state.small
    size = ints[at.items_on_size + m]
    if size == 0:
        return 1
    first, lifted.item[0] = below(rng, size), i
    by_load = not measure_shortage(state, i, m, lifted.shortage)
    if by_load:
        several = most > 1 and ints[at.machine_of + i] != NOWHERE
        if not (several and measure_overload(state, i, m, lifted.shortage)):
            lifted.item[1] = small[at.items_on + m * at.slots + first]
            return 2 if ints[at.movable + lifted.item[1]] == 1 else 1
    n = 1
    while n <= most and n < MAX_LIFTED:
        lacking = list_lacking(state, lifted)
        best, best_relief = -1, 0.0
        for e in range(min(size, scan)):
            slot = first + e
            j = small[at.items_on + m * at.slots + (slot if slot < size else slot - size)]
            if ints[at.movable + j] == 0 or is_chosen(lifted, n, j):
                continue
            lifted.work[0] += 1
            relieved = shortage_relieved(state, j, stays_charged(state, j, m, by_load), lifted, lacking)
            if relieved < 0.0 or relieved > best_relief:
                best, best_relief = j, relieved
                if relieved < 0.0:
                    break
        if best < 0:
            break
        lifted.item[n] = best
        n += 1
        if best_relief < 0.0:
            return n
        take_off_shortage(state, best, stays_charged(state, best, m, by_load), lifted.shortage)
    return n if by_load else 1
