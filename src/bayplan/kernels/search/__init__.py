"""The kernels of the search: one state, its moves, its drivers."""

import numpy as np

from bayplan.kernels.search.delta_cost import LoadPrices, reweight
from bayplan.kernels.search.incumbent import restore_best, write_out
from bayplan.kernels.search.lift_drop import move_all, place_start
from bayplan.kernels.search.walk import StepSettings, new_mixture, walk
from bayplan.kernels.search.warmup_data import tiny_incumbent, tiny_lifted_set, tiny_state


def warm_up() -> None:
    """Compile what drivers call, by a step on the tiny state."""
    state, items = tiny_state(), np.arange(2)
    place_start(state, items)
    move_all(state, items)
    rng, incumbent, settings = (
        np.ones(1, dtype=np.uint64),
        tiny_incumbent(),
        StepSettings(shift_tries=1, eject_tries=1, eject_finds=1, scan=1),
    )
    mixture = new_mixture(np.ones(3, dtype=np.int64))
    walk(state, items, items, settings, mixture, rng, 1.0, True, 1, incumbent, tiny_lifted_set())
    write_out(incumbent, state)
    restore_best(state, incumbent)
    reweight(state, LoadPrices(overload=np.zeros(1), mean=np.zeros(1), square=np.zeros(2)), np.ones(1))
