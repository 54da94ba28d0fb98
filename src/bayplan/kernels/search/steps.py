"""Steps of the annealing. Items are lifted only once tests without lifting have let a move pass.

`shift_step` tries a few machines for one item. `swap_step` exchanges it with the best of a few items of a machine.
`eject_step` puts it on a machine that is too full and puts what must leave elsewhere: one victim that goes to a third machine
is a replace, several are the ejection of a big container's neighbours.
"""

import numpy as np

from bayplan.kernels.jit import kernel
from bayplan.kernels.random import below, uniform
from bayplan.kernels.search.delta_cost import delta_cost, extra_moves, machine_cost
from bayplan.kernels.search.eject import COST_WORK, LIFT_WORK, choose_victims, undo
from bayplan.kernels.search.feasible import extra_unmet, fits_ignoring_dependencies, within_capacity
from bayplan.kernels.search.incumbent import record_move, update_best
from bayplan.kernels.search.lift_drop import drop, lift
from bayplan.kernels.search.reach import list_size, listed_machine, random_machine
from bayplan.kernels.search.skew import others_keep_skew
from bayplan.kernels.search.state import MAX_MOVES, MOVED, NOWHERE, SKEWED, UNMET
from bayplan.kernels.search.unlifted import (
    arrival_floor,
    fits_after_swap,
    keeps_anti_affinity,
    max_saving,
    may_enter,
    pair_mean_cost,
    shift_floor,
    swap_mean_cost,
    unmet_saving,
)

MAX_PARTNERS = 12  # items of a machine that are compared for a swap


@kernel
def metropolis_slack(rng, temperature):
    """Metropolis' rule, drawn beforehand: the most that a state may be worse by."""
    return -temperature * np.log(uniform(rng)) if temperature > 0.0 else 0.0


@kernel
def within_max_moves(state, i, m):
    """Does the limit on moves allow the lifted item on the machine?"""
    at, ints = state.at[0], state.ints
    return ints[at.tally + MOVED] + extra_moves(state, i, m) <= ints[at.tally + MAX_MOVES]


@kernel
def shift_step(state, i, settings, rng, temperature, loose, incumbent, lifted):
    """Let an item walk over a few machines, its home first; was it moved?

    It is lifted once one of them passes the tests without lifting.
    """
    at, ints, floats = state.at[0], state.ints, state.floats
    origin, total, emptied = ints[at.machine_of + i], floats[at.total], np.nan
    here, here_cost, unmet = origin, 0.0, 0
    for t in range(settings.shift_tries):
        m = ints[at.home + i] if t == 0 and origin != ints[at.home + i] else random_machine(state, i, rng)
        lifted.work[0] += 1
        if m == here or m == NOWHERE:
            continue
        if ints[at.machine_of + i] == NOWHERE:
            slack = metropolis_slack(rng, temperature)
        else:
            if not may_enter(state, i, m):
                continue
            if np.isnan(emptied):
                emptied = machine_cost(state, origin, at.empty_kind, ints[at.kind_of + i])
            lifted.work[0] += COST_WORK
            slack = metropolis_slack(rng, temperature)
            if shift_floor(state, i, m, emptied) > slack:
                continue
            lift(state, i)
            lifted.work[0] += 2 * LIFT_WORK
            here_cost, unmet = total - floats[at.total], extra_unmet(state, i, origin)
        if not fits_ignoring_dependencies(state, i, m) or not within_max_moves(state, i, m):
            continue
        if not others_keep_skew(state, i, origin, m):
            continue
        if loose or extra_unmet(state, i, m) <= unmet:
            lifted.work[0] += COST_WORK
            there = delta_cost(state, i, m)
            if there - here_cost <= slack:
                here, here_cost = m, there
    if ints[at.machine_of + i] != NOWHERE:
        return False
    drop(state, i, here)
    if here == origin:
        floats[at.total] = total
        return False
    record_move(incumbent, i, origin)
    update_best(incumbent, state)
    return True


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
    slack = metropolis_slack(rng, temperature)
    j = best_partner(state, i, m, slack, rng)
    lifted.work[0] += min(ints[at.items_on_size + m], MAX_PARTNERS)
    if j < 0:
        return False
    total, unmet, skewed = state.floats[at.total], ints[at.tally + UNMET], ints[at.tally + SKEWED]
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
    if not (good and (loose or ints[at.tally + UNMET] <= unmet) and ints[at.tally + SKEWED] <= skewed):
        undo(state, lifted, placed, 2, total)
        return False
    record_move(incumbent, i, lifted.origin[0])
    record_move(incumbent, j, lifted.origin[1])
    update_best(incumbent, state)
    return True


