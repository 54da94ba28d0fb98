"""Annealing in counts: a container is put on a machine, what must leave goes elsewhere, Metropolis' rule decides."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.collocate.count_state import (
    MAX_MOVES,
    MOVES,
    NOWHERE,
    drop,
    gain_of,
    lift,
    loss_of,
    move_all,
    smallest_count_state,
)
from bayplan.kernels.collocate.packing_state import fits
from bayplan.kernels.jit import kernel
from bayplan.kernels.random import below, uniform

MAX_EJECTED = 12


class EjectionSettings(NamedTuple):
    """How targets and victims are drawn."""

    near: float  # share of targets that are machines of a neighbour ...
    back: float  # ... and of machines where a container of the workload ran at first
    max_ejected: int  # containers that may be ejected in one step
    samples: int  # containers drawn, of which the one with the least loss is ejected
    tries: int  # machines tried for an ejected container ...
    finds: int  # ... until that many can take it


class EjectedSet(NamedTuple):
    """The containers that one step has lifted."""

    container: npt.NDArray[np.int64]  # (MAX_EJECTED + 1,)
    origin: npt.NDArray[np.int64]  # (MAX_EJECTED + 1,)


@kernel
def can_take(state, w, m):
    """May one more container of the workload run on the machine, and is there a slot for it?"""
    return state.number_on[m] < state.containers_on.shape[1] and fits(state, w, m)


@kernel
def neighbour_of(state, w, rng):
    """A neighbour of the workload, heavy edges more often; NOWHERE if it has none."""
    low, high = state.edge_start[w], state.edge_start[w + 1]
    if low == high:
        return NOWHERE
    u = uniform(rng)
    e = low
    while e < high - 1 and state.cumulative_weight[e] < u:
        e += 1
    return state.neighbour[e]


@kernel
def near_machine(state, w, rng):
    """A machine where a neighbour of the workload runs; a random one if there is none."""
    v = neighbour_of(state, w, rng)
    if v != NOWHERE and state.first_container[v + 1] > state.first_container[v]:
        m = state.machine_of[state.first_container[v] + below(rng, state.first_container[v + 1] - state.first_container[v])]
        if m != NOWHERE:
            return np.int64(m)
    return np.int64(below(rng, len(state.number_on)))


@kernel
def choose_target(state, c, settings, rng):
    """The machine that a container is to go to: a neighbour's, one where a replica ran at first, or any."""
    w, u = state.workload_of[c], uniform(rng)
    if u < settings.near:
        return near_machine(state, w, rng)
    if u < settings.near + settings.back:
        return np.int64(
            state.start_machine[state.first_container[w] + below(rng, state.first_container[w + 1] - state.first_container[w])]
        )
    return np.int64(below(rng, len(state.number_on)))


@kernel
def choose_victim(state, m, newcomer, samples, rng):
    """Of a few containers of the machine the one whose loss is least; NOWHERE if all are of the workload that comes."""
    best, least = NOWHERE, np.inf
    for _ in range(samples):
        c = state.containers_on[m, below(rng, state.number_on[m])]
        w = state.workload_of[c]
        if w != newcomer:
            cost = loss_of(state, w, m)
            if cost < least:
                best, least = c, cost
    return best


@kernel
def machine_for_ejected(state, c, m, first_container, settings, rng):
    """The best of a few machines but m that can take an ejected container; NOWHERE if there is none."""
    w = state.workload_of[c]
    best, most, feasible = NOWHERE, -np.inf, 0
    near = state.edge_start[w] < state.edge_start[w + 1]
    for e in range(settings.tries):
        if e == 0:
            there = first_container
        elif e == 1 and settings.back > 0.0:
            there = np.int64(state.start_machine[c])
        elif near and e % 2:
            there = near_machine(state, w, rng)
        else:
            there = np.int64(below(rng, len(state.number_on)))
        if there != m and can_take(state, w, there):
            gain = gain_of(state, w, there)
            if gain > most:
                best, most = there, gain
            feasible += 1
            if feasible >= settings.finds:
                break
    return best


@kernel
def undo(state, ejected, n):
    """Return all lifted containers to where they were."""
    for e in range(n):
        if state.machine_of[ejected.container[e]] != NOWHERE:
            lift(state, ejected.container[e])
    for e in range(n):
        drop(state, ejected.container[e], ejected.origin[e])


@kernel
def shift(state, c, m, least):
    """Move a container to a machine that can take it, if that changes the worth by `least` or more; 1 if it is moved."""
    w, origin = state.workload_of[c], state.machine_of[c]
    if gain_of(state, w, m) - loss_of(state, w, origin) < least:
        return 0
    if state.tally[MOVES] >= state.tally[MAX_MOVES] and state.counts[m, w] >= state.home[m, w]:
        if state.counts[origin, w] <= state.home[origin, w]:
            return 0
    lift(state, c)
    drop(state, c, m)
    return 1


@kernel
def step(state, c, settings, rng, temperature, ejected):
    """Put a container on another machine, ejecting others; 1 if that is accepted."""
    w, origin = state.workload_of[c], np.int64(state.machine_of[c])
    m = choose_target(state, c, settings, rng)
    if m == origin or not state.allow[state.row_of[w], m]:
        return 0
    least = temperature * np.log(uniform(rng)) if temperature > 0.0 else 0.0  # Metropolis' rule, drawn beforehand
    if can_take(state, w, m):
        return shift(state, c, m, least)
    if (
        state.number_on[m] == 0 or gain_of(state, w, m) - loss_of(state, w, origin) < least
    ):  # what is ejected will hardly make up for it
        return 0
    moves = state.tally[MOVES]
    ejected.container[0], ejected.origin[0] = c, origin
    change, n = -lift(state, c), 1
    while n <= settings.max_ejected and state.number_on[m] > 0 and not can_take(state, w, m):
        out = choose_victim(state, m, w, settings.samples, rng)
        if out == NOWHERE:
            break
        ejected.container[n], ejected.origin[n] = out, m
        change -= lift(state, out)
        n += 1
    good = can_take(state, w, m)
    if good:
        change += drop(state, c, m)
        for e in range(1, n):
            there = machine_for_ejected(state, ejected.container[e], m, origin, settings, rng)
            if there == NOWHERE:
                good = False
                break
            change += drop(state, ejected.container[e], there)
    if good and change >= least and (state.tally[MOVES] <= state.tally[MAX_MOVES] or state.tally[MOVES] <= moves):
        return 1
    undo(state, ejected, n)
    return 0


@kernel
def walk(state, draw, settings, rng, temperature, steps, ejected):
    """Make `steps` steps at one temperature; the number accepted."""
    accepted = 0
    for _ in range(steps):
        accepted += step(state, draw[below(rng, len(draw))], settings, rng, temperature, ejected)
    return accepted


def new_ejected_set() -> EjectedSet:
    """An empty set."""
    return EjectedSet(np.zeros(MAX_EJECTED + 1, dtype=np.int64), np.zeros(MAX_EJECTED + 1, dtype=np.int64))


def warm_up() -> None:
    """Compile what is called from outside, with the types it uses."""
    state, settings = smallest_count_state(), EjectionSettings(near=0.5, back=0.1, max_ejected=2, samples=1, tries=2, finds=1)
    move_all(state, np.zeros(2, dtype=np.int32))
    walk(state, np.arange(2), settings, np.ones(1, dtype=np.uint64), 1.0, 10, new_ejected_set())
