"""Swaps of one item with an item of a machine: compared by load without lifting; the best is then tried with all rules."""

import numpy as np

from bayplan.kernels.jit import kernel
from bayplan.kernels.random import below, uniform
from bayplan.kernels.search.delta_cost import machine_cost
from bayplan.kernels.search.eject import LIFT_WORK, undo
from bayplan.kernels.search.feasible import fits_ignoring_dependencies
from bayplan.kernels.search.incumbent import record_move, update_best
from bayplan.kernels.search.lift_drop import drop, lift
from bayplan.kernels.search.state import MAX_MOVES, MOVED, NOWHERE, UNMET
from bayplan.kernels.search.unlifted import arrival_floor, fits_after_swap, keeps_anti_affinity, swap_mean_cost, unmet_saving

MAX_PARTNERS = 12  # items of a machine that are compared


@kernel
def best_partner(state, i, m, limit, rng):
    """Of a few items of machine m the one whose swap with item i costs least, by what needs no lifting.

    -1 if all cost more than `limit`, or violate capacity or anti-affinity.
    """
    at, ints, floats = state.at[0], state.ints, state.floats
    origin, k = ints[at.machine_of + i], ints[at.kind_of + i]
    here = floats[at.cost + origin] + floats[at.cost + m]
    partner, least = -1, limit + unmet_saving(state) - arrival_floor(state, i, m)
    size = ints[at.items_on_size + m]
    first = below(rng, size) if size > MAX_PARTNERS else 0
    for e in range(min(size, MAX_PARTNERS)):
        slot = first + e
        j = state.small[at.items_on + m * at.slots + (slot if slot < size else slot - size)]
        other = ints[at.kind_of + j]
        if (
            other == k
            or ints[at.movable + j] == 0
            or not (fits_after_swap(state, i, m, j) and fits_after_swap(state, j, origin, i))
        ):
            continue
        change = machine_cost(state, m, k, other) + machine_cost(state, origin, other, k) - here
        if at.variance_priced == 1:
            change += swap_mean_cost(state, m, k, origin, other)
        change += arrival_floor(state, j, origin)
        if change <= least and keeps_anti_affinity(state, i, m, j) and keeps_anti_affinity(state, j, origin, i):
            partner, least = j, change
    return partner


@kernel
def swap_step(state, i, m, rng, temperature, loose, incumbent, lifted):
    """Swap item i with the best partner on machine m, by Metropolis' rule; was it done?"""
    at, ints = state.at[0], state.ints
    if m == NOWHERE or m == ints[at.machine_of + i]:
        return False
    slack = -temperature * np.log(uniform(rng)) if temperature > 0.0 else 0.0
    j = best_partner(state, i, m, slack, rng)
    lifted.work[0] += min(ints[at.items_on_size + m], MAX_PARTNERS)
    if j < 0:
        return False
    total, unmet = state.floats[at.total], ints[at.tally + UNMET]
    lifted.item[0], lifted.item[1] = i, j
    lifted.work[0] += 4 * LIFT_WORK
    lifted.origin[0], lifted.origin[1] = lift(state, i), lift(state, j)
    placed = 0
    if fits_ignoring_dependencies(state, i, m):
        drop(state, i, m)
        placed = 1
        if fits_ignoring_dependencies(state, j, lifted.origin[0]):
            drop(state, j, lifted.origin[0])
            placed = 2
    good = placed == 2 and state.floats[at.total] <= total + slack and ints[at.tally + MOVED] <= ints[at.tally + MAX_MOVES]
    if not (good and (loose or ints[at.tally + UNMET] <= unmet)):
        undo(state, lifted, placed, 2, total)
        return False
    record_move(incumbent, i, lifted.origin[0])
    record_move(incumbent, j, lifted.origin[1])
    update_best(incumbent, state)
    return True
