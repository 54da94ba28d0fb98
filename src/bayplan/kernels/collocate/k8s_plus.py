"""Containers one by one, each filtered and scored in the manner of kube-scheduler, by affinity (004 section V-A, K8S+)."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.collocate.yard import book, emptiness, fits, smallest_yard
from bayplan.kernels.search.compiled import kernel

SAME = 1e-12  # scores that differ by less are equal: the total affinity is 1
NOWHERE = -1


class Seen(NamedTuple):
    """The machines on which each service with traffic stands, so that a score looks at nothing else. All of it changes."""

    start: npt.NDArray[np.int64]  # (line + 1,) where its machines begin
    size: npt.NDArray[np.int64]  # (line,) how many there are
    machine: npt.NDArray[np.int32]  # (container of a service with traffic,)
    score: npt.NDArray[np.float64]  # (machine,) scratch, 0 between two containers


@kernel
def add_scores(yard, seen, s):
    """Add to each machine: sum over the neighbours t that stand there of w (1 - (x_s / d_s) / (x_t / d_t))."""
    mine = yard.line_of[s]
    for e in range(yard.edge_start[s], yard.edge_start[s + 1]):
        t = yard.neighbour[e]
        line = yard.line_of[t]
        for at in range(seen.start[line], seen.start[line] + seen.size[line]):
            m = seen.machine[at]
            share = yard.standing[mine, m] * yard.one_over[s]
            seen.score[m] += yard.weight[e] * (1.0 - share / (yard.standing[line, m] * yard.one_over[t]))


@kernel
def best_machine(yard, seen, s):
    """The machine of the highest score that the container fits on; among equals the emptiest, then the first; or NOWHERE."""
    best, most, left = NOWHERE, -np.inf, 0.0
    for m in range(seen.score.shape[0]):
        if seen.score[m] < most - SAME:
            continue
        empty = emptiness(yard, s, m)
        if best >= 0 and seen.score[m] <= most + SAME and empty <= left:
            continue
        if fits(yard, s, m):
            best, most, left = m, seen.score[m], empty
    return best


@kernel
def settle(yard, seen, s, m):
    """One more container of the service on the machine."""
    book(yard, s, m, 1)
    line = yard.line_of[s]
    if line >= 0 and yard.standing[line, m] == 1:
        seen.machine[seen.start[line] + seen.size[line]] = m
        seen.size[line] += 1


@kernel
def schedule(yard, seen, service, machine_out):
    """Place one container of each service of the list, in its order; NOWHERE for what fits nowhere."""
    for c in range(service.shape[0]):
        s = service[c]
        if yard.line_of[s] >= 0:
            add_scores(yard, seen, s)
        m = best_machine(yard, seen, s)
        seen.score[:] = 0.0
        machine_out[c] = m
        if m >= 0:
            settle(yard, seen, s, m)


def warm_up() -> None:
    """Compile `schedule`, with the types it uses."""
    start, size = np.arange(3), np.zeros(2, dtype=np.int64)
    seen = Seen(start=start, size=size, machine=np.zeros(2, dtype=np.int32), score=np.zeros(1))
    schedule(smallest_yard(), seen, np.arange(2), np.empty(2, dtype=np.int64))
