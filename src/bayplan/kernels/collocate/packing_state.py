"""The state of a placement that is built container by container, or part by part.

Counts are kept only for workloads that have traffic: nothing reads the others.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.jit import kernel


class PackingState(NamedTuple):
    """What is fixed and what changes. Only the last block changes."""

    request: npt.NDArray[np.int64]  # (workload, resource); 0 where no capacity rule counts
    one_over: npt.NDArray[np.float64]  # (workload,) 1 / d of [RASA] (1)
    row_of: npt.NDArray[np.int64]  # (workload,) row of `allow`
    allow: npt.NDArray[np.bool_]  # (row, machine)
    set_start: npt.NDArray[np.int64]  # (workload + 1,) anti-affinity sets of a workload
    set_of: npt.NDArray[np.int64]  # (membership,)
    edge_start: npt.NDArray[np.int64]  # (workload + 1,) neighbours of a workload
    neighbour: npt.NDArray[np.int64]  # (half edge,) workload
    weight: npt.NDArray[np.float64]  # (half edge,) of a total of 1
    traffic_row: npt.NDArray[np.int64]  # (workload,) row of `placed`, or -1 without traffic
    unit: npt.NDArray[np.float64]  # (machine, resource) 1 / capacity, 0 where no rule counts

    free: npt.NDArray[np.int64]  # (machine, resource)
    set_free: npt.NDArray[np.int32]  # (set, machine) containers of the set that may still come
    placed: npt.NDArray[np.int32]  # (traffic row, machine) containers that run there


@kernel
def rules_allow(state, w, m):
    """May one more container of the workload run on the machine, by allow lists and anti-affinity?"""
    if not state.allow[state.row_of[w], m]:
        return False
    for e in range(state.set_start[w], state.set_start[w + 1]):
        if state.set_free[state.set_of[e], m] <= 0:
            return False
    return True


@kernel
def fits(state, w, m):
    """May one more container of the workload run on the machine?"""
    for r in range(state.free.shape[1]):
        if state.request[w, r] > 0 and state.request[w, r] > state.free[m, r]:
            return False
    return rules_allow(state, w, m)


@kernel
def add_containers(state, w, m, by):
    """Count `by` more containers of the workload on the machine; fewer, if it is negative."""
    for r in range(state.free.shape[1]):
        state.free[m, r] -= by * state.request[w, r]
    for e in range(state.set_start[w], state.set_start[w + 1]):
        state.set_free[state.set_of[e], m] -= by
    if state.traffic_row[w] >= 0:
        state.placed[state.traffic_row[w], m] += by


@kernel
def free_share(state, w, m):
    """The shares of all resources that are free with one more container of the workload, summed up."""
    total = 0.0
    for r in range(state.free.shape[1]):
        total += (state.free[m, r] - state.request[w, r]) * state.unit[m, r]
    return total


@kernel
def pick_by_free_share(state, w, sign):
    """The emptiest machine (sign 1) or the fullest one (sign -1) on which the workload fits; the first of equals; -1 if none."""
    best, most = -1, -np.inf
    for m in range(state.free.shape[0]):
        value = sign * free_share(state, w, m)
        if value > most and fits(state, w, m):
            best, most = m, value
    return best


@kernel
def best_fit(state, workload, machine_out):
    """One container of each workload of the list, in its order, to the fullest machine that takes it; -1 where none does."""
    for c in range(workload.shape[0]):
        machine_out[c] = pick_by_free_share(state, workload[c], -1.0)
        if machine_out[c] >= 0:
            add_containers(state, workload[c], machine_out[c], 1)


@kernel
def return_home(state, workload, home, machine_out):
    """Containers without a machine go back to where they ran, in the order of the list, if they still fit there."""
    for c in range(workload.shape[0]):
        if machine_out[c] < 0 and home[c] >= 0 and fits(state, workload[c], home[c]):
            add_containers(state, workload[c], home[c], 1)
            machine_out[c] = home[c]


def smallest_packing_state() -> PackingState:
    """Two workloads that talk, one machine; arrays of the types that a problem has."""
    row_of, allow = np.zeros(2, dtype=np.int64), np.ones((1, 1), dtype=np.bool_)
    for array in (row_of, allow):
        array.flags.writeable = False  # like those of the model: numba compiles once more for what is read-only
    return PackingState(
        request=np.ones((2, 1), dtype=np.int64),
        one_over=np.ones(2),
        row_of=row_of,
        allow=allow,
        set_start=np.zeros(3, dtype=np.int64),
        set_of=np.zeros(0, dtype=np.int64),
        edge_start=np.arange(3),
        neighbour=np.array([1, 0]),
        weight=np.ones(2),
        traffic_row=np.arange(2),
        unit=np.ones((1, 1)),
        free=np.full((1, 1), 9, dtype=np.int64),
        set_free=np.zeros((0, 1), dtype=np.int32),
        placed=np.zeros((2, 1), dtype=np.int32),
    )


def warm_up() -> None:
    """Compile what is called from outside, with the types it uses."""
    state, workload, machine = smallest_packing_state(), np.arange(2), np.full(2, -1)
    best_fit(state, workload, machine)
    return_home(state, workload, machine, machine.copy())
    pick_by_free_share(state, workload[0], 1.0)
    fits(state, workload[0], 0)
    add_containers(state, workload[0], 0, 1)
    add_containers(state, 0, machine[0], -1)
