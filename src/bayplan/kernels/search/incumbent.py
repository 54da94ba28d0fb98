"""The incumbent: the best placement so far, as a journal of what changed since; it is written out when that grows too long."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import kernel
from bayplan.kernels.search.lift_drop import move_all
from bayplan.kernels.search.state import UNMET

LENGTH, OPEN, ALLOWED_UNMET = range(3)
MAX_STEP = 64  # items that one step moves at most


class Incumbent(NamedTuple):
    """The best total, and how to get back to it."""

    best: npt.NDArray[np.float64]  # (1,) total
    best_machine_of: npt.NDArray[np.int64]  # (item,) machine in the best placement, once it is written out
    item: npt.NDArray[np.int64]  # (entry,) what moved since the best
    origin: npt.NDArray[np.int64]  # (entry,) from where
    status: npt.NDArray[
        np.int64
    ]  # (3,) LENGTH of the journal; OPEN: 1 while the best is the present, journal undone; ALLOWED_UNMET dependencies


@kernel
def write_out(incumbent, state):
    """Write the best placement out, and close the journal."""
    if incumbent.status[OPEN] == 1:
        at = state.at[0]
        for i in range(at.items):
            incumbent.best_machine_of[i] = state.ints[at.machine_of + i]
        for e in range(incumbent.status[LENGTH] - 1, -1, -1):
            incumbent.best_machine_of[incumbent.item[e]] = incumbent.origin[e]
        incumbent.status[OPEN] = 0
        incumbent.status[LENGTH] = 0


@kernel
def ensure_space(incumbent, state):
    """Write the best out if a step might not fit into the journal. Called while no item is lifted."""
    if incumbent.status[LENGTH] > len(incumbent.item) - MAX_STEP:
        write_out(incumbent, state)


@kernel
def record_move(incumbent, i, m):
    """Record that item i has left machine m."""
    if incumbent.status[OPEN] == 1:
        at = incumbent.status[LENGTH]
        incumbent.item[at] = i
        incumbent.origin[at] = m
        incumbent.status[LENGTH] = at + 1


@kernel
def update_best(incumbent, state):
    """Make the present the incumbent if it is the best so far, with no more unmet dependencies than allowed."""
    at = state.at[0]
    unmet = state.ints[at.tally + UNMET]
    total = state.floats[at.total] - state.floats[at.unmet_price] * unmet
    if total < incumbent.best[0] and unmet <= incumbent.status[ALLOWED_UNMET]:
        incumbent.best[0] = total
        incumbent.status[OPEN] = 1
        incumbent.status[LENGTH] = 0


@kernel
def restore_best(state, incumbent):
    """Move everything to where it is in the incumbent."""
    write_out(incumbent, state)
    move_all(state, incumbent.best_machine_of)
    state.floats[state.at[0].total] = incumbent.best[0]
    incumbent.status[OPEN] = 1
    incumbent.status[LENGTH] = 0
