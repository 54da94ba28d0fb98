"""Noisy local search: one item at a time goes where the objective is least, alone, in a swap, or by ejecting others.

After Gavranović, Buljubašić, Demirović: Variable neighborhood search for Google machine reassignment problem (2012). Steps
never worsen the objective of the moment. What leads out of local optima is that the objective changes for a while
(`delta_cost.reweight`).
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import kernel
from bayplan.kernels.random import below, uniform
from bayplan.kernels.search.delta_cost import delta_cost, extra_moves
from bayplan.kernels.search.eject import MAX_LIFTED, LiftedSet, choose_victims, undo
from bayplan.kernels.search.feasible import fits, fits_if_emptied, fits_ignoring_dependencies, keeps_count_rules, others_kept
from bayplan.kernels.search.incumbent import Incumbent, ensure_space, record_move, update_best
from bayplan.kernels.search.lift_drop import drop, lift
from bayplan.kernels.search.reach import random_reachable
from bayplan.kernels.search.state import MAX_MOVES, MOVED, SKEWED, UNMET


class VisitSettings(NamedTuple):
    """What all visits share."""

    order: npt.NDArray[np.int64]  # movable items, the biggest first
    rng: npt.NDArray[np.uint64]  # (1,)
    incumbent: Incumbent
    lifted: LiftedSet
    tries: int  # machines or swap partners tried for an item
    swap_share: float  # of the visits
    eject_share: float  # of the visits
    perturbed: bool  # the objective is not the true one: no placement counts as the best


@kernel
def update_best_unless_perturbed(state, settings):
    """Make the present the incumbent if it is the best so far."""
    if not settings.perturbed:
        update_best(settings.incumbent, state)


@kernel
def no_worse(state, total, unmet, skewed):
    """After a step: does it cost no more, is no further dependency unmet, nothing more beyond skew, the limit on moves kept?"""
    at, ints = state.at[0], state.ints
    within = ints[at.tally + UNMET] <= unmet and ints[at.tally + MOVED] <= ints[at.tally + MAX_MOVES]
    within = within and ints[at.tally + SKEWED] <= skewed
    return within and state.floats[at.total] <= total


@kernel
def cheapest(state, i, never, tries, rng):
    """The machine but `never` where the lifted item costs least, of all or of `tries` random ones; -1 if none fits."""
    n_m = state.at[0].machines
    best, least = -1, np.inf
    first = below(rng, n_m)
    for t in range(min(tries, n_m)):
        m = first + t if tries >= n_m else below(rng, n_m)
        m = m if m < n_m else m - n_m
        if m != never and fits(state, i, m):
            cost = delta_cost(state, i, m)
            if cost < least:
                best, least = m, cost
    return best


@kernel
def shift_visit(state, i, settings):
    """Put an item where it costs least."""
    at, ints = state.at[0], state.ints
    origin = lift(state, i)
    m = cheapest(state, i, origin, settings.tries, settings.rng)
    here = origin
    if m >= 0 and delta_cost(state, i, m) < delta_cost(state, i, origin) and others_kept(state, i, origin, m):
        if ints[at.tally + MOVED] + extra_moves(state, i, m) <= ints[at.tally + MAX_MOVES]:
            here = m
    drop(state, i, here)
    if here != origin:
        record_move(settings.incumbent, i, origin)
        update_best_unless_perturbed(state, settings)


@kernel
def swap_visit(state, i, m, settings):
    """Exchange an item with the first on machine m for which that is no worse."""
    at, ints, small = state.at[0], state.ints, state.small
    n, origin = ints[at.items_on_size + m], ints[at.machine_of + i]
    total, unmet, skewed = state.floats[at.total], ints[at.tally + UNMET], ints[at.tally + SKEWED]
    lift(state, i)
    first = below(settings.rng, n) if n > 0 else 0
    for e in range(min(n, settings.tries)):
        j = small[at.items_on + m * at.slots + (first + e if first + e < n else first + e - n)]
        if ints[at.movable + j] == 0 or ints[at.kind_of + j] == ints[at.kind_of + i] or not fits_if_emptied(state, j, origin):
            continue
        lift(state, j)
        if fits_ignoring_dependencies(state, i, m):
            drop(state, i, m)
            if fits_ignoring_dependencies(state, j, origin):
                drop(state, j, origin)
                if no_worse(state, total, unmet, skewed):
                    record_move(settings.incumbent, i, origin)
                    record_move(settings.incumbent, j, m)
                    update_best_unless_perturbed(state, settings)
                    return
                lift(state, j)
            lift(state, i)
        drop(state, j, m)
    drop(state, i, origin)
    state.floats[at.total] = total


@kernel
def eject_visit(state, i, m, settings):
    """Put an item on machine m; what must leave goes where it costs least. Undone if that costs more."""
    at, lifted = state.at[0], settings.lifted
    total, unmet, skewed = state.floats[at.total], state.ints[at.tally + UNMET], state.ints[at.tally + SKEWED]
    lifted.item[0] = i
    lifted.origin[0] = lift(state, i)
    n, placed = 1, 0
    if keeps_count_rules(state, i, m) and not fits(state, i, m):
        n = choose_victims(state, settings.rng, i, m, at.slots, MAX_LIFTED, lifted)
        for e in range(1, n):
            lifted.origin[e] = lift(state, lifted.item[e])
    good = fits(state, i, m)
    while good and placed < n:
        target = m if placed == 0 else cheapest(state, lifted.item[placed], m, settings.tries, settings.rng)
        good = target >= 0
        if good:
            drop(state, lifted.item[placed], target)
            placed += 1
            good = state.floats[at.total] <= total  # what is still to be placed hardly ever pays
    if not (good and no_worse(state, total, unmet, skewed)):
        undo(state, lifted, placed, n, total)
        return
    for e in range(n):
        record_move(settings.incumbent, lifted.item[e], lifted.origin[e])
    update_best_unless_perturbed(state, settings)


@kernel
def visit(state, settings, prefix, visits):
    """Make `visits` visits of random items among the `prefix` biggest; their number."""
    for _ in range(visits):
        ensure_space(settings.incumbent, state)
        i = settings.order[below(settings.rng, prefix)]
        kind = uniform(settings.rng)
        if kind >= settings.swap_share + settings.eject_share:
            shift_visit(state, i, settings)
            continue
        m = random_reachable(state, i, settings.rng)
        if m >= 0 and kind < settings.swap_share:
            swap_visit(state, i, m, settings)
        elif m >= 0:
            eject_visit(state, i, m, settings)
    return visits
