"""Admission by price as requests come: one that is worth less than what it takes is refused, even if it fits.

Two things are learnt, from requests that have come already, and from nothing else. First the price of each resource: that at
which those of the recent past that would pay it use a stated part of what the fleet can give (`learn`). While little time has
passed, that is what the fleet has free, for AHEAD times as many as have come. Second how strict to be: several virtual fleets,
each one pool, accept at other multiples of the price; the multiple of the fleet that has *completed* the most value is used.
Costs may also be given, from a forecast.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import kernel
from bayplan.kernels.schedule.free_tree import NO_MACHINE, add_free, may_fit
from bayplan.kernels.schedule.stream import release

FIRST = 8  # requests before the first prices: until then all that fit are served
GROWTH = 1.05  # prices are learnt anew when the number of requests has grown by this factor
SAMPLE = 20_000  # of the recent past, evenly
LIVES = 8.0  # the recent past, in mean durations of those that would pay,
FEWEST = 1_000  # but not fewer requests
ROUNDS = 12  # of price adjustment; each begins with the prices before
FILL = 0.8  # the part of the fleet that those that would pay may use
AHEAD = 5.0  # times as many as have come may still come at once: what is free now is for them, if little time has passed
MIN_FREE = 0.02  # of the fleet counts as free in any case
MIN_PRICE, MAX_PRICE = 1e-6, 1e6  # of the price at which all of the recent past together is worth what it costs
VIRTUAL_SHARE = 0.95  # what a virtual fleet can use, as it need not pack


class RequestValues(NamedTuple):
    """What each request is worth and takes."""

    value: npt.NDArray[np.float64]  # (request,)
    lasts: npt.NDArray[np.float64]  # (request,)
    share: npt.NDArray[np.float64]  # (request, resource) of the whole fleet
    given: npt.NDArray[np.float64]  # (request,) cost from a forecast; empty: costs are learnt
    weight: npt.NDArray[np.float64]  # (machine, resource) of a unit that is free: machines with the least are the fullest
    total: npt.NDArray[np.float64]  # (resource,) of all machines, 1 at least


class LearntPrices(NamedTuple):
    """What is known after some requests."""

    price: npt.NDArray[np.float64]  # (resource,) of the whole fleet for a unit of time
    used: npt.NDArray[np.float64]  # (resource,) scratch, as are the next two
    tried: npt.NDArray[np.float64]  # (resource,)
    best: npt.NDArray[np.float64]  # (resource,)
    free: npt.NDArray[np.float64]  # (resource,) share of the whole fleet
    multiple: npt.NDArray[np.float64]  # (virtual fleet,) of the cost that it charges
    load: npt.NDArray[np.float64]  # (virtual fleet, resource) what runs there now
    done: npt.NDArray[np.float64]  # (virtual fleet,) value that was served to the end
    member: npt.NDArray[np.int64]  # (request,) bits: the virtual fleets that accepted it


@kernel
def cost_of(values, price, j):
    """The price of what request j takes."""
    if len(values.given):
        return values.given[j]
    cost = 0.0
    for r in range(len(price)):
        cost += price[r] * values.share[j, r]
    return cost * values.lasts[j]


@kernel
def even_price(stream, values, low, high, resources):
    """One price for all resources, at which requests low, ..., high - 1 are together worth their cost; 0 if they take nothing."""
    value, work = 0.0, 0.0
    for i in range(low, high, (high - low + SAMPLE - 1) // SAMPLE):
        j = stream.by_start[i]
        value += values.value[j]
        for r in range(resources):
            work += values.share[j, r] * values.lasts[j]
    return value / work if work > 0.0 else 0.0


@kernel
def find_free(tree, total, machines, learnt):
    """Measure what the fleet has free now."""
    leaves = tree.shape[0] // 2
    for r in range(len(learnt.free)):
        free = 0.0
        for m in range(machines):
            free += tree[leaves + m, r]
        learnt.free[r] = max(MIN_FREE, free / total[r])


@kernel
def demanded(stream, values, low, high, learnt):
    """The mean duration of those of requests low, ..., high - 1 that would pay the price; what they use together is in `used`."""
    price, used, every = learnt.price, learnt.used, (high - low + SAMPLE - 1) // SAMPLE
    used[:] = 0.0
    value, lives = 0.0, 0.0
    for i in range(low, high, every):
        j = stream.by_start[i]
        if cost_of(values, price, j) <= values.value[j]:
            value += values.value[j]
            lives += values.value[j] * values.lasts[j]
            for r in range(len(price)):
                used[r] += every * values.share[j, r] * values.lasts[j]
    return lives / value if value > 0.0 else 0.0


@kernel
def adjust(passed, mean, strength, learnt):
    """Raise prices where more is used than there is, lower them where less. Was there demand for all of some resource?"""
    crowded = False
    for r in range(len(learnt.price)):
        available = max(FILL * passed, learnt.free[r] * mean / AHEAD)
        if available > 0.0:
            crowded = crowded or learnt.used[r] >= available
            learnt.price[r] *= min(4.0, max(0.25, learnt.used[r] / available)) ** strength
    return crowded


@kernel
def copy(amounts, amounts_out):
    """Copy amounts; a slice would allocate."""
    for r in range(len(amounts)):
        amounts_out[r] = amounts[r]


@kernel
def learn(stream, values, low, high, learnt):
    """Prices from requests low, ..., high - 1 in start order, and the mean duration of those that would pay them.

    The last prices count at which some resource had enough demand: if many requests are alike, a little more and none would pay.
    """
    mean, even = 0.0, even_price(stream, values, low, high, len(learnt.price))
    passed = stream.start[stream.by_start[high - 1]] - stream.start[stream.by_start[low]]
    enough_demand = False
    for i in range(ROUNDS):
        for r in range(len(learnt.price)):
            learnt.price[r] = min(MAX_PRICE * even, max(MIN_PRICE * even, learnt.price[r]))
            learnt.tried[r] = learnt.price[r]
        mean = demanded(stream, values, low, high, learnt)
        if adjust(passed, mean, 0.6 / (1.0 + 0.1 * i), learnt):
            enough_demand = True
            copy(learnt.tried, learnt.best)
    if enough_demand:
        copy(learnt.best, learnt.price)
    return mean


@kernel
def recent(stream, low, high, mean):
    """Where the recent past begins, at `low` or later, if requests up to high - 1 have come."""
    since = stream.start[stream.by_start[high - 1]] - LIVES * mean
    while mean > 0.0 and low < high - FEWEST and stream.start[stream.by_start[low]] < since:
        low += 1
    return low


@kernel
def accept_virtually(values, learnt, j, cost):
    """Let every virtual fleet decide on request j."""
    for e in range(len(learnt.multiple)):
        if cost * learnt.multiple[e] > values.value[j]:
            continue
        fits = True
        for r in range(learnt.load.shape[1]):
            fits = fits and learnt.load[e, r] + values.share[j, r] <= VIRTUAL_SHARE
        if fits:
            learnt.member[j] |= 1 << e
            for r in range(learnt.load.shape[1]):
                learnt.load[e, r] += values.share[j, r]


@kernel
def release_virtually(stream, values, learnt, begin, end):
    """Requests begin, ..., end - 1 in the order of their ends leave the virtual fleets that accepted them."""
    for i in range(begin, end):
        j = stream.by_end[i]
        for e in range(len(learnt.multiple)):
            if learnt.member[j] >> e & 1:
                learnt.done[e] += values.value[j]
                for r in range(learnt.load.shape[1]):
                    learnt.load[e, r] -= values.share[j, r]


@kernel
def leader(learnt, lead):
    """The virtual fleet that completed the most value; the one before, if no other has more; then the first."""
    for e in range(len(learnt.multiple)):
        if learnt.done[e] > learnt.done[lead]:
            lead = e
    return lead


@kernel
def fullest(tree, weight, demand, j):
    """The machine that request j fits on with the least free, in shares of a machine; the first of equals; NO_MACHINE if none."""
    best, least = NO_MACHINE, np.inf
    if not may_fit(tree, 1, demand, j):
        return best
    leaves = tree.shape[0] // 2
    for m in range(len(weight)):
        if may_fit(tree, leaves + m, demand, j):
            free = 0.0
            for r in range(tree.shape[1]):
                free += weight[m, r] * tree[leaves + m, r]
            if free < least:
                best, least = m, free
    return best


@kernel
def serve_by_price(stream, values, tree, lead, learnt, machine_of_out):
    """Serve each request in start order on the fullest machine that it fits on, if it is worth its price; NO_MACHINE otherwise.

    `machine_of_out` begins as NO_MACHINE; `lead` is the virtual fleet to follow at first.
    """
    done, low, mean, next_learning = 0, 0, 0.0, FIRST
    learns = len(values.given) == 0
    for seen in range(len(stream.by_start)):
        j = stream.by_start[seen]
        gone = release(stream, tree, done, stream.start[j], machine_of_out)
        release_virtually(stream, values, learnt, done, gone)
        done = gone
        if values.value[j] > 0.0:
            cost = 0.0 if learns and seen < FIRST else cost_of(values, learnt.price, j)
            accept_virtually(values, learnt, j, cost)
            lead = leader(learnt, lead)
            if cost * learnt.multiple[lead] <= values.value[j]:
                m = fullest(tree, values.weight, stream.demand, j)
                if m != NO_MACHINE:
                    add_free(tree, m, stream.demand, j, -1)
                    machine_of_out[j] = m
        if learns and seen + 1 == next_learning:
            if next_learning == FIRST:
                learnt.price[:] = even_price(stream, values, 0, next_learning, len(learnt.price))
            low = recent(stream, low, seen + 1, mean)
            find_free(tree, values.total, len(values.weight), learnt)
            mean = learn(stream, values, low, seen + 1, learnt)
            next_learning = max(next_learning + FIRST, int(next_learning * GROWTH))
