"""Annealing: items are lifted and dropped, worse states are accepted by Metropolis' rule.

`shift_step` lifts one item and tries a few machines for it. `swap_step` exchanges it with the best of a few items of another
machine. `eject_step` puts it on a machine that is too full and puts what must leave elsewhere: one that goes to a third machine
is a replace, several are the ejection of a big container's neighbours. `cost_scale` measures the scale of the temperatures.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import kernel
from bayplan.kernels.random import below, uniform
from bayplan.kernels.search.delta_cost import delta_cost, extra_moves
from bayplan.kernels.search.eject import choose_victims, random_reachable, undo
from bayplan.kernels.search.feasible import (
    dependants_kept,
    dependencies_met,
    extra_unmet,
    fits_ignoring_dependencies,
    keeps_count_rules,
)
from bayplan.kernels.search.incumbent import ensure_space, record_move, update_best
from bayplan.kernels.search.lift_drop import drop, lift
from bayplan.kernels.search.state import MAX_MOVES, MOVED, UNMET, State
from bayplan.kernels.search.swap import swap_step

STRIDE = 1_000_003  # prime, so that every machine is met


class StepSettings(NamedTuple):
    """The mixture of steps, and how far each looks."""

    shift_tries: int  # machines tried for a lifted item
    eject_tries: int  # machines tried for an ejected item, at most
    eject_finds: int  # ... until that many fit
    eject_share: float  # of the steps
    swap_share: float  # of the steps
    scan: int  # items of a machine examined for a victim, at most


@kernel
def metropolis_accepts(rng, worse, temperature):
    """Metropolis' rule: is a state that is worse by this much accepted?"""
    return worse <= 0.0 or (temperature > 0.0 and worse < -temperature * np.log(uniform(rng)))


@kernel
def shift_step(state, i, settings, rng, temperature, loose, incumbent):
    """Lift one item, let it walk over a few machines, drop it where it ends."""
    at, ints = state.at[0], state.ints
    origin = lift(state, i)
    here, here_cost, unmet = origin, delta_cost(state, i, origin), extra_unmet(state, i, origin)
    for _ in range(settings.shift_tries):
        m = below(rng, at.machines)
        if m == here or not fits_ignoring_dependencies(state, i, m) or (not loose and extra_unmet(state, i, m) > unmet):
            continue
        if ints[at.tally + MOVED] + extra_moves(state, i, m) > ints[at.tally + MAX_MOVES]:
            continue
        there = delta_cost(state, i, m)
        if metropolis_accepts(rng, there - here_cost, temperature):
            here, here_cost = m, there
    drop(state, i, here)
    if here != origin:
        record_move(incumbent, i, origin)
        update_best(incumbent, state)


@kernel
def cheapest_of_few(state, j, m, settings, rng, lifted):
    """The cheapest of the first few machines but m that an ejected item fits on; -1 if there is none.

    The first lifted item's old machine is tried first, then others from a random one on, in large strides.
    """
    at = state.at[0]
    target, least, feasible = -1, np.inf, 0
    first = below(rng, at.machines)
    for t in range(min(settings.eject_tries, at.machines) + 1):
        there = lifted.origin[0] if t == 0 else (first + t * STRIDE) % at.machines
        if there != m and fits_ignoring_dependencies(state, j, there):
            cost = delta_cost(state, j, there)
            if cost < least:
                target, least = there, cost
            feasible += 1
            if feasible == settings.eject_finds:
                break
    return target


@kernel
def eject_step(state, i, m, settings, rng, temperature, loose, incumbent, lifted):
    """Put item i on machine m; what must leave goes to the item's old machine or elsewhere."""
    at, ints = state.at[0], state.ints
    total, unmet = state.floats[at.total], ints[at.tally + UNMET]
    most = total - temperature * np.log(uniform(rng)) if temperature > 0.0 else total  # Metropolis' rule, drawn beforehand
    lifted.item[0] = i
    lifted.origin[0] = lift(state, i)
    n, placed = choose_victims(state, rng, i, m, settings.scan, lifted) if keeps_count_rules(state, i, m) else 1, 0
    for e in range(1, n):
        lifted.origin[e] = lift(state, lifted.item[e])
    if n == 1 or not fits_ignoring_dependencies(state, i, m):
        undo(state, lifted, 0, n, total)
        return
    good = True
    while good and placed < n:
        target = m if placed == 0 else cheapest_of_few(state, lifted.item[placed], m, settings, rng, lifted)
        if target < 0:
            good = False
            break
        drop(state, lifted.item[placed], target)
        placed += 1
        sure = state.floats[at.total] - state.floats[at.unmet_price] * ints[at.tally + UNMET]
        good = sure <= most  # what is still lifted will hardly make it cheaper
    if good:
        good = state.floats[at.total] <= most and ints[at.tally + MOVED] <= ints[at.tally + MAX_MOVES]
        good = good and (loose or ints[at.tally + UNMET] <= unmet)
    if not good:
        undo(state, lifted, placed, n, total)
        return
    for e in range(n):
        record_move(incumbent, lifted.item[e], lifted.origin[e])
    update_best(incumbent, state)


@kernel
def walk(state, movable, sized, settings, rng, temperature, loose, steps, incumbent, lifted):
    """Make `steps` steps at one temperature. `loose`: may dependencies be violated on the way?"""
    at = state.at[0]
    for _ in range(steps):
        ensure_space(incumbent, state)
        kind = uniform(rng)
        if kind < settings.eject_share:
            i = sized[below(rng, len(sized))]
            m = random_reachable(state, i, rng)
            if m >= 0:
                eject_step(state, i, m, settings, rng, temperature, loose, incumbent, lifted)
        elif kind < settings.eject_share + settings.swap_share:
            i = sized[below(rng, len(sized))]
            swap_step(state, i, below(rng, at.machines), rng, temperature, loose, incumbent, lifted)
        else:
            i = movable[below(rng, len(movable))]
            shift_step(state, i, settings, rng, temperature, loose, incumbent)


@kernel
def cost_scale(
    state: State, movable: npt.NDArray[np.int64], rng: npt.NDArray[np.uint64], tries: int, scale_out: npt.NDArray[np.float64]
) -> None:
    """Over random moves that all rules but dependencies allow: mean size of the cost change, share that dependencies forbid.

    Both are 0 if no such move was found. Nothing moves.
    """
    at = state.at[0]
    size, tested, forbidden = 0.0, 0, 0
    for _ in range(tries):
        i = movable[below(rng, len(movable))]
        total = state.floats[at.total]
        origin = lift(state, i)
        here = delta_cost(state, i, origin)
        for _ in range(4):
            m = below(rng, at.machines)
            if m != origin and fits_ignoring_dependencies(state, i, m):
                size += abs(delta_cost(state, i, m) - here)
                tested += 1
                if not (dependencies_met(state, i, m) and dependants_kept(state, i, origin, m)):
                    forbidden += 1
        drop(state, i, origin)
        state.floats[at.total] = total
    scale_out[0] = size / max(1, tested)
    scale_out[1] = forbidden / max(1, tested)
