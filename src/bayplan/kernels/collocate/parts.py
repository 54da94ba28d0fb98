"""The machine that takes a part as a whole: by traffic first, then by fit."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.collocate.packing_state import PackingState, add_containers, smallest_packing_state
from bayplan.kernels.jit import kernel

SAME = 1e-12  # gains that differ by less are equal: the total affinity is 1


class PartScratch(NamedTuple):
    """Scratch: what a part needs in total, and what machines offer."""

    request: npt.NDArray[np.int64]  # (resource,)
    member: npt.NDArray[np.int64]  # (set,) containers of each anti-affinity set; 0 between two parts
    feasible: npt.NDArray[np.bool_]  # (machine,)
    gain: npt.NDArray[np.float64]  # (machine,)


@kernel
def sum_up(state, scratch, workload, number):
    """Sum up the requests of a part, and its containers in each anti-affinity set."""
    scratch.request[:] = 0
    for i in range(workload.shape[0]):
        w = workload[i]
        for r in range(scratch.request.shape[0]):
            scratch.request[r] += number[i] * state.request[w, r]
        for e in range(state.set_start[w], state.set_start[w + 1]):
            scratch.member[state.set_of[e]] += number[i]


@kernel
def has_free(state, scratch, m):
    """Has the machine enough free for the whole part?"""
    for r in range(scratch.request.shape[0]):
        if scratch.request[r] > 0 and scratch.request[r] > state.free[m, r]:
            return False
    return True


@kernel
def filter_machines(state, scratch, workload, number):
    """Mark the machines that take the whole part; their number."""
    sum_up(state, scratch, workload, number)
    for m in range(scratch.feasible.shape[0]):
        scratch.feasible[m] = has_free(state, scratch, m)
    for i in range(workload.shape[0]):
        w = workload[i]
        for m in range(scratch.feasible.shape[0]):
            scratch.feasible[m] &= state.allow[state.row_of[w], m]
        for e in range(state.set_start[w], state.set_start[w + 1]):
            k = state.set_of[e]
            if scratch.member[k] > 0:  # not tested yet
                for m in range(scratch.feasible.shape[0]):
                    scratch.feasible[m] &= state.set_free[k, m] >= scratch.member[k]
                scratch.member[k] = 0
    number_feasible = 0
    for m in range(scratch.feasible.shape[0]):
        number_feasible += scratch.feasible[m]
    return number_feasible


@kernel
def add_gains(state, scratch, workload, number):
    """The affinity that the part gains with what runs on each machine."""
    scratch.gain[:] = 0.0
    for i in range(workload.shape[0]):
        w = workload[i]
        for e in range(state.edge_start[w], state.edge_start[w + 1]):
            v = state.neighbour[e]
            own_row, other_row = state.traffic_row[w], state.traffic_row[v]
            for m in range(scratch.gain.shape[0]):
                if state.placed[other_row, m] > 0:
                    low = state.placed[own_row, m] * state.one_over[w]
                    high = low + number[i] * state.one_over[w]
                    other = state.placed[other_row, m] * state.one_over[v]
                    scratch.gain[m] += state.weight[e] * max(0.0, min(high, other) - low)


@kernel
def free_share_left(state, scratch, m):
    """The shares of all resources that the machine has left beside the part, summed up."""
    total = 0.0
    for r in range(scratch.request.shape[0]):
        total += (state.free[m, r] - scratch.request[r]) * state.unit[m, r]
    return total


@kernel
def best_for(state, scratch, workload, number):
    """The machine where the part gains most; among equals the one that it fills most, then the first; -1 if none takes it."""
    if filter_machines(state, scratch, workload, number) == 0:
        return -1
    add_gains(state, scratch, workload, number)
    best, most, least_left = -1, 0.0, 0.0
    for m in range(scratch.feasible.shape[0]):
        if scratch.feasible[m] and (best < 0 or scratch.gain[m] >= most - SAME):
            free_left = free_share_left(state, scratch, m)
            if best < 0 or scratch.gain[m] > most + SAME or free_left < least_left:
                best, most, least_left = m, scratch.gain[m], free_left
    return best


@kernel
def pack_part(state, scratch, workload, number):
    """Put the part where it is best; that machine, or -1 if none takes it."""
    m = best_for(state, scratch, workload, number)
    if m >= 0:
        for i in range(workload.shape[0]):
            add_containers(state, workload[i], m, number[i])
    return m


def new_part_scratch(state: PackingState) -> PartScratch:
    """Scratch of the size of a state."""
    n_m, n_r = state.free.shape
    return PartScratch(
        request=np.zeros(n_r, dtype=np.int64),
        member=np.zeros(len(state.set_free), dtype=np.int64),
        feasible=np.zeros(n_m, dtype=np.bool_),
        gain=np.zeros(n_m),
    )


def warm_up() -> None:
    """Compile `pack_part`, with the types it uses."""
    state = smallest_packing_state()
    pack_part(state, new_part_scratch(state), np.arange(2), np.ones(2, dtype=np.int64))
