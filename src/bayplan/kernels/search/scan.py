"""All moves of some items evaluated one by one, none made: what a step of any search costs, for benchmarks."""

import numpy as np

from bayplan.kernels.jit import kernel
from bayplan.kernels.search.delta_cost import delta_cost
from bayplan.kernels.search.evaluate_all import evaluate_all
from bayplan.kernels.search.feasible import dependants_kept, fits, others_kept
from bayplan.kernels.search.lift_drop import drop, lift
from bayplan.kernels.search.skew import extra_skew
from bayplan.kernels.search.state import NOWHERE, SKEWED


@kernel
def scan_shifts(state, items, evaluation, best_out):
    """The number of shifts of these placed items that keep every rule; the least change of the objective in `best_out`.

    Each item is tried on every other machine. A move that a rule forbids is not evaluated and does not count.
    """
    at, ints = state.at[0], state.ints
    total = state.floats[at.total]
    evaluated = 0
    best_out[0] = np.inf
    for i in items:
        origin = lift(state, i)
        here = delta_cost(state, i, origin)
        k = ints[at.kind_of + i]
        needed = ints[at.supports_start + k + 1] > ints[at.supports_start + k]
        needed = needed or ints[at.skew_start + k + 1] > ints[at.skew_start + k]
        for e in range(evaluate_all(state, i, evaluation)):
            m = evaluation.machine[e]
            if m != origin and (not needed or others_kept(state, i, origin, m)):
                best_out[0] = min(best_out[0], evaluation.delta[e] - here)
                evaluated += 1
        drop(state, i, origin)
        state.floats[at.total] = total  # exactly as before
    return evaluated


@kernel
def scan_swaps(state, items, others, best_out):
    """The number of swaps of an item with one of the others that keep every rule; as `scan_shifts`.

    The change is exact: that of the second item is taken with the first on its new machine.
    """
    at, ints = state.at[0], state.ints
    total, skewed = state.floats[at.total], ints[at.tally + SKEWED]
    evaluated = 0
    best_out[0] = np.inf
    for i in items:
        origin = lift(state, i)
        for j in others:
            m = ints[at.machine_of + j]
            if m == NOWHERE or m == origin:
                continue
            lift(state, j)
            if fits(state, i, m) and dependants_kept(state, i, origin, m):
                drop(state, i, m)
                keeps = fits(state, j, origin) and dependants_kept(state, j, m, origin)
                if keeps and ints[at.tally + SKEWED] + extra_skew(state, j, origin) <= skewed:
                    best_out[0] = min(best_out[0], state.floats[at.total] + delta_cost(state, j, origin) - total)
                    evaluated += 1
                lift(state, i)
            drop(state, j, m)
        drop(state, i, origin)
        state.floats[at.total] = total
    return evaluated
