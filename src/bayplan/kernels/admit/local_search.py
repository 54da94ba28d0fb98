"""Local search for the placement of one request ([Online clusters] IQP (4)): one member moves, or two at once."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.admit.zone_problem import UNPLACED, copy, fits, links_fit
from bayplan.kernels.jit import kernel

SLACK = 1e-10  # of the cost of the members that move: less is rounding


class ZoneState(NamedTuple):
    """A placement that fits, and what follows from it."""

    zone: npt.NDArray[np.int64]  # (member,)
    free: npt.NDArray[np.int64]  # (zone, resource)
    marginal_cost: npt.NDArray[np.float64]  # (member, zone) what a member costs there beside all the others


@kernel
def local_search(problem, tables, order, zones, starts, state, seen, zone_out):
    """The least cost of `starts` starts, and its zones; infinite if none led to a placement that fits.

    The first start is the cheapest zone that holds all. Any other puts one member into a given zone and the others greedily where
    they cost least, in the given order, beginning with the one after it. Then the placement is made cheaper by exchange, until
    it is one that an earlier start has passed: from there on both are the same. Ties: the first start.
    Scratch: `seen` (row, member), placements passed; the more rows, the fewer are passed twice.
    """
    v_n, z_n = problem.cost.shape
    best, passed = np.inf, 0
    for i in range(starts if z_n > 0 else 0):
        if i == 0:
            is_placed = all_in_one_zone(problem, tables, state)
        else:
            first = (i + i // z_n) % v_n  # no pair of a member and a zone twice, if that can be
            is_placed = build_greedily(problem, tables, order, first, zones[i % z_n], state)
        if not is_placed:
            continue
        ended, passed = descend(problem, tables, state, seen, passed)
        if not ended:
            continue
        cost = cost_of(tables, state.zone)
        if cost < best and cost < tables.forbidden_cost[0]:
            best = cost
            copy(state.zone, zone_out)
    return best


@kernel
def all_in_one_zone(problem, tables, state):
    """Put all members into the zone where that costs least, the lowest of equals; False if no zone holds them all."""
    zone = state.zone
    least, chosen = tables.forbidden_cost[0], UNPLACED
    for z in range(problem.cost.shape[1]):
        if zone_holds_all(problem, z):
            zone[:] = z
            cost = cost_of(tables, zone)
            if cost < least:
                least, chosen = cost, z
    clear(problem, tables, state)
    if chosen >= 0:
        for v in range(len(zone)):
            put(problem, tables, state, v, chosen)
    return chosen >= 0


@kernel
def zone_holds_all(problem, z):
    """Does zone z hold all members (4a)?"""
    for r in range(problem.available.shape[1]):
        used = 0
        for v in range(len(problem.demand)):
            used += problem.demand[v, r]
        if used > problem.available[z, r]:
            return False
    return True


@kernel
def build_greedily(problem, tables, order, first, z, state):
    """Put member order[first] into zone z, then the others greedily; False if one fits nowhere."""
    clear(problem, tables, state)
    for i in range(len(order)):
        v = order[(first + i) % len(order)]
        if i > 0:
            z = cheapest(problem, tables, state, v)
        elif not fits(problem, state.free, v, z):
            z = UNPLACED
        if z < 0:
            return False
        put(problem, tables, state, v, z)
    return True


@kernel
def clear(problem, tables, state):
    """No member has a zone."""
    zone, free, marginal_cost = state
    zone[:] = UNPLACED
    for z in range(len(free)):
        copy(problem.available[z], free[z])
    for v in range(len(zone)):
        copy(tables.single[v], marginal_cost[v])


@kernel
def put(problem, tables, state, v, z):
    """Member v, which had no zone, goes into zone z."""
    zone, free, marginal_cost = state
    zone[v] = z
    for r in range(free.shape[1]):
        free[z, r] -= problem.demand[v, r]
    for w in range(len(zone)):
        if tables.talks[v, w]:
            for x in range(len(free)):
                marginal_cost[w, x] += tables.pair[v, w, z, x]


@kernel
def cheapest(problem, tables, state, v):
    """The zone where member v costs least and fits; -1 if there is none. Ties: the lowest zone."""
    zone, free, marginal_cost = state
    least, chosen = tables.forbidden_cost[0], UNPLACED
    for z in range(len(free)):
        if marginal_cost[v, z] < least and fits(problem, free, v, z):
            zone[v] = z
            if links_fit(problem, zone, v):
                least, chosen = marginal_cost[v, z], z
            zone[v] = UNPLACED
    return chosen


@kernel
def was_passed(zone, seen, passed):
    """Is the placement among the first `passed` rows?"""
    for row in range(passed):
        same = True
        for v in range(len(zone)):
            if seen[row, v] != zone[v]:
                same = False
                break
        if same:
            return True
    return False


@kernel
def descend(problem, tables, state, seen, passed):
    """Move one member, and where that does not help two, as long as that makes the placement cheaper. Members in their order.

    False if it comes to a placement that was passed before; and how many rows of `seen` are in use.

    Where much costs nothing, rounding looks like a gain to every move. So the whole cost says whether a round has helped: it
    falls with each round but the last, and the number of placements is finite.
    """
    cost, before = cost_of(tables, state.zone), np.inf
    while cost < before:
        before = cost
        if was_passed(state.zone, seen, passed):
            return False, passed
        if passed < len(seen):
            copy(state.zone, seen[passed])
            passed += 1
        for v in range(len(state.zone)):
            move_one(problem, tables, state, v)
        cost = cost_of(tables, state.zone)
        if cost < before:
            continue
        for v in range(len(state.zone)):
            for w in range(v):
                move_two(problem, tables, state, v, w)
        cost = cost_of(tables, state.zone)
    return True, passed


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
def move(problem, tables, state, v, z):
    """Member v moves to zone z."""
    zone, free, marginal_cost = state
    y = zone[v]
    for r in range(free.shape[1]):
        free[y, r] += problem.demand[v, r]
        free[z, r] -= problem.demand[v, r]
    zone[v] = z
    for w in range(len(zone)):
        if tables.talks[v, w]:
            for x in range(len(free)):
                marginal_cost[w, x] += tables.pair[v, w, z, x] - tables.pair[v, w, y, x]


@kernel
def move_one(problem, tables, state, v):
    """Move member v to the zone where it costs least, if that is less than now. Ties: the lowest zone."""
    zone, free, marginal_cost = state
    here = zone[v]
    least, chosen = marginal_cost[v, here] * (1.0 - SLACK), here
    for z in range(len(free)):
        if marginal_cost[v, z] < least and z != here and fits(problem, free, v, z):
            zone[v] = z
            if links_fit(problem, zone, v):
                least, chosen = marginal_cost[v, z], z
            zone[v] = here
    if chosen != here:
        move(problem, tables, state, v, chosen)
    return chosen != here


@kernel
def move_two(problem, tables, state, v, w):
    """Move members v and w to where they cost least together, if that is less than now. Ties: the lowest zones.

    No pair costs less than nothing, so zones whose own costs exceed the best need no test.
    """
    zone, free, marginal_cost = state
    at_v, at_w = zone[v], zone[w]
    talks = tables.talks[v, w]
    least = (marginal_cost[v, at_v] + marginal_cost[w, at_w] - (tables.pair[v, w, at_v, at_w] if talks else 0.0)) * (1.0 - SLACK)
    new_v, new_w = at_v, at_w
    lowest_w = lowest_without(tables, marginal_cost, w, v, at_v)
    for r in range(free.shape[1]):
        free[at_v, r] += problem.demand[v, r]
        free[at_w, r] += problem.demand[w, r]
    for y in range(len(free)):
        alone_v = marginal_cost[v, y] - (tables.pair[w, v, at_w, y] if talks else 0.0)
        if alone_v + lowest_w >= least or not fits(problem, free, v, y):
            continue
        for r in range(free.shape[1]):
            free[y, r] -= problem.demand[v, r]
        for z in range(len(free)):
            both = alone_v + marginal_cost[w, z]
            if talks:
                both += tables.pair[v, w, y, z] - tables.pair[v, w, at_v, z]
            if both < least and fits(problem, free, w, z) and both_pass(problem, zone, v, w, y, z):
                least, new_v, new_w = both, y, z
        for r in range(free.shape[1]):
            free[y, r] += problem.demand[v, r]
    for r in range(free.shape[1]):
        free[at_v, r] -= problem.demand[v, r]
        free[at_w, r] -= problem.demand[w, r]
    if new_v == at_v and new_w == at_w:
        return False
    move(problem, tables, state, v, new_v)
    move(problem, tables, state, w, new_w)
    return True


@kernel
def lowest_without(tables, marginal_cost, w, v, at_v):
    """The least that member w costs in any zone beside all but v."""
    lowest = np.inf
    for z in range(marginal_cost.shape[1]):
        cost = marginal_cost[w, z] - (tables.pair[v, w, at_v, z] if tables.talks[v, w] else 0.0)
        lowest = min(lowest, cost)
    return lowest


@kernel
def both_pass(problem, zone, v, w, y, z):
    """Would all links keep their bandwidth with v in zone y and w in zone z?"""
    at_v, at_w = zone[v], zone[w]
    zone[v], zone[w] = UNPLACED, z
    good = links_fit(problem, zone, w)
    if good:
        zone[v] = y
        good = links_fit(problem, zone, v)
    zone[v], zone[w] = at_v, at_w
    return good