@kernel
def cheapest_of_few(state, j, m, settings, rng, lifted):
    """The cheapest of the first few machines but m that an ejected item fits on; -1 if there is none.

    The first lifted item's old machine is tried first, then the item's home, then its list from a random machine on.
    """
    at = state.at[0]
    target, least, feasible, home = -1, np.inf, 0, state.ints[at.home + j]
    size = list_size(state, j)
    first = below(rng, max(1, size))
    for t in range(-2, min(settings.eject_tries, size)):
        there = lifted.origin[0] if t == -2 else home if t == -1 else listed_machine(state, j, first, t)
        lifted.work[0] += 1
        if there != m and there != NOWHERE and fits_ignoring_dependencies(state, j, there):
            lifted.work[0] += COST_WORK
            cost = delta_cost(state, j, there)
            if cost < least:
                target, least = there, cost
            feasible += 1
            if feasible == settings.eject_finds:
                break
    return target


@kernel
def cheapest_refuge(state, i, m, j, settings, rng, limit, lifted):
    """Item i comes to m and j leaves it: where the objective changes least if j goes there, of a few machines.

    -1 if it changes by more than `limit`. Nothing is lifted, and nothing is certain but that what is left out is worse.
    """
    at, ints, floats = state.at[0], state.ints, state.floats
    k, other, origin, home = ints[at.kind_of + i], ints[at.kind_of + j], ints[at.machine_of + i], ints[at.home + j]
    emptied = machine_cost(state, origin, at.empty_kind, k)
    fixed = emptied - floats[at.cost + origin] + machine_cost(state, m, k, other) - floats[at.cost + m]
    target, least, feasible = -1, limit - fixed - arrival_floor(state, i, m) + unmet_saving(state), 0
    if least < -max_saving(state, j) and at.pairs == 0 and at.variance_priced == 0:
        return -1
    size = list_size(state, j)
    first = below(rng, max(1, size))
    for t in range(-2, min(settings.eject_tries, size)):
        there = origin if t == -2 else home if t == -1 else listed_machine(state, j, first, t)
        lifted.work[0] += 1
        if there == m or there == NOWHERE or (there == origin and t > -2):
            continue
        if not (fits_after_swap(state, j, origin, i) if there == origin else within_capacity(state, j, there)):
            continue
        if not keeps_anti_affinity(state, j, there, i):
            continue
        lifted.work[0] += COST_WORK
        if there == origin:
            cost = machine_cost(state, origin, other, k) - emptied
        else:
            cost = machine_cost(state, there, other, at.empty_kind) - floats[at.cost + there]
        if at.variance_priced == 1:
            cost += pair_mean_cost(state, i, m, j, there)
        cost += arrival_floor(state, j, there)
        if cost <= least:
            target, least = there, cost
        feasible += 1
        if feasible == settings.eject_finds:
            break
    return target


@kernel
def eject_step(state, i, m, most, settings, rng, temperature, loose, incumbent, lifted):
    """Put item i on machine m; at most `most` items that must leave go to its old machine or elsewhere. Was it done?"""
    at, ints = state.at[0], state.ints
    if not keeps_anti_affinity(state, i, m, NOWHERE):
        return False
    n = choose_victims(state, rng, i, m, settings.scan, most, lifted)
    if n == 1 or (n == 2 and ints[at.kind_of + i] == ints[at.kind_of + lifted.item[1]]):  # two of one kind: a shift
        return False
    slack, refuge = metropolis_slack(rng, temperature), -1
    if n == 2:
        refuge = cheapest_refuge(state, i, m, lifted.item[1], settings, rng, slack, lifted)
        if refuge < 0:
            return False
    total, unmet, skewed = state.floats[at.total], ints[at.tally + UNMET], ints[at.tally + SKEWED]
    for e in range(n):
        lifted.origin[e] = lift(state, lifted.item[e])
    placed, good = 0, fits_ignoring_dependencies(state, i, m)
    while good and placed < n:
        target = m if placed == 0 else refuge
        if placed > 0 and n > 2:
            target = cheapest_of_few(state, lifted.item[placed], m, settings, rng, lifted)
        elif placed > 0 and not fits_ignoring_dependencies(state, lifted.item[1], refuge):
            target = -1
        if target < 0:
            good = False
            break
        drop(state, lifted.item[placed], target)
        placed += 1
        sure = state.floats[at.total] - state.floats[at.unmet_price] * ints[at.tally + UNMET]
        good = sure <= total + slack  # what is still lifted will hardly make it cheaper
    lifted.work[0] += (n + placed) * LIFT_WORK
    good = good and state.floats[at.total] <= total + slack and ints[at.tally + MOVED] <= ints[at.tally + MAX_MOVES]
    if not (good and (loose or ints[at.tally + UNMET] <= unmet) and ints[at.tally + SKEWED] <= skewed):
        undo(state, lifted, placed, n, total)
        lifted.work[0] += (n + placed) * LIFT_WORK
        return False
    for e in range(n):
        record_move(incumbent, lifted.item[e], lifted.origin[e])
    update_best(incumbent, state)
    return True
