"""A placement of one request made cheaper by exchange (001 IQP (4)): one member moves, or two at once, to wherever they fit."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.admit.question import UNPLACED, copy, has_room, passes
from bayplan.kernels.search.compiled import kernel

SLACK = 1e-10  # of what the members cost that move: less is rounding


class Standing(NamedTuple):
    """A placement that fits, and what follows from it."""

    zone: npt.NDArray[np.int64]  # (member,)
    free: npt.NDArray[np.int64]  # (zone, resource)
    field: npt.NDArray[np.float64]  # (member, zone) what a member costs there beside all the others


@kernel
def search(question, tables, order, zones, starts, standing, zone_out):
    """The least cost of so many starts, and its zones; infinite if none led to a placement that fits.

    The first start is the cheapest zone that holds all. Any other puts one member into a given zone and the rest greedily where
    they cost least, in the given order, beginning with the one after it. Then the placement is made cheaper by exchange.
    Ties: the first start.
    """
    v_n, z_n = question.cost.shape
    best = np.inf
    for i in range(starts if z_n > 0 else 0):
        if i == 0:
            found = gather(question, tables, standing)
        else:
            first = (i + i // z_n) % v_n  # no pair of a member and a zone twice, if that can be
            found = build(question, tables, order, first, zones[i % z_n], standing)
        if not found:
            continue
        climb(question, tables, standing)
        cost = cost_of(tables, standing.zone)
        if cost < best and cost < tables.barred[0]:
            best = cost
            copy(standing.zone, zone_out)
    return best


@kernel
def gather(question, tables, standing):
    """Put all members into the zone where that costs least, the lowest of equals; False if no zone holds them all."""
    zone = standing.zone
    least, chosen = tables.barred[0], UNPLACED
    for z in range(question.cost.shape[1]):
        if holds_all(question, z):
            zone[:] = z
            cost = cost_of(tables, zone)
            if cost < least:
                least, chosen = cost, z
    clear(question, tables, standing)
    if chosen >= 0:
        for v in range(len(zone)):
            put(question, tables, standing, v, chosen)
    return chosen >= 0


@kernel
def holds_all(question, z):
    """Has zone z room for all members (4a)?"""
    for r in range(question.room.shape[1]):
        used = 0
        for v in range(len(question.demand)):
            used += question.demand[v, r]
        if used > question.room[z, r]:
            return False
    return True


@kernel
def build(question, tables, order, first, z, standing):
    """Put member order[first] into zone z, then the others greedily; False if one fits nowhere."""
    clear(question, tables, standing)
    for i in range(len(order)):
        v = order[(first + i) % len(order)]
        if i > 0:
            z = cheapest(question, tables, standing, v)
        elif not has_room(question, standing.free, v, z):
            z = UNPLACED
        if z < 0:
            return False
        put(question, tables, standing, v, z)
    return True


@kernel
def clear(question, tables, standing):
    """No member has a zone."""
    zone, free, field = standing
    zone[:] = UNPLACED
    for z in range(len(free)):
        copy(question.room[z], free[z])
    for v in range(len(zone)):
        copy(tables.single[v], field[v])


@kernel
def put(question, tables, standing, v, z):
    """Member v, which had no zone, goes into zone z."""
    zone, free, field = standing
    zone[v] = z
    for r in range(free.shape[1]):
        free[z, r] -= question.demand[v, r]
    for w in range(len(zone)):
        if tables.talks[v, w]:
            for x in range(len(free)):
                field[w, x] += tables.pair[v, w, z, x]


@kernel
def cheapest(question, tables, standing, v):
    """The zone where member v costs least and fits; -1 if there is none. Ties: the lowest zone."""
    zone, free, field = standing
    least, chosen = tables.barred[0], UNPLACED
    for z in range(len(free)):
        if field[v, z] < least and has_room(question, free, v, z):
            zone[v] = z
            if passes(question, zone, v):
                least, chosen = field[v, z], z
            zone[v] = UNPLACED
    return chosen


@kernel
def climb(question, tables, standing):
    """Move one member, and where that does not help two, as long as that makes the placement cheaper. Members in their order.

    Where much costs nothing, rounding looks like a gain to every move. So the whole cost says whether a round has helped: it
    falls with each round but the last, and there are only so many placements.
    """
    cost, before = cost_of(tables, standing.zone), np.inf
    while cost < before:
        before = cost
        for v in range(len(standing.zone)):
            move_one(question, tables, standing, v)
        cost = cost_of(tables, standing.zone)
        if cost < before:
            continue
        for v in range(len(standing.zone)):
            for w in range(v):
                move_two(question, tables, standing, v, w)
        cost = cost_of(tables, standing.zone)


@kernel
def cost_of(tables, zone):
    """(4) of a placement."""
    total = 0.0
    for v in range(len(zone)):
        total += tables.single[v, zone[v]]
        for w in range(v):
            if tables.talks[v, w]:
                total += tables.pair[v, w, zone[v], zone[w]]
    return total


@kernel
def move(question, tables, standing, v, z):
    """Member v moves to zone z."""
    zone, free, field = standing
    y = zone[v]
    for r in range(free.shape[1]):
        free[y, r] += question.demand[v, r]
        free[z, r] -= question.demand[v, r]
    zone[v] = z
    for w in range(len(zone)):
        if tables.talks[v, w]:
            for x in range(len(free)):
                field[w, x] += tables.pair[v, w, z, x] - tables.pair[v, w, y, x]


@kernel
def move_one(question, tables, standing, v):
    """Move member v to the zone where it costs least, if that is less than now. Ties: the lowest zone."""
    zone, free, field = standing
    here = zone[v]
    least, chosen = field[v, here] * (1.0 - SLACK), here
    for z in range(len(free)):
        if field[v, z] < least and z != here and has_room(question, free, v, z):
            zone[v] = z
            if passes(question, zone, v):
                least, chosen = field[v, z], z
            zone[v] = here
    if chosen != here:
        move(question, tables, standing, v, chosen)
    return chosen != here


@kernel
def move_two(question, tables, standing, v, w):
    """Move members v and w to where they cost least together, if that is less than now. Ties: the lowest zones.

    No pair costs less than nothing, so zones whose own costs exceed the best need no look.
    """
    zone, free, field = standing
    at_v, at_w = zone[v], zone[w]
    talks = tables.talks[v, w]
    least = (field[v, at_v] + field[w, at_w] - (tables.pair[v, w, at_v, at_w] if talks else 0.0)) * (1.0 - SLACK)
    new_v, new_w = at_v, at_w
    lowest_w = lowest_without(tables, field, w, v, at_v)
    for r in range(free.shape[1]):
        free[at_v, r] += question.demand[v, r]
        free[at_w, r] += question.demand[w, r]
    for y in range(len(free)):
        alone_v = field[v, y] - (tables.pair[w, v, at_w, y] if talks else 0.0)
        if alone_v + lowest_w >= least or not has_room(question, free, v, y):
            continue
        for r in range(free.shape[1]):
            free[y, r] -= question.demand[v, r]
        for z in range(len(free)):
            both = alone_v + field[w, z]
            if talks:
                both += tables.pair[v, w, y, z] - tables.pair[v, w, at_v, z]
            if both < least and has_room(question, free, w, z) and both_pass(question, zone, v, w, y, z):
                least, new_v, new_w = both, y, z
        for r in range(free.shape[1]):
            free[y, r] += question.demand[v, r]
    for r in range(free.shape[1]):
        free[at_v, r] -= question.demand[v, r]
        free[at_w, r] -= question.demand[w, r]
    if new_v == at_v and new_w == at_w:
        return False
    move(question, tables, standing, v, new_v)
    move(question, tables, standing, w, new_w)
    return True


@kernel
def lowest_without(tables, field, w, v, at_v):
    """The least that member w costs in any zone beside all but v."""
    lowest = np.inf
    for z in range(field.shape[1]):
        some = field[w, z] - (tables.pair[v, w, at_v, z] if tables.talks[v, w] else 0.0)
        lowest = min(lowest, some)
    return lowest


@kernel
def both_pass(question, zone, v, w, y, z):
    """Would all links keep their bandwidth with v in zone y and w in zone z?"""
    at_v, at_w = zone[v], zone[w]
    zone[v], zone[w] = UNPLACED, z
    good = passes(question, zone, w)
    if good:
        zone[v] = y
        good = passes(question, zone, v)
    zone[v], zone[w] = at_v, at_w
    return good
