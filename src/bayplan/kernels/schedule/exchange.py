"""Exchanges on a few machines: take out the requests that start within a window of time, fill up anew from all that start there.

A step is accepted if it is not worse. One step moves, swaps, drops and adds requests at once. It compares value less a part of
the price of the capacity taken, so that among equal values the one that leaves more free is chosen. Requests that run through
the window stay where they are.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import kernel
from bayplan.kernels.random import below, uniform
from bayplan.kernels.schedule.profile import fits, put, remove

NO_MACHINE = -1
PASSES = 3
ONE_THRESHOLD_SHARE = 0.5  # of the steps: those that fill up in start order at one threshold


class ExchangePool(NamedTuple):
    """Requests that may be exchanged, in start order."""

    request: npt.NDArray[np.int64]  # (member,)
    first: npt.NDArray[np.int64]  # (member,) rank of its start, ascending
    cost_ratio: npt.NDArray[np.float64]  # (request,) price of the capacity it takes over its value
    score: npt.NDArray[np.float64]  # (request,) value less a part of that price


class ExchangeScratch(NamedTuple):
    """What one step changes."""

    machine: npt.NDArray[np.int64]  # (machines in a step,)
    out: npt.NDArray[np.int64]  # (most,) requests taken out
    origin: npt.NDArray[np.int64]  # (most,) where they ran
    into: npt.NDArray[np.int64]  # (pool,) requests put in
    limit: npt.NDArray[np.float64]  # (PASSES,) thresholds of `cost_ratio`


@kernel
def pick_machines(rng, machines, scratch):
    """Draw different machines; their number."""
    count = min(machines, 1 + below(rng, len(scratch.machine)))
    for i in range(count):
        repeated = True
        while repeated:
            m = below(rng, machines)
            repeated = False
            for x in range(i):
                repeated = repeated or scratch.machine[x] == m
        scratch.machine[i] = m
    return count


@kernel
def pick_limits(rng, scratch):
    """Draw rising thresholds of `cost_ratio`: one near 1 and then all, or the cheapest first."""
    noise = 0.85 + 0.35 * uniform(rng)
    if uniform(rng) < ONE_THRESHOLD_SHARE:
        scratch.limit[0], scratch.limit[1], scratch.limit[2] = noise, 1.2 * noise, np.inf
    else:
        scratch.limit[0], scratch.limit[1], scratch.limit[2] = 0.6 * noise, noise, np.inf


@kernel
def find_first(first, rank):
    """The first member that starts at this rank or later."""
    low, high = 0, len(first)
    while low < high:
        middle = (low + high) // 2
        if first[middle] < rank:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def list_running(pool, scratch, machines, low, high, machine_of):
    """List members low, ..., high - 1 that run on the machines of this step, as far as the list reaches; their number."""
    count = 0
    for x in range(low, high):
        j = pool.request[x]
        for i in range(machines):
            if machine_of[j] == scratch.machine[i] and count < len(scratch.out):
                scratch.out[count], scratch.origin[count] = j, scratch.machine[i]
                count += 1
    return count


@kernel
def fill(profile, pool, scratch, machines, low, high, machine_of):
    """Place members low, ..., high - 1 without a machine where they first fit, by rising thresholds; the number placed."""
    count, floor = 0, -1.0
    for step in range(len(scratch.limit)):
        for x in range(low, high):
            j = pool.request[x]
            cost_ratio = pool.cost_ratio[j]
            if machine_of[j] != NO_MACHINE or cost_ratio > scratch.limit[step] or cost_ratio <= floor:
                continue
            for i in range(machines):
                if fits(profile, scratch.machine[i], j):
                    put(profile, scratch.machine[i], j)
                    machine_of[j] = scratch.machine[i]
                    scratch.into[count] = j
                    count += 1
                    break
        floor = scratch.limit[step]
    return count


@kernel
def undo(profile, scratch, n_out, n_in, machine_of):
    """Restore the schedule from before the step."""
    for i in range(n_in):
        j = scratch.into[i]
        remove(profile, machine_of[j], j)
        machine_of[j] = NO_MACHINE
    for i in range(n_out):
        put(profile, scratch.origin[i], scratch.out[i])
        machine_of[scratch.out[i]] = scratch.origin[i]


@kernel
def exchange(profile, pool, rng, cells, temperature, scratch, machine_of):
    """One step over a window of `cells` cells; is it accepted? A loss of `temperature` is accepted with probability 1/e."""
    width = profile.width
    low = pool.first[below(rng, len(pool.first))] // width
    high = min(low + cells, profile.base.shape[1])
    machines = pick_machines(rng, profile.base.shape[0], scratch)
    pick_limits(rng, scratch)
    begin, end = find_first(pool.first, low * width), find_first(pool.first, high * width)
    n_out = list_running(pool, scratch, machines, begin, end, machine_of)
    change = 0.0
    for i in range(n_out):
        remove(profile, scratch.origin[i], scratch.out[i])
        machine_of[scratch.out[i]] = NO_MACHINE
        change -= pool.score[scratch.out[i]]
    n_in = fill(profile, pool, scratch, machines, begin, end, machine_of)
    for i in range(n_in):
        change += pool.score[scratch.into[i]]
    if change >= temperature * np.log(uniform(rng)):
        return True
    undo(profile, scratch, n_out, n_in, machine_of)
    return False


@kernel
def exchanges(profile, pool, rng, cells, temperature, steps, scratch, machine_of):
    """Make `steps` steps; the number accepted. `profile` and `machine_of` change together."""
    accepted = 0
    for _ in range(steps):
        accepted += exchange(profile, pool, rng, cells, temperature, scratch, machine_of)
    return accepted
