"""Exchanges on a few machines: take out who starts within a window of time, fill up anew from all who start there.

It is kept if it is not worse. One step moves, swaps, drops and takes in requests at once. What it looks at is value less a part
of the price of the room taken, so that among equal values the one that leaves more room is kept. Requests that run through the
window stay where they are.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.schedule.profile import fits, put, take
from bayplan.kernels.search.chance import below, share
from bayplan.kernels.search.compiled import kernel

NOBODY = -1
PASSES = 3
PLAIN = 0.5  # the chance of a step that fills up in start order at one threshold


class Pool(NamedTuple):
    """Requests that may be exchanged, in start order."""

    request: npt.NDArray[np.int64]  # (member,)
    first: npt.NDArray[np.int64]  # (member,) rank of its start, ascending
    strain: npt.NDArray[np.float64]  # (request,) price of its room over its value
    worth: npt.NDArray[np.float64]  # (request,) value less a part of the price of its room


class Draft(NamedTuple):
    """What one step changes, and how far a search has come."""

    machine: npt.NDArray[np.int64]  # (machines in a step,)
    out: npt.NDArray[np.int64]  # (most,) requests taken out
    was: npt.NDArray[np.int64]  # (most,) where they ran
    into: npt.NDArray[np.int64]  # (pool,) requests put in
    limit: npt.NDArray[np.float64]  # (PASSES,) thresholds of strain


@kernel
def pick_machines(chance, machines, draft):
    """Different machines, at random. How many."""
    count = min(machines, 1 + below(chance, len(draft.machine)))
    for i in range(count):
        again = True
        while again:
            m = below(chance, machines)
            again = False
            for x in range(i):
                again = again or draft.machine[x] == m
        draft.machine[i] = m
    return count


@kernel
def pick_limits(chance, draft):
    """Thresholds of strain, rising: one near 1 and then all, or the cheapest first."""
    noise = 0.85 + 0.35 * share(chance)
    if share(chance) < PLAIN:
        draft.limit[0], draft.limit[1], draft.limit[2] = noise, 1.2 * noise, np.inf
    else:
        draft.limit[0], draft.limit[1], draft.limit[2] = 0.6 * noise, noise, np.inf


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
def collect(pool, draft, machines, low, high, machine_of):
    """Members low, ..., high - 1 that run on the machines of this step, as far as there is space. How many."""
    count = 0
    for x in range(low, high):
        j = pool.request[x]
        for i in range(machines):
            if machine_of[j] == draft.machine[i] and count < len(draft.out):
                draft.out[count], draft.was[count] = j, draft.machine[i]
                count += 1
    return count


@kernel
def fill(profile, pool, draft, machines, low, high, machine_of):
    """Members low, ..., high - 1 that have no machine, in passes of rising thresholds, each where it fits first. How many fit."""
    count, floor = 0, -1.0
    for step in range(len(draft.limit)):
        for x in range(low, high):
            j = pool.request[x]
            strain = pool.strain[j]
            if machine_of[j] != NOBODY or strain > draft.limit[step] or strain <= floor:
                continue
            for i in range(machines):
                if fits(profile, draft.machine[i], j):
                    put(profile, draft.machine[i], j)
                    machine_of[j] = draft.machine[i]
                    draft.into[count] = j
                    count += 1
                    break
        floor = draft.limit[step]
    return count


@kernel
def undo(profile, draft, n_out, n_in, machine_of):
    """As it was before the step."""
    for i in range(n_in):
        j = draft.into[i]
        take(profile, machine_of[j], j)
        machine_of[j] = NOBODY
    for i in range(n_out):
        put(profile, draft.was[i], draft.out[i])
        machine_of[draft.out[i]] = draft.was[i]


@kernel
def exchange(profile, pool, chance, cells, heat, draft, machine_of):
    """One step over a window of `cells` cells; is it kept? `heat`: a loss of so much is kept with a chance of 1/e."""
    width = profile.width
    low = pool.first[below(chance, len(pool.first))] // width
    high = min(low + cells, profile.base.shape[1])
    machines = pick_machines(chance, profile.base.shape[0], draft)
    pick_limits(chance, draft)
    begin, end = find_first(pool.first, low * width), find_first(pool.first, high * width)
    n_out = collect(pool, draft, machines, begin, end, machine_of)
    change = 0.0
    for i in range(n_out):
        take(profile, draft.was[i], draft.out[i])
        machine_of[draft.out[i]] = NOBODY
        change -= pool.worth[draft.out[i]]
    n_in = fill(profile, pool, draft, machines, begin, end, machine_of)
    for i in range(n_in):
        change += pool.worth[draft.into[i]]
    if change >= heat * np.log(share(chance)):
        return True
    undo(profile, draft, n_out, n_in, machine_of)
    return False


@kernel
def exchanges(profile, pool, chance, cells, heat, steps, draft, machine_of):
    """So many steps; how many were kept. `profile` and `machine_of` change together."""
    kept = 0
    for _ in range(steps):
        kept += exchange(profile, pool, chance, cells, heat, draft, machine_of)
    return kept
