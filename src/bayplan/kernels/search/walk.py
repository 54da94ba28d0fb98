"""Annealing: items are lifted and dropped, worse states are accepted by Metropolis' rule.

Each step is one of several *moves*: a shift, a swap, or an ejection with a limit on its victims (`steps`). The
`Mixture` says how often each is drawn, and counts what each costs and yields. `cost_scale` measures the scale of the
temperatures.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import kernel
from bayplan.kernels.random import below, uniform
from bayplan.kernels.search.delta_cost import delta_cost, machine_cost
from bayplan.kernels.search.eject import COST_WORK
from bayplan.kernels.search.feasible import dependants_kept, dependencies_met, fits_ignoring_dependencies
from bayplan.kernels.search.incumbent import ensure_space
from bayplan.kernels.search.lift_drop import drop, lift
from bayplan.kernels.search.reach import random_machine, random_reachable
from bayplan.kernels.search.skew import others_keep_skew
from bayplan.kernels.search.state import NOWHERE, State
from bayplan.kernels.search.steps import eject_step, shift_step, swap_step
from bayplan.kernels.search.unlifted import shift_floor

SHIFT, SWAP, EJECT = range(3)  # moves; from EJECT on ejections of ever more victims
PROBES = 4  # machines tried for an item to measure the scale of costs


class StepSettings(NamedTuple):
    """How far each step looks."""

    shift_tries: int  # machines tried for an item
    eject_tries: int  # machines tried for an ejected item, at most
    eject_finds: int  # ... until that many fit
    scan: int  # items of a machine examined for a victim, at most


class Mixture(NamedTuple):
    """How often each move is drawn, and what came of it."""

    up_to: npt.NDArray[np.float64]  # (move,) cumulative shares of the steps
    victims: npt.NDArray[np.int64]  # (move,) that an ejection may have
    pairs: npt.NDArray[np.int64]  # (move,) of an item and a machine, that an ejection is chosen from
    steps: npt.NDArray[np.int64]  # (move,) made
    done: npt.NDArray[np.int64]  # (move,) of these, those that moved something
    gain: npt.NDArray[np.float64]  # (move,) sum of what the objective fell by in steps that made it fall
    work: npt.NDArray[np.int64]  # (move,) units of work


def new_mixture(victims: npt.NDArray[np.int64], pairs: npt.NDArray[np.int64]) -> Mixture:
    """Moves that have not been made yet; `victims`, `pairs`: what `Mixture` has."""
    moves, none = len(victims), np.zeros(len(victims), dtype=np.int64)
    return Mixture(np.arange(1.0, moves + 1.0) / moves, victims, pairs, none, none.copy(), np.zeros(moves), none.copy())


@kernel
def draw_move(mixture, rng):
    """A random move."""
    share, move = uniform(rng), 0
    while move < len(mixture.up_to) - 1 and share > mixture.up_to[move]:
        move += 1
    return move


@kernel
def cheapest_pair(state, sized, pairs, rng, lifted):
    """An item and a machine: of a few random pairs the one that costs least, fits or not. The machine is -1 if there is none."""
    at, ints = state.at[0], state.ints
    item, machine, least = sized[below(rng, len(sized))], -1, np.inf
    for _ in range(pairs):
        i = sized[below(rng, len(sized))]
        m = random_reachable(state, i, rng)
        if m < 0:
            continue
        if pairs == 1:
            return i, m
        lifted.work[0] += 2 * COST_WORK
        left = machine_cost(state, ints[at.machine_of + i], at.empty_kind, ints[at.kind_of + i])
        change = shift_floor(state, i, m, left)
        if change < least:
            item, machine, least = i, m, change
    return item, machine


@kernel
def walk(state, movable, sized, settings, mixture, rng, temperature, loose, steps, incumbent, lifted):
    """Make `steps` steps at one temperature. `loose`: may dependencies be violated on the way?"""
    at = state.at[0]
    for _ in range(steps):
        ensure_space(incumbent, state)
        move, total, done = draw_move(mixture, rng), state.floats[at.total], False
        lifted.work[0] = 1
        if move == SHIFT:
            i = movable[below(rng, len(movable))]
            done = shift_step(state, i, settings, rng, temperature, loose, incumbent, lifted)
        elif move == SWAP:
            i = sized[below(rng, len(sized))]
            done = swap_step(state, i, random_machine(state, i, rng), rng, temperature, loose, incumbent, lifted)
        else:
            i, m = cheapest_pair(state, sized, mixture.pairs[move], rng, lifted)
            if m >= 0:
                most = mixture.victims[move]
                done = eject_step(state, i, m, most, settings, rng, temperature, loose, incumbent, lifted)
        mixture.steps[move] += 1
        mixture.work[move] += lifted.work[0]
        if done:
            mixture.done[move] += 1
            mixture.gain[move] += max(0.0, total - state.floats[at.total])


@kernel
def cost_scale(
    state: State,
    movable: npt.NDArray[np.int64],
    rng: npt.NDArray[np.uint64],
    scale_out: npt.NDArray[np.float64],
    rise_out: npt.NDArray[np.float64],
) -> int:
    """Over random moves that all rules but dependencies allow: mean size of the cost change, share that dependencies forbid.

    Both are 0 if no such move was found. Up to the length of `rise_out` moves are tested; it lists the changes of those that
    cost more, and their number is returned. Nothing moves.
    """
    at = state.at[0]
    size, tested, forbidden, rises = 0.0, 0, 0, 0
    for _ in range(len(rise_out) // PROBES):
        i = movable[below(rng, len(movable))]
        total = state.floats[at.total]
        origin = lift(state, i)
        here = delta_cost(state, i, origin)
        for _ in range(PROBES):
            m = random_machine(state, i, rng)
            if m == origin or m == NOWHERE:
                continue
            if fits_ignoring_dependencies(state, i, m) and others_keep_skew(state, i, origin, m):
                change = delta_cost(state, i, m) - here
                size += abs(change)
                tested += 1
                if not (dependencies_met(state, i, m) and dependants_kept(state, i, origin, m)):
                    forbidden += 1
                elif change > 0.0:
                    rise_out[rises] = change
                    rises += 1
        drop(state, i, origin)
        state.floats[at.total] = total
    scale_out[0] = size / max(1, tested)
    scale_out[1] = forbidden / max(1, tested)
    return rises
