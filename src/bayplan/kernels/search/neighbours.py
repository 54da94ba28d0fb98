"""[FreeContainer] Algorithm 3, Search: shift, swap and replace between hot, non-hot and spare servers."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import kernel
from bayplan.kernels.random import below
from bayplan.kernels.search.delta_cost import delta_cost
from bayplan.kernels.search.feasible import fits_ignoring_dependencies
from bayplan.kernels.search.incumbent import Incumbent, ensure_space, record_move, update_best
from bayplan.kernels.search.lift_drop import drop, lift
from bayplan.kernels.search.state import MAX_MOVES, MOVED, NOWHERE, SKEWED, UNMET
from bayplan.kernels.search.sweep import may_move, utilisation_of

SELECTED = 3  # servers of each set that one search examines
LEAST_GAIN = 1e-12  # of the objective: less is rounding
FIRST, FIRST_TO, SECOND, SECOND_TO = range(4)  # of `best_move`: item, machine, item or NOWHERE, machine


class NeighbourhoodSearch(NamedTuple):
    """What the three searches share."""

    utilisation: npt.NDArray[np.float64]  # (machine,) U(h)
    rank: npt.NDArray[np.int64]  # (machine,) machines, the hottest first
    top: int  # hot servers, and as many spare ones
    rng: npt.NDArray[np.uint64]  # (1,)
    incumbent: Incumbent
    best_move: npt.NDArray[np.int64]  # (4,) the best move of this iteration
    best_change: npt.NDArray[np.float64]  # (1,) its change of the objective, negative


@kernel
def sort_by_utilisation(data):
    """Line 3: machines by utilisation. Few have changed, so insertion is fast."""
    utilisation, rank = data.utilisation, data.rank
    for e in range(1, len(rank)):
        m = rank[e]
        at = e
        while at > 0 and utilisation[rank[at - 1]] < utilisation[m]:
            rank[at] = rank[at - 1]
            at -= 1
        rank[at] = m


@kernel
def pick(data, first, size, e):
    """The e-th selected machine of a range of ranks: every one if they are few, else a random one."""
    return data.rank[first + (e if size <= SELECTED else below(data.rng, size))]


@kernel
def note_if_best(state, data, change, i, m, j, target):
    """Remember a move if it is the best of this iteration."""
    if change < data.best_change[0]:
        data.best_change[0] = change
        (
            data.best_move[FIRST],
            data.best_move[FIRST_TO],
            data.best_move[SECOND],
            data.best_move[SECOND_TO],
        ) = i, m, j, target


@kernel
def shift_search(state, i, origin, data):
    """Line 5, one item of a hot server: the best selected spare server for it. The item is lifted."""
    n_m, top = state.at[0].machines, data.top
    here = delta_cost(state, i, origin)
    for e in range(min(top, SELECTED)):
        m = pick(data, n_m - top, top, e)
        if may_move(state, i, origin, m):
            note_if_best(state, data, delta_cost(state, i, m) - here, i, m, NOWHERE, NOWHERE)


@kernel
def pair_is_best(state, data, total, unmet, skewed, j, target):
    """Item i of the pair has been dropped, j is lifted: do rules allow j on `target`, and is that the best move so far?"""
    at, ints = state.at[0], state.ints
    if not fits_ignoring_dependencies(state, j, target):
        return False
    if state.floats[at.total] + delta_cost(state, j, target) - total >= data.best_change[0]:
        return False
    drop(state, j, target)
    allowed = ints[at.tally + UNMET] <= unmet and ints[at.tally + SKEWED] <= skewed
    allowed = allowed and ints[at.tally + MOVED] <= ints[at.tally + MAX_MOVES]
    lift(state, j)
    return allowed


@kernel
def swap_search(state, i, origin, data, total, unmet, skewed):
    """Line 6, one item of a hot server: the best item of selected non-hot servers to swap with. Item i is lifted."""
    at, ints = state.at[0], state.ints
    n_m, top = at.machines, data.top
    for e in range(min(n_m - top, SELECTED)):
        m = pick(data, top, n_m - top, e)
        for slot in range(ints[at.items_on_size + m] - 1, -1, -1):  # backwards: what was lifted and dropped is at the end
            j = state.small[at.items_on + m * at.slots + slot]
            if ints[at.movable + j] == 0 or ints[at.kind_of + j] == ints[at.kind_of + i]:
                continue
            lift(state, j)
            if fits_ignoring_dependencies(state, i, m):
                drop(state, i, m)
                if pair_is_best(state, data, total, unmet, skewed, j, origin):
                    note_if_best(state, data, state.floats[at.total] + delta_cost(state, j, origin) - total, i, m, j, origin)
                lift(state, i)
            drop(state, j, m)


@kernel
def replace_search(state, i, data, total, unmet, skewed):
    """Line 7, one item of a hot server: the best relay server one of whose zombies goes to a spare server. Item i is lifted.

    A zombie is an item that is planned here but runs elsewhere: moving it again is free.
    """
    at, ints = state.at[0], state.ints
    n_m, top = at.machines, data.top
    for e in range(min(n_m - top, SELECTED)):
        m = pick(data, top, n_m - top, e)
        for slot in range(ints[at.items_on_size + m] - 1, -1, -1):
            j = state.small[at.items_on + m * at.slots + slot]
            if ints[at.movable + j] == 0 or ints[at.home + j] == m or ints[at.home + j] == NOWHERE:
                continue
            lift(state, j)
            if fits_ignoring_dependencies(state, i, m):
                drop(state, i, m)
                for t in range(min(top, SELECTED)):
                    target = pick(data, n_m - top, top, t)
                    if target != m and pair_is_best(state, data, total, unmet, skewed, j, target):
                        note_if_best(state, data, state.floats[at.total] + delta_cost(state, j, target) - total, i, m, j, target)
                lift(state, i)
            drop(state, j, m)


@kernel
def search_neighbourhoods(state, data):
    """Lines 5-7: all three searches over selected hot servers; the best move goes into `best_move`."""
    at, ints = state.at[0], state.ints
    total, unmet, skewed = state.floats[at.total], ints[at.tally + UNMET], ints[at.tally + SKEWED]
    data.best_change[0] = -LEAST_GAIN * abs(total)
    data.best_move[FIRST] = NOWHERE
    for e in range(min(data.top, SELECTED)):
        h = pick(data, 0, data.top, e)
        for slot in range(ints[at.items_on_size + h] - 1, -1, -1):
            i = state.small[at.items_on + h * at.slots + slot]
            if ints[at.movable + i] == 1:
                lift(state, i)
                shift_search(state, i, h, data)
                swap_search(state, i, h, data, total, unmet, skewed)
                replace_search(state, i, data, total, unmet, skewed)
                drop(state, i, h)
                state.floats[at.total] = total  # exactly as before


@kernel
def move_item(state, i, m, data):
    """Move one item."""
    origin = lift(state, i)
    drop(state, i, m)
    record_move(data.incumbent, i, origin)
    data.utilisation[origin], data.utilisation[m] = (
        utilisation_of(state, origin, 0, 0),
        utilisation_of(state, m, 0, 0),
    )


@kernel
def local_search(state, data, rounds, patience, idle):
    """At most `rounds` iterations of lines 2-9; their number. Fewer: `patience` in a row found nothing (`idle` counts)."""
    for done in range(rounds):
        if idle[0] >= patience:
            return done
        sort_by_utilisation(data)
        search_neighbourhoods(state, data)
        idle[0] += 1
        if data.best_move[FIRST] != NOWHERE:
            idle[0] = 0
            ensure_space(data.incumbent, state)
            move_item(state, data.best_move[FIRST], data.best_move[FIRST_TO], data)
            if data.best_move[SECOND] != NOWHERE:
                move_item(state, data.best_move[SECOND], data.best_move[SECOND_TO], data)
            update_best(data.incumbent, state)
    return rounds
