"""The machines that an item could ever run on: from lists per kind, or from all machines where lists would be too long.

The list of a kind leaves out what is home to one of its items only; an item's home is drawn beside it.
"""

import numpy as np

from bayplan.kernels.jit import inlined, kernel
from bayplan.kernels.random import below
from bayplan.kernels.search.feasible import fits_if_emptied
from bayplan.kernels.search.state import NOWHERE

TRIES = 64  # random machines
STRIDE = 1_000_003  # prime, so that every machine is met


@inlined
def list_size(state, i):
    """The number of machines listed for an item; of all machines if there are no lists."""
    at, ints = state.at[0], state.ints
    k = ints[at.kind_of + i]
    return ints[at.reach_start + k + 1] - ints[at.reach_start + k] if at.reach_listed == 1 else at.machines


@inlined
def listed_machine(state, i, first, t):
    """The t-th machine of an item's list, from a number `first` on, around; without lists, of all machines in large strides."""
    at, ints = state.at[0], state.ints
    if at.reach_listed == 0:
        return (first + t * STRIDE) % at.machines
    start = ints[at.reach_start + ints[at.kind_of + i]]
    size, e = ints[at.reach_start + ints[at.kind_of + i] + 1] - start, first + t
    return np.int64(state.small[at.reach + start + (e if e < size else e - size)])


@inlined
def random_machine(state, i, rng):
    """A random machine of an item's list, or its home; NOWHERE if there is none."""
    at = state.at[0]
    if at.reach_listed == 0:
        return below(rng, at.machines)
    size, home = list_size(state, i), state.ints[at.home + i]
    e = below(rng, size + 1)
    if e < size:
        return listed_machine(state, i, e, 0)
    return home if home != NOWHERE or size == 0 else listed_machine(state, i, 0, 0)


@kernel
def random_reachable(state, i, rng):
    """A random machine where item i could run if it were emptied, but does not; -1 if a few tries find none."""
    at = state.at[0]
    for _ in range(1 if at.reach_listed == 1 else TRIES):
        m = random_machine(state, i, rng)
        if m != NOWHERE and m != state.ints[at.machine_of + i] and fits_if_emptied(state, i, m):
            return m
    return -1
