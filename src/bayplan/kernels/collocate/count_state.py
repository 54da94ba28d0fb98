"""A placement in counts: the containers of each workload on each machine, and what one more or one less gains.

Replicas are interchangeable, so affinity ([RASA] (1)) and moves are functions of the counts (workload, machine). Single
containers are kept only to draw from them at random.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.collocate.packing_state import smallest_packing_state
from bayplan.kernels.jit import kernel

NOWHERE = -1
MOVES, MAX_MOVES = range(2)  # of `tally`
GAINED, PRICE = range(2)  # of `worth`


class CountState(NamedTuple):
    """What is fixed and what changes. Only the last block changes."""

    workload_of: npt.NDArray[np.int32]  # (container,) of those that may move; replicas side by side
    start_machine: npt.NDArray[np.int32]  # (container,) the machine where it ran at first
    first_container: npt.NDArray[np.int64]  # (workload + 1,) where its containers begin
    request: npt.NDArray[np.int64]  # (workload, resource); this and all up to `weight` as in a `PackingState`
    one_over: npt.NDArray[np.float64]  # (workload,) 1 / d
    row_of: npt.NDArray[np.int64]  # (workload,)
    allow: npt.NDArray[np.bool_]  # (row, machine)
    set_start: npt.NDArray[np.int64]  # (workload + 1,)
    set_of: npt.NDArray[np.int64]  # (membership,)
    edge_start: npt.NDArray[np.int64]  # (workload + 1,)
    neighbour: npt.NDArray[np.int64]  # (half edge,) heaviest first
    weight: npt.NDArray[np.float64]  # (half edge,)
    cumulative_weight: npt.NDArray[np.float64]  # (half edge,) cumulative weight of a workload's edges, 1 at its last
    home: npt.NDArray[np.int16]  # (machine, workload) counts from which moves are counted

    counts: npt.NDArray[np.int16]  # (machine, workload)
    free: npt.NDArray[np.int64]  # (machine, resource)
    set_free: npt.NDArray[np.int32]  # (set, machine)
    machine_of: npt.NDArray[np.int32]  # (container,) or NOWHERE
    slot_of: npt.NDArray[np.int32]  # (container,)
    containers_on: npt.NDArray[np.int32]  # (machine, slot) containers
    number_on: npt.NDArray[np.int32]  # (machine,) number of them
    tally: npt.NDArray[np.int64]  # MOVES, MAX_MOVES
    worth: npt.NDArray[np.float64]  # GAINED affinity, PRICE of a move


@kernel
def step_gain(state, w, m, low):
    """The affinity that the container number low + 1 of the workload adds on a machine."""
    here, gain = state.counts[m], 0.0
    share, more = low * state.one_over[w], (low + 1) * state.one_over[w]
    for e in range(state.edge_start[w], state.edge_start[w + 1]):
        v = state.neighbour[e]
        if here[v] > 0:
            other = here[v] * state.one_over[v]
            if other > share:
                gain += state.weight[e] * (min(more, other) - share)
    return gain


@kernel
def gain_of(state, w, m):
    """What one more container of the workload on the machine is worth: affinity, less the price of a move."""
    n = state.counts[m, w]
    return step_gain(state, w, m, n) - (state.worth[PRICE] if n >= state.home[m, w] else 0.0)


@kernel
def loss_of(state, w, m):
    """What one container fewer of the workload on the machine costs: affinity, less the price of a move that is not made."""
    n = state.counts[m, w]
    return step_gain(state, w, m, n - 1) - (state.worth[PRICE] if n > state.home[m, w] else 0.0)


@kernel
def add_to_counts(state, w, m, by):
    """Count one container more (1) or one fewer (-1)."""
    n = state.counts[m, w]
    if by > 0:
        if n >= state.home[m, w]:
            state.tally[MOVES] += 1
    elif n > state.home[m, w]:
        state.tally[MOVES] -= 1
    state.counts[m, w] = n + by
    for r in range(state.free.shape[1]):
        state.free[m, r] -= by * state.request[w, r]
    for e in range(state.set_start[w], state.set_start[w + 1]):
        state.set_free[state.set_of[e], m] -= by


@kernel
def drop(state, c, m):
    """Put a lifted container on a machine; what that is worth."""
    w = state.workload_of[c]
    gain = gain_of(state, w, m)
    add_to_counts(state, w, m, 1)
    at = state.number_on[m]
    state.containers_on[m, at] = c
    state.slot_of[c] = at
    state.machine_of[c] = m
    state.number_on[m] = at + 1
    state.worth[GAINED] += gain
    return gain


@kernel
def lift(state, c):
    """Lift a container off its machine; what that costs."""
    w, m = state.workload_of[c], state.machine_of[c]
    loss = loss_of(state, w, m)
    add_to_counts(state, w, m, -1)
    last = state.number_on[m] - 1
    other, at = state.containers_on[m, last], state.slot_of[c]
    state.containers_on[m, at] = other
    state.slot_of[other] = at
    state.number_on[m] = last
    state.machine_of[c] = NOWHERE
    state.worth[GAINED] -= loss
    return loss


@kernel
def move_all(state, target):
    """Move every container to its target: first all that leave are lifted."""
    for c in range(len(target)):
        if state.machine_of[c] != NOWHERE and state.machine_of[c] != target[c]:
            lift(state, c)
    for c in range(len(target)):
        if state.machine_of[c] == NOWHERE and target[c] != NOWHERE:
            drop(state, c, target[c])


def smallest_count_state() -> CountState:
    """Two workloads that talk, two machines; arrays of the types that a problem has."""
    packing = smallest_packing_state()
    allow = np.ones((1, 2), dtype=np.bool_)
    allow.flags.writeable = False
    shared = {name: getattr(packing, name) for name in packing._fields if name in CountState._fields}
    changed = {"allow": allow, "free": np.full((2, 1), 9, dtype=np.int64), "set_free": np.zeros((0, 2), dtype=np.int32)}
    return CountState(
        **{**shared, **changed},
        workload_of=np.arange(2, dtype=np.int32),
        start_machine=np.zeros(2, dtype=np.int32),
        first_container=np.arange(3),
        cumulative_weight=np.ones(2),
        home=np.zeros((2, 2), dtype=np.int16),
        counts=np.zeros((2, 2), dtype=np.int16),
        machine_of=np.full(2, NOWHERE, dtype=np.int32),
        slot_of=np.zeros(2, dtype=np.int32),
        containers_on=np.zeros((2, 4), dtype=np.int32),
        number_on=np.zeros(2, dtype=np.int32),
        tally=np.array([0, 9]),
        worth=np.zeros(2),
    )


def warm_up() -> None:
    """Compile what is called from outside, with the types it uses."""
    move_all(smallest_count_state(), np.zeros(2, dtype=np.int32))
