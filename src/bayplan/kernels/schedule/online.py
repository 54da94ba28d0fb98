"""Admission by price as requests come: who brings less than its room is worth is refused, even if there is room.

Two things are learnt, from requests that have come already, and from nothing else. First the price of each resource: that at
which those of the recent past who would pay it use a stated part of what the fleet can give (`learn`). While little time has
passed, that is what the fleet has free, for AHEAD times as many as have come. Second how strict to be: several virtual fleets,
each one pool, accept at other multiples of the price; the multiple of the fleet that has *completed* the most value is used.
Costs may also be given, from a forecast.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.schedule.rooms import NOBODY, change, has_room
from bayplan.kernels.schedule.stream import release
from bayplan.kernels.search.compiled import kernel

FIRST = 8  # requests before the first prices: until then everybody who fits is served
GROWTH = 1.05  # prices are found anew when so many times as many requests have come
SAMPLE = 20_000  # of the recent past, evenly
LIVES = 8.0  # the recent past: so many mean durations of those who would pay,
FEWEST = 1_000  # but not fewer requests
ROUNDS = 12  # of price adjustment; each begins with the prices before
FILL = 0.8  # the part of the fleet that those who would pay may use
AHEAD = 5.0  # times as many as have come may still come at once: what is free now is for them, if little time has passed
LITTLE = 0.02  # of the fleet counts as free in any case
LEAST, MOST = 1e-6, 1e6  # of the price at which all of the recent past together brings what it costs
POOL = 0.95  # what a virtual fleet can use, as it need not pack


class Bids(NamedTuple):
    """What each request brings and takes."""

    value: npt.NDArray[np.float64]  # (request,)
    lasts: npt.NDArray[np.float64]  # (request,)
    share: npt.NDArray[np.float64]  # (request, resource) of the whole fleet
    given: npt.NDArray[np.float64]  # (request,) cost from a forecast; empty: costs are learnt
    weight: npt.NDArray[np.float64]  # (machine, resource) of a unit that is free: machines with the least are the fullest
    total: npt.NDArray[np.float64]  # (resource,) of all machines, 1 at least


class Learnt(NamedTuple):
    """What is known after some requests."""

    price: npt.NDArray[np.float64]  # (resource,) of the whole fleet for a unit of time
    used: npt.NDArray[np.float64]  # (resource,) scratch, as are the next two
    tried: npt.NDArray[np.float64]  # (resource,)
    kept: npt.NDArray[np.float64]  # (resource,)
    free: npt.NDArray[np.float64]  # (resource,) share of the whole fleet
    multiple: npt.NDArray[np.float64]  # (virtual fleet,) of the cost that it asks for
    load: npt.NDArray[np.float64]  # (virtual fleet, resource) what runs there now
    done: npt.NDArray[np.float64]  # (virtual fleet,) value that was served to the end
    member: npt.NDArray[np.int64]  # (request,) bits: the virtual fleets that accepted it


@kernel
def cost_of(bids, price, j):
    """What the room that request j takes is worth."""
    if len(bids.given):
        return bids.given[j]
    cost = 0.0
    for r in range(len(price)):
        cost += price[r] * bids.share[j, r]
    return cost * bids.lasts[j]


@kernel
def even_price(stream, bids, low, high, resources):
    """One price for all resources, at which requests low, ..., high - 1 together bring what they cost; 0 if they take nothing."""
    value, work = 0.0, 0.0
    for i in range(low, high, (high - low + SAMPLE - 1) // SAMPLE):
        j = stream.by_start[i]
        value += bids.value[j]
        for r in range(resources):
            work += bids.share[j, r] * bids.lasts[j]
    return value / work if work > 0.0 else 0.0


@kernel
def find_free(most, total, machines, learnt):
    """What the fleet has free now."""
    leaves = most.shape[0] // 2
    for r in range(len(learnt.free)):
        free = 0.0
        for m in range(machines):
            free += most[leaves + m, r]
        learnt.free[r] = max(LITTLE, free / total[r])


@kernel
def demanded(stream, bids, low, high, learnt):
    """What those of requests low, ..., high - 1 who would pay the price use together, in `used`, and their mean duration."""
    price, used, every = learnt.price, learnt.used, (high - low + SAMPLE - 1) // SAMPLE
    used[:] = 0.0
    value, lives = 0.0, 0.0
    for i in range(low, high, every):
        j = stream.by_start[i]
        if cost_of(bids, price, j) <= bids.value[j]:
            value += bids.value[j]
            lives += bids.value[j] * bids.lasts[j]
            for r in range(len(price)):
                used[r] += every * bids.share[j, r] * bids.lasts[j]
    return lives / value if value > 0.0 else 0.0


@kernel
def adjust(passed, mean, strength, learnt):
    """Prices rise where more is used than there is, and fall where less. Was there enough demand for all of some resource?"""
    crowded = False
    for r in range(len(learnt.price)):
        room = max(FILL * passed, learnt.free[r] * mean / AHEAD)
        if room > 0.0:
            crowded = crowded or learnt.used[r] >= room
            learnt.price[r] *= min(4.0, max(0.25, learnt.used[r] / room)) ** strength
    return crowded


@kernel
def copy(amounts, amounts_out):
    """The same amounts; a slice would allocate."""
    for r in range(len(amounts)):
        amounts_out[r] = amounts[r]


@kernel
def learn(stream, bids, low, high, learnt):
    """Prices from requests low, ..., high - 1 in start order, and the mean duration of those who would pay them.

    The last prices count at which some resource found enough demand: if many are alike, a little more and nobody would pay.
    """
    mean, even = 0.0, even_price(stream, bids, low, high, len(learnt.price))
    passed = stream.start[stream.by_start[high - 1]] - stream.start[stream.by_start[low]]
    found = False
    for i in range(ROUNDS):
        for r in range(len(learnt.price)):
            learnt.price[r] = min(MOST * even, max(LEAST * even, learnt.price[r]))
            learnt.tried[r] = learnt.price[r]
        mean = demanded(stream, bids, low, high, learnt)
        if adjust(passed, mean, 0.6 / (1.0 + 0.1 * i), learnt):
            found = True
            copy(learnt.tried, learnt.kept)
    if found:
        copy(learnt.kept, learnt.price)
    return mean


@kernel
def recent(stream, low, high, mean):
    """Where the recent past begins, at `low` or later, if requests up to high - 1 have come."""
    since = stream.start[stream.by_start[high - 1]] - LIVES * mean
    while mean > 0.0 and low < high - FEWEST and stream.start[stream.by_start[low]] < since:
        low += 1
    return low


@kernel
def enter(bids, learnt, j, cost):
    """Every virtual fleet decides on request j."""
    for e in range(len(learnt.multiple)):
        if cost * learnt.multiple[e] > bids.value[j]:
            continue
        fits = True
        for r in range(learnt.load.shape[1]):
            fits = fits and learnt.load[e, r] + bids.share[j, r] <= POOL
        if fits:
            learnt.member[j] |= 1 << e
            for r in range(learnt.load.shape[1]):
                learnt.load[e, r] += bids.share[j, r]


@kernel
def leave(stream, bids, learnt, begin, end):
    """Requests begin, ..., end - 1 in the order of their ends leave the virtual fleets that they are in."""
    for i in range(begin, end):
        j = stream.by_end[i]
        for e in range(len(learnt.multiple)):
            if learnt.member[j] >> e & 1:
                learnt.done[e] += bids.value[j]
                for r in range(learnt.load.shape[1]):
                    learnt.load[e, r] -= bids.share[j, r]


@kernel
def leader(learnt, lead):
    """The virtual fleet that completed the most value; the one before, if no other has more; then the first."""
    for e in range(len(learnt.multiple)):
        if learnt.done[e] > learnt.done[lead]:
            lead = e
    return lead


@kernel
def fullest(most, weight, demand, j):
    """The machine with room that has the least free, in shares of a machine; the first of equal ones; NOBODY if none has room."""
    best, least = NOBODY, np.inf
    if not has_room(most, 1, demand, j):
        return best
    leaves = most.shape[0] // 2
    for m in range(len(weight)):
        if has_room(most, leaves + m, demand, j):
            free = 0.0
            for r in range(most.shape[1]):
                free += weight[m, r] * most[leaves + m, r]
            if free < least:
                best, least = m, free
    return best


@kernel
def serve_by_price(stream, bids, most, lead, learnt, machine_of_out):
    """Each request in start order: at the fullest machine with room, if it brings what its room is worth; NOBODY otherwise.

    `machine_of_out` begins as NOBODY; `lead` is the virtual fleet to follow at first.
    """
    done, low, mean, at = 0, 0, 0.0, FIRST
    learns = len(bids.given) == 0
    for seen in range(len(stream.by_start)):
        j = stream.by_start[seen]
        gone = release(stream, most, done, stream.start[j], machine_of_out)
        leave(stream, bids, learnt, done, gone)
        done = gone
        if bids.value[j] > 0.0:
            cost = 0.0 if learns and seen < FIRST else cost_of(bids, learnt.price, j)
            enter(bids, learnt, j, cost)
            lead = leader(learnt, lead)
            if cost * learnt.multiple[lead] <= bids.value[j]:
                m = fullest(most, bids.weight, stream.demand, j)
                if m != NOBODY:
                    change(most, m, stream.demand, j, -1)
                    machine_of_out[j] = m
        if learns and seen + 1 == at:
            if at == FIRST:
                learnt.price[:] = even_price(stream, bids, 0, at, len(learnt.price))
            low = recent(stream, low, seen + 1, mean)
            find_free(most, bids.total, len(bids.weight), learnt)
            mean = learn(stream, bids, low, seen + 1, learnt)
            at = max(at + FIRST, int(at * GROWTH))
