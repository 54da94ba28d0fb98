"""Which machine should take a part as a whole? By traffic first, then by fit."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.collocate.yard import Yard, book, smallest_yard
from bayplan.kernels.search.compiled import kernel

SAME = 1e-12  # gains that differ by less are equal: the total affinity is 1


class Desk(NamedTuple):
    """Scratch: what a part needs, summed up, and what machines offer."""

    request: npt.NDArray[np.int64]  # (resource,)
    member: npt.NDArray[np.int64]  # (set,) containers of each anti-affinity set; 0 between two parts
    takes: npt.NDArray[np.bool_]  # (machine,)
    gain: npt.NDArray[np.float64]  # (machine,)


@kernel
def sum_up(yard, desk, service, number):
    """Requests of a part, and its containers in each anti-affinity set."""
    desk.request[:] = 0
    for i in range(service.shape[0]):
        s = service[i]
        for r in range(desk.request.shape[0]):
            desk.request[r] += number[i] * yard.request[s, r]
        for e in range(yard.set_start[s], yard.set_start[s + 1]):
            desk.member[yard.set_of[e]] += number[i]


@kernel
def has_room(yard, desk, m):
    """Has the machine room for the whole part?"""
    for r in range(desk.request.shape[0]):
        if desk.request[r] > 0 and desk.request[r] > yard.free[m, r]:
            return False
    return True


@kernel
def filter_machines(yard, desk, service, number):
    """Mark the machines that take the whole part; their number."""
    sum_up(yard, desk, service, number)
    for m in range(desk.takes.shape[0]):
        desk.takes[m] = has_room(yard, desk, m)
    for i in range(service.shape[0]):
        s = service[i]
        for m in range(desk.takes.shape[0]):
            desk.takes[m] &= yard.allow[yard.row_of[s], m]
        for e in range(yard.set_start[s], yard.set_start[s + 1]):
            k = yard.set_of[e]
            if desk.member[k] > 0:  # not looked at before
                for m in range(desk.takes.shape[0]):
                    desk.takes[m] &= yard.spare[k, m] >= desk.member[k]
                desk.member[k] = 0
    open_ones = 0
    for m in range(desk.takes.shape[0]):
        open_ones += desk.takes[m]
    return open_ones


@kernel
def add_gains(yard, desk, service, number):
    """The affinity that the part gains with what stands on each machine."""
    desk.gain[:] = 0.0
    for i in range(service.shape[0]):
        s = service[i]
        for e in range(yard.edge_start[s], yard.edge_start[s + 1]):
            t = yard.neighbour[e]
            mine, others = yard.line_of[s], yard.line_of[t]
            for m in range(desk.gain.shape[0]):
                if yard.standing[others, m] > 0:
                    low = yard.standing[mine, m] * yard.one_over[s]
                    high = low + number[i] * yard.one_over[s]
                    other = yard.standing[others, m] * yard.one_over[t]
                    desk.gain[m] += yard.weight[e] * max(0.0, min(high, other) - low)


@kernel
def left_by(yard, desk, m):
    """The shares of all resources that the machine has left beside the part, summed up."""
    total = 0.0
    for r in range(desk.request.shape[0]):
        total += (yard.free[m, r] - desk.request[r]) * yard.unit[m, r]
    return total


@kernel
def best_for(yard, desk, service, number):
    """The machine where the part gains most; among equals the one that it fills most, then the first; -1 if none takes it."""
    if filter_machines(yard, desk, service, number) == 0:
        return -1
    add_gains(yard, desk, service, number)
    best, most, left = -1, 0.0, 0.0
    for m in range(desk.takes.shape[0]):
        if desk.takes[m] and (best < 0 or desk.gain[m] >= most - SAME):
            rest = left_by(yard, desk, m)
            if best < 0 or desk.gain[m] > most + SAME or rest < left:
                best, most, left = m, desk.gain[m], rest
    return best


@kernel
def pack_part(yard, desk, service, number):
    """Put the part where it is best; that machine, or -1 if none takes it."""
    m = best_for(yard, desk, service, number)
    if m >= 0:
        for i in range(service.shape[0]):
            book(yard, service[i], m, number[i])
    return m


def desk_of(yard: Yard) -> Desk:
    """Scratch of the size of a yard."""
    n_m, n_r = yard.free.shape
    return Desk(
        request=np.zeros(n_r, dtype=np.int64),
        member=np.zeros(len(yard.spare), dtype=np.int64),
        takes=np.zeros(n_m, dtype=np.bool_),
        gain=np.zeros(n_m),
    )


def warm_up() -> None:
    """Compile `pack_part`, with the types it uses."""
    yard = smallest_yard()
    pack_part(yard, desk_of(yard), np.arange(2), np.ones(2, dtype=np.int64))
