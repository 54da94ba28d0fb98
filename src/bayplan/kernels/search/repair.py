"""Move items away from machines that rules do not allow them, and together where rules want them together."""

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import kernel
from bayplan.kernels.search.delta_cost import extra_moves
from bayplan.kernels.search.evaluate_all import Evaluation, evaluate_all
from bayplan.kernels.search.feasible import dependants_kept, fits, others_kept
from bayplan.kernels.search.lift_drop import drop, lift
from bayplan.kernels.search.state import MAX_MOVES, MOVED, NOWHERE, SKEWED, State


@kernel
def cheapest(state, i, origin, evaluation):
    """The feasible machine where the lifted item costs least; NOWHERE if there is none. Ties: the first."""
    at, ints = state.at[0], state.ints
    target, least = NOWHERE, np.inf
    for e in range(evaluate_all(state, i, evaluation)):
        m = evaluation.machine[e]
        if m == origin or evaluation.delta[e] >= least or not others_kept(state, i, origin, m):
            continue
        if ints[at.tally + MOVED] + extra_moves(state, i, m) <= ints[at.tally + MAX_MOVES]:
            target, least = m, evaluation.delta[e]
    return target


@kernel
def repair_items(state: State, order: npt.NDArray[np.int64], evaluation: Evaluation) -> int:
    """Move every misplaced item of `order` to the cheapest feasible machine; the number of moves."""
    at, ints = state.at[0], state.ints
    repaired = 0
    for i in order:
        if ints[at.machine_of + i] == NOWHERE:
            continue
        origin = lift(state, i)
        target = origin
        if not fits(state, i, origin):
            cheapest_machine = cheapest(state, i, origin, evaluation)
            if cheapest_machine != NOWHERE:
                target = cheapest_machine
                repaired += 1
        drop(state, i, target)
    return repaired


@kernel
def bring_together(state: State, items: npt.NDArray[np.int64], target: int, origin: npt.NDArray[np.int64]) -> bool:
    """Move all of some items to a machine, or none. `origin` (item,) is scratch."""
    skewed = state.ints[state.at[0].tally + SKEWED]
    for e in range(len(items)):
        origin[e] = lift(state, items[e])
    placed = 0
    while placed < len(items):
        i = items[placed]
        if not fits(state, i, target) or not dependants_kept(state, i, origin[placed], target):
            break
        drop(state, i, target)
        placed += 1
    if placed == len(items) and state.ints[state.at[0].tally + SKEWED] <= skewed:
        return True
    for e in range(placed):
        lift(state, items[e])
    for e in range(len(items)):
        drop(state, items[e], origin[e])
    return False
