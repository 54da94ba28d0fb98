"""Local search for the placement of one request ([Online clusters] IQP (4)): one member moves, or two at once."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.admit.cost_tables import pair_cost, pair_row, prepare_costs
from bayplan.kernels.admit.zone_problem import ROUNDING, UNPLACED, copy, fits, links_fit
from bayplan.kernels.jit import kernel

SLACK = 1e-10  # of the cost of the members that move: less is rounding


class ZoneState(NamedTuple):
    """A placement that fits, and what follows from it."""

    zone: npt.NDArray[np.int64]  # (member,)
    free: npt.NDArray[np.int64]  # (zone, resource)
    marginal_cost: npt.NDArray[np.float64]  # (member, zone) what a member costs there beside all the others
    flow: npt.NDArray[np.float64]  # (zone, zone) traffic from, to; the diagonal means nothing
    row: npt.NDArray[np.float64]  # (3, zone) scratch: what pairs cost, or what one member sends to each zone and gets from it


class StartLists(NamedTuple):
    """Where starts begin, and where they have been."""

    order: npt.NDArray[np.int64]  # (member,) large members first
    zones: npt.NDArray[np.int64]  # (zone,) cheap zones first
    rank: npt.NDArray[np.float64]  # (member + zone,) scratch: what both are sorted by
    seen: npt.NDArray[np.int64]  # (row, member) placements passed; the more rows, the fewer are passed twice


@kernel
def local_search(problem, costs, state, lists, starts, zone_out):
    """The least cost of `starts` starts, and its zones; infinite if none led to a placement that fits. `costs` are filled.

    The first start is the cheapest zone that holds all. Any other puts one member into a given zone and the others greedily where
    they cost least, large ones first, beginning with the one after it. Then the placement is made cheaper by exchange, until
    it is one that an earlier start has passed: from there on both are the same. Ties: the first start.
    """
    v_n, z_n = problem.cost.shape
    prepare_costs(problem, costs)
    sort_members(problem, lists.rank[:v_n], lists.order)
    sort_zones(problem, lists.rank[v_n:], lists.zones)
    best, passed = np.inf, 0
    for i in range(starts if z_n > 0 else 0):
        if i == 0:
            is_placed = all_in_one_zone(problem, costs, state)
        else:
            first = (i + i // z_n) % v_n  # no pair of a member and a zone twice, if that can be
            is_placed = build_greedily(problem, costs, lists.order, first, lists.zones[i % z_n], state)
        if not is_placed:
            continue
        ended, passed = descend(problem, costs, state, lists.seen, passed)
        if not ended:
            continue
        cost = cost_of(problem, costs, state.zone)
        if cost < best and cost < costs.forbidden_cost[0]:
            best = cost
            copy(state.zone, zone_out)
    return best


@kernel
def sort_members(problem, rank, order_out):
    """The members by the largest share that they demand of what the best zone has of a resource, the largest first."""
    rank[:] = 0.0
    for r in range(problem.demand.shape[1]):
        largest = 1
        for z in range(len(problem.available)):
            largest = max(largest, problem.available[z, r])
        for v in range(len(rank)):
            rank[v] = min(rank[v], -(problem.demand[v, r] / largest))
    sort_by(rank, order_out)


@kernel
def sort_zones(problem, rank, zones_out):
    """The zones by what all members cost there, the cheapest first."""
    rank[:] = 0.0
    for v in range(len(problem.cost)):
        for z in range(len(rank)):
            rank[z] += problem.cost[v, z]
    sort_by(rank, zones_out)


@kernel
def sort_by(rank, out):
    """The indices of ranks, the lowest rank first, then the lowest index."""
    for i in range(len(rank)):
        at = i
        while at > 0 and rank[out[at - 1]] > rank[i]:
            out[at] = out[at - 1]
            at -= 1
        out[at] = i


@kernel
def all_in_one_zone(problem, costs, state):
    """Put all members into the zone where that costs least, the lowest of equals; False if no zone holds them all."""
    zone = state.zone
    least, chosen = costs.forbidden_cost[0], UNPLACED
    for z in range(problem.cost.shape[1]):
        if zone_holds_all(problem, z):
            zone[:] = z
            cost = cost_of(problem, costs, zone)
            if cost < least:
                least, chosen = cost, z
    clear(problem, costs, state)
    if chosen >= 0:
        for v in range(len(zone)):
            put(problem, costs, state, v, chosen)
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
def build_greedily(problem, costs, order, first, z, state):
    """Put member order[first] into zone z, then the others greedily; False if one fits nowhere."""
    clear(problem, costs, state)
    for i in range(len(order)):
        v = order[(first + i) % len(order)]
        if i > 0:
            z = cheapest(problem, costs, state, v)
        elif not fits(problem, state.free, v, z):
            z = UNPLACED
        if z < 0:
            return False
        put(problem, costs, state, v, z)
    return True


@kernel
def clear(problem, costs, state):
    """No member has a zone."""
    zone, free, marginal_cost = state.zone, state.free, state.marginal_cost
    zone[:] = UNPLACED
    state.flow[:] = 0.0
    for z in range(len(free)):
        copy(problem.available[z], free[z])
    for v in range(len(zone)):
        copy(costs.single[v], marginal_cost[v])


@kernel
def put(problem, costs, state, v, z):
    """Member v, which had no zone, goes into zone z."""
    zone, free, marginal_cost = state.zone, state.free, state.marginal_cost
    zone[v] = z
    add_flow(problem, state, v, z, 1.0)
    for r in range(free.shape[1]):
        free[z, r] -= problem.demand[v, r]
    for w in range(len(zone)):
        if costs.talks[v, w]:
            row, marginal = state.row[0], marginal_cost[w]
            pair_row(problem, costs, v, w, z, row)
            for x in range(len(row)):
                marginal[x] += row[x]


@kernel
def cheapest(problem, costs, state, v):
    """The zone where member v costs least and fits; -1 if there is none. Ties: the lowest zone."""
    free, marginal_cost = state.free, state.marginal_cost
    least, chosen = costs.forbidden_cost[0], UNPLACED
    sum_traffic(problem, state, v)
    for z in range(len(free)):
        if marginal_cost[v, z] < least and fits(problem, free, v, z) and links_take(problem, state, v, z):
            least, chosen = marginal_cost[v, z], z
    return chosen


@kernel
def add_flow(problem, state, v, z, sign):
    """Add the traffic of member v in zone z with all others to the flows, or take it away."""
    for w in range(len(state.zone)):
        y = state.zone[w]
        if y >= 0 and w != v:
            state.flow[z, y] += sign * problem.traffic[v, w]
            state.flow[y, z] += sign * problem.traffic[w, v]


@kernel
def sum_traffic(problem, state, v):
    """What member v sends to the others in each zone, and gets from them: state.row[0] and state.row[1]."""
    sent, got = state.row[0], state.row[1]
    sent[:] = 0.0
    got[:] = 0.0
    for w in range(len(state.zone)):
        y = state.zone[w]
        if y >= 0 and w != v:
            sent[y] += problem.traffic[v, w]
            got[y] += problem.traffic[w, v]


@kernel
def links_take(problem, state, v, z):
    """Would all links that member v uses keep their bandwidth if it went to zone z? After `sum_traffic` of v."""
    here, sent, got = state.zone[v], state.row[0], state.row[1]
    for w in range(len(state.zone)):
        y = state.zone[w]
        if y < 0 or y == z or w == v:
            continue
        leaves = here >= 0 and y == here  # then its traffic with zone z is part of the flows now, and will not be
        to, back = state.flow[z, y] + sent[y], state.flow[y, z] + got[y]
        if leaves:
            to, back = to - got[z], back - sent[z]
        if sent[y] > 0.0 and to > problem.bandwidth[z, y] * (1.0 + ROUNDING):
            return False
        if got[y] > 0.0 and back > problem.bandwidth[y, z] * (1.0 + ROUNDING):
            return False
    return True


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
def descend(problem, costs, state, seen, passed):
    """Move one member, and where that does not help two, as long as that makes the placement cheaper. Members in their order.

    False if it comes to a placement that was passed before; and how many rows of `seen` are in use.

    Where much costs nothing, rounding looks like a gain to every move. So the whole cost says whether a round has helped: it
    falls with each round but the last, and the number of placements is finite.
    """
    cost, before = cost_of(problem, costs, state.zone), np.inf
    while cost < before:
        before = cost
        if was_passed(state.zone, seen, passed):
            return False, passed
        if passed < len(seen):
            copy(state.zone, seen[passed])
            passed += 1
        for v in range(len(state.zone)):
            move_one(problem, costs, state, v)
        cost = cost_of(problem, costs, state.zone)
        if cost < before:
            continue
        for v in range(len(state.zone)):
            for w in range(v):
                move_two(problem, costs, state, v, w)
        cost = cost_of(problem, costs, state.zone)
    return True, passed


@kernel
def cost_of(problem, costs, zone):
    """(4) of a placement."""
    total = 0.0
    for v in range(len(zone)):
        total += costs.single[v, zone[v]]
        for w in range(v):
            if costs.talks[v, w]:
                total += pair_cost(problem, costs, v, w, zone[v], zone[w])
    return total


@kernel
def move(problem, costs, state, v, z):
    """Member v moves to zone z."""
    zone, free, marginal_cost = state.zone, state.free, state.marginal_cost
    y = zone[v]
    for r in range(free.shape[1]):
        free[y, r] += problem.demand[v, r]
        free[z, r] -= problem.demand[v, r]
    add_flow(problem, state, v, y, -1.0)
    zone[v] = z
    add_flow(problem, state, v, z, 1.0)
    for w in range(len(zone)):
        if costs.talks[v, w]:
            new, old, marginal = state.row[0], state.row[1], marginal_cost[w]
            pair_row(problem, costs, v, w, z, new)
            pair_row(problem, costs, v, w, y, old)
            for x in range(len(new)):
                marginal[x] += new[x] - old[x]


@kernel
def move_one(problem, costs, state, v):
    """Move member v to the zone where it costs least, if that is less than now. Ties: the lowest zone."""
    zone, free, marginal_cost = state.zone, state.free, state.marginal_cost
    here = zone[v]
    least, chosen = marginal_cost[v, here] * (1.0 - SLACK), here
    sum_traffic(problem, state, v)
    for z in range(len(free)):
        if marginal_cost[v, z] < least and z != here and fits(problem, free, v, z) and links_take(problem, state, v, z):
            least, chosen = marginal_cost[v, z], z
    if chosen != here:
        move(problem, costs, state, v, chosen)
    return chosen != here


@kernel
def move_two(problem, costs, state, v, w):
    """Move members v and w to where they cost least together, if that is less than now. Ties: the lowest zones.

    No pair costs less than nothing, so zones whose own costs exceed the best need no test.
    """
    zone, free, marginal_cost = state.zone, state.free, state.marginal_cost
    at_v, at_w = zone[v], zone[w]
    talks = costs.talks[v, w]
    between, row, pair, beside_v = 0.0, state.row[0], state.row[1], state.row[2]
    row[:] = 0.0
    beside_v[:] = 0.0
    if talks:
        between = pair_cost(problem, costs, v, w, at_v, at_w)
        pair_row(problem, costs, w, v, at_w, row)
        pair_row(problem, costs, v, w, at_v, beside_v)
    least = (marginal_cost[v, at_v] + marginal_cost[w, at_w] - between) * (1.0 - SLACK)
    new_v, new_w = at_v, at_w
    lowest_v, lowest_w = np.inf, np.inf
    for z in range(len(free)):
        lowest_v = min(lowest_v, marginal_cost[v, z] - row[z])
        lowest_w = min(lowest_w, marginal_cost[w, z] - beside_v[z])
    if lowest_v + lowest_w >= least:
        return False
    for r in range(free.shape[1]):
        free[at_v, r] += problem.demand[v, r]
        free[at_w, r] += problem.demand[w, r]
    for y in range(len(free)):
        alone_v = marginal_cost[v, y] - row[y]
        if alone_v + lowest_w >= least or not fits(problem, free, v, y):
            continue
        for r in range(free.shape[1]):
            free[y, r] -= problem.demand[v, r]
        if talks:
            pair_row(problem, costs, v, w, y, pair)
        for z in range(len(free)):
            both = alone_v + marginal_cost[w, z]
            if talks:
                both += pair[z] - beside_v[z]
            if both < least and fits(problem, free, w, z) and both_pass(problem, zone, v, w, y, z):
                least, new_v, new_w = both, y, z
        for r in range(free.shape[1]):
            free[y, r] += problem.demand[v, r]
    for r in range(free.shape[1]):
        free[at_v, r] -= problem.demand[v, r]
        free[at_w, r] -= problem.demand[w, r]
    if new_v == at_v and new_w == at_w:
        return False
    move(problem, costs, state, v, new_v)
    move(problem, costs, state, w, new_w)
    return True


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
