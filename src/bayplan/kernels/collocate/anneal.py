"""Annealing in counts: a container is forced onto a machine, what must give way goes elsewhere, Metropolis' rule decides."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.collocate.hold import (
    MOST_MOVES,
    MOVES,
    NOWHERE,
    gain_of,
    loss_of,
    put,
    refill,
    smallest_hold,
    take,
)
from bayplan.kernels.collocate.yard import fits
from bayplan.kernels.search.chance import below, share
from bayplan.kernels.search.compiled import kernel

MOST_EJECTED = 12


class Style(NamedTuple):
    """How to walk."""

    near: float  # share of targets that are machines of a neighbour ...
    back: float  # ... and of those where a container of the service stood at first
    ejected: int  # most containers that give way
    looks: int  # containers of which the victim is the least loss
    tries: int  # machines that an ejected container looks at
    finds: int  # until so many have room


class Party(NamedTuple):
    """Containers on the way."""

    who: npt.NDArray[np.int64]  # (MOST_EJECTED + 1,)
    origin: npt.NDArray[np.int64]  # (MOST_EJECTED + 1,)


@kernel
def takes(hold, s, m):
    """May one more container of the service stand on the machine, and is there a slot for it?"""
    return hold.size[m] < hold.on.shape[1] and fits(hold, s, m)


@kernel
def neighbour_of(hold, s, chance):
    """A neighbour of the service, heavy edges more often; NOWHERE if it has none."""
    low, high = hold.edge_start[s], hold.edge_start[s + 1]
    if low == high:
        return NOWHERE
    u = share(chance)
    e = low
    while e < high - 1 and hold.chosen[e] < u:
        e += 1
    return hold.neighbour[e]


@kernel
def near_machine(hold, s, chance):
    """A machine where a neighbour of the service stands; a random one if there is none."""
    t = neighbour_of(hold, s, chance)
    if t != NOWHERE and hold.first[t + 1] > hold.first[t]:
        m = hold.machine_of[hold.first[t] + below(chance, hold.first[t + 1] - hold.first[t])]
        if m != NOWHERE:
            return np.int64(m)
    return np.int64(below(chance, len(hold.size)))


@kernel
def target(hold, c, style, chance):
    """The machine that a container is to go to: a neighbour's, one where a replica stood at first, or any."""
    s, u = hold.service_of[c], share(chance)
    if u < style.near:
        return near_machine(hold, s, chance)
    if u < style.near + style.back:
        return np.int64(hold.came_from[hold.first[s] + below(chance, hold.first[s + 1] - hold.first[s])])
    return np.int64(below(chance, len(hold.size)))


@kernel
def victim(hold, m, newcomer, looks, chance):
    """Of a few containers of the machine the one that is missed least for its size; NOWHERE if none is another's."""
    best, least = NOWHERE, np.inf
    for _ in range(looks):
        c = hold.on[m, below(chance, hold.size[m])]
        s = hold.service_of[c]
        if s != newcomer:
            cost = loss_of(hold, s, m)
            if cost < least:
                best, least = c, cost
    return best


@kernel
def seat(hold, c, m, first, style, chance):
    """The best of a few machines but m with room for a lifted container; NOWHERE if there is none."""
    s = hold.service_of[c]
    best, most, found = NOWHERE, -np.inf, 0
    near = hold.edge_start[s] < hold.edge_start[s + 1]
    for e in range(style.tries):
        if e == 0:
            there = first
        elif e == 1 and style.back > 0.0:
            there = np.int64(hold.came_from[c])
        elif near and e % 2:
            there = near_machine(hold, s, chance)
        else:
            there = np.int64(below(chance, len(hold.size)))
        if there != m and takes(hold, s, there):
            gain = gain_of(hold, s, there)
            if gain > most:
                best, most = there, gain
            found += 1
            if found >= style.finds:
                break
    return best


@kernel
def undo(hold, party, n):
    """Everybody back to where they were."""
    for e in range(n):
        if hold.machine_of[party.who[e]] != NOWHERE:
            take(hold, party.who[e])
    for e in range(n):
        put(hold, party.who[e], party.origin[e])


@kernel
def shift(hold, c, m, least):
    """Move a container to a machine with room if that changes the worth by `least` or more; 1 if it is moved."""
    s, origin = hold.service_of[c], hold.machine_of[c]
    if gain_of(hold, s, m) - loss_of(hold, s, origin) < least:
        return 0
    if hold.tally[MOVES] >= hold.tally[MOST_MOVES] and hold.counts[m, s] >= hold.home[m, s]:
        if hold.counts[origin, s] <= hold.home[origin, s]:
            return 0
    take(hold, c)
    put(hold, c, m)
    return 1


@kernel
def step(hold, c, style, chance, heat, party):
    """Force a container onto another machine; 1 if that is kept."""
    s, origin = hold.service_of[c], np.int64(hold.machine_of[c])
    m = target(hold, c, style, chance)
    if m == origin or not hold.allow[hold.row_of[s], m]:
        return 0
    least = heat * np.log(share(chance)) if heat > 0.0 else 0.0  # Metropolis' rule, drawn beforehand
    if takes(hold, s, m):
        return shift(hold, c, m, least)
    if hold.size[m] == 0 or gain_of(hold, s, m) - loss_of(hold, s, origin) < least:  # those ejected will hardly make up for it
        return 0
    moves = hold.tally[MOVES]
    party.who[0], party.origin[0] = c, origin
    change, n = -take(hold, c), 1
    while n <= style.ejected and hold.size[m] > 0 and not takes(hold, s, m):
        v = victim(hold, m, s, style.looks, chance)
        if v == NOWHERE:
            break
        party.who[n], party.origin[n] = v, m
        change -= take(hold, v)
        n += 1
    good = takes(hold, s, m)
    if good:
        change += put(hold, c, m)
        for e in range(1, n):
            there = seat(hold, party.who[e], m, origin, style, chance)
            if there == NOWHERE:
                good = False
                break
            change += put(hold, party.who[e], there)
    if good and change >= least and (hold.tally[MOVES] <= hold.tally[MOST_MOVES] or hold.tally[MOVES] <= moves):
        return 1
    undo(hold, party, n)
    return 0


@kernel
def walk(hold, bag, style, chance, heat, steps, party):
    """So many steps at one temperature; how many were kept."""
    kept = 0
    for _ in range(steps):
        kept += step(hold, bag[below(chance, len(bag))], style, chance, heat, party)
    return kept


def new_party() -> Party:
    """Nobody yet."""
    return Party(np.zeros(MOST_EJECTED + 1, dtype=np.int64), np.zeros(MOST_EJECTED + 1, dtype=np.int64))


def warm_up() -> None:
    """Compile what is called from outside, with the types it uses."""
    hold, style = smallest_hold(), Style(near=0.5, back=0.1, ejected=2, looks=1, tries=2, finds=1)
    refill(hold, np.zeros(2, dtype=np.int32))
    walk(hold, np.arange(2), style, np.ones(1, dtype=np.uint64), 1.0, 10, new_party())
