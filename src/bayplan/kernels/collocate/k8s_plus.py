"""Containers one by one, each filtered and scored in the manner of kube-scheduler, by affinity ([RASA] §V-A, K8S+)."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.collocate.packing_state import add_containers, fits, free_share, smallest_packing_state
from bayplan.kernels.jit import kernel

SAME = 1e-12  # scores that differ by less are equal: the total affinity is 1
NOWHERE = -1


class MachinesByWorkload(NamedTuple):
    """The machines on which each workload with traffic runs, so that a score reads nothing else. All of it changes."""

    start: npt.NDArray[np.int64]  # (traffic row + 1,) where its machines begin
    size: npt.NDArray[np.int64]  # (traffic row,) their number
    machine: npt.NDArray[np.int32]  # (container of a workload with traffic,)
    score: npt.NDArray[np.float64]  # (machine,) scratch, 0 between two containers


@kernel
def add_scores(state, placed_on, w):
    """Add to each machine: sum over the neighbours v that run there of weight (1 - (x_w / d_w) / (x_v / d_v))."""
    own_row = state.traffic_row[w]
    for e in range(state.edge_start[w], state.edge_start[w + 1]):
        v = state.neighbour[e]
        row = state.traffic_row[v]
        for at in range(placed_on.start[row], placed_on.start[row] + placed_on.size[row]):
            m = placed_on.machine[at]
            share = state.placed[own_row, m] * state.one_over[w]
            placed_on.score[m] += state.weight[e] * (1.0 - share / (state.placed[row, m] * state.one_over[v]))


@kernel
def best_machine(state, placed_on, w):
    """The machine of the highest score that the container fits on; among equals the emptiest, then the first; or NOWHERE."""
    best, highest, free_left = NOWHERE, -np.inf, 0.0
    for m in range(placed_on.score.shape[0]):
        if placed_on.score[m] < highest - SAME:
            continue
        free_here = free_share(state, w, m)
        if best >= 0 and placed_on.score[m] <= highest + SAME and free_here <= free_left:
            continue
        if fits(state, w, m):
            best, highest, free_left = m, placed_on.score[m], free_here
    return best


@kernel
def place_one(state, placed_on, w, m):
    """Put one more container of the workload on the machine."""
    add_containers(state, w, m, 1)
    row = state.traffic_row[w]
    if row >= 0 and state.placed[row, m] == 1:
        placed_on.machine[placed_on.start[row] + placed_on.size[row]] = m
        placed_on.size[row] += 1


@kernel
def schedule(state, placed_on, workload, machine_out):
    """Place one container of each workload of the list, in its order; NOWHERE for what fits nowhere."""
    for c in range(workload.shape[0]):
        w = workload[c]
        if state.traffic_row[w] >= 0:
            add_scores(state, placed_on, w)
        m = best_machine(state, placed_on, w)
        placed_on.score[:] = 0.0
        machine_out[c] = m
        if m >= 0:
            place_one(state, placed_on, w, m)


def warm_up() -> None:
    """Compile `schedule`, with the types it uses."""
    start, size = np.arange(3), np.zeros(2, dtype=np.int64)
    placed_on = MachinesByWorkload(start=start, size=size, machine=np.zeros(2, dtype=np.int32), score=np.zeros(1))
    schedule(smallest_packing_state(), placed_on, np.arange(2), np.empty(2, dtype=np.int64))
