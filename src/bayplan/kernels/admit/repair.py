"""A placement of one request that does not fit, repaired: misplaced members move where that costs least."""

import numpy as np

from bayplan.kernels.admit.local_search import clear, cost_of, move, put
from bayplan.kernels.admit.zone_problem import UNPLACED, fits, links_fit
from bayplan.kernels.jit import kernel


@kernel
def repair(problem, costs, state, zone):
    """The cost of `zone` once it fits; infinite if moves do not get there. `zone` changes.

    A member is misplaced if its zone is too full, or a link it uses is missing or too narrow. A move never misplaces another one,
    so there are at most as many moves as members. Ties: the lowest member, then the lowest zone.
    """
    clear(problem, costs, state)
    for v in range(len(zone)):
        put(problem, costs, state, v, zone[v])
    for _ in range(len(zone) + 1):
        clean, moved = repair_one(problem, costs, state)
        if clean:
            for v in range(len(zone)):
                zone[v] = state.zone[v]
            return cost_of(problem, costs, zone)
        if not moved:
            break
    return np.inf


@kernel
def repair_one(problem, costs, state):
    """Is no member misplaced? And if one was, has the cheapest move of such a member been made?"""
    at, free, marginal_cost = state.zone, state.free, state.marginal_cost
    clean, least, chosen, target = True, np.inf, UNPLACED, UNPLACED
    for v in range(len(at)):
        if not is_misplaced(problem, costs, state, v):
            continue
        clean, here = False, at[v]
        for z in range(len(free)):
            increase = marginal_cost[v, z] - marginal_cost[v, here]
            if z == here or increase >= least or marginal_cost[v, z] >= costs.forbidden_cost[0] or not fits(problem, free, v, z):
                continue
            at[v] = z
            if links_fit(problem, at, v):
                least, chosen, target = increase, v, z
            at[v] = here
    if chosen >= 0:
        move(problem, costs, state, chosen, target)
    return clean, chosen >= 0


@kernel
def is_misplaced(problem, costs, state, v):
    """Is the zone of member v too full, or a link that it uses missing or too narrow?"""
    z = state.zone[v]
    for r in range(state.free.shape[1]):
        if state.free[z, r] < 0:
            return True
    return state.marginal_cost[v, z] >= costs.forbidden_cost[0] or not links_fit(problem, state.zone, v)
