"""A yard of machines while containers are put there one by one, or part by part.

Counts are kept only for services that have traffic (a `line` each): the others are never asked for.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.search.compiled import kernel


class Yard(NamedTuple):
    """What is fixed and what changes. Services are workloads of the cluster. Only the last block changes."""

    request: npt.NDArray[np.int64]  # (service, resource); 0 where no capacity rule counts
    one_over: npt.NDArray[np.float64]  # (service,) 1 / d of 004 (1)
    row_of: npt.NDArray[np.int64]  # (service,) row of `allow`
    allow: npt.NDArray[np.bool_]  # (row, machine)
    set_start: npt.NDArray[np.int64]  # (service + 1,) anti-affinity sets of a service
    set_of: npt.NDArray[np.int64]  # (membership,)
    edge_start: npt.NDArray[np.int64]  # (service + 1,) neighbours of a service
    neighbour: npt.NDArray[np.int64]  # (half edge,) service
    weight: npt.NDArray[np.float64]  # (half edge,) of a total of 1
    line_of: npt.NDArray[np.int64]  # (service,) row of `standing`, or -1 without traffic
    unit: npt.NDArray[np.float64]  # (machine, resource) 1 / capacity, 0 where no rule counts

    free: npt.NDArray[np.int64]  # (machine, resource)
    spare: npt.NDArray[np.int32]  # (set, machine) containers of the set that may still come
    standing: npt.NDArray[np.int32]  # (line, machine) containers that stand there


@kernel
def may_come(yard, s, m):
    """May one more container of the service stand on the machine, as far as allow lists and anti-affinity go?"""
    if not yard.allow[yard.row_of[s], m]:
        return False
    for e in range(yard.set_start[s], yard.set_start[s + 1]):
        if yard.spare[yard.set_of[e], m] <= 0:
            return False
    return True


@kernel
def fits(yard, s, m):
    """May one more container of the service stand on the machine?"""
    for r in range(yard.free.shape[1]):
        if yard.request[s, r] > 0 and yard.request[s, r] > yard.free[m, r]:
            return False
    return may_come(yard, s, m)


@kernel
def book(yard, s, m, by):
    """So many containers of the service more on the machine; less, if `by` is negative."""
    for r in range(yard.free.shape[1]):
        yard.free[m, r] -= by * yard.request[s, r]
    for e in range(yard.set_start[s], yard.set_start[s + 1]):
        yard.spare[yard.set_of[e], m] -= by
    if yard.line_of[s] >= 0:
        yard.standing[yard.line_of[s], m] += by


@kernel
def emptiness(yard, s, m):
    """The shares of all resources that are free with one more container of the service, summed up."""
    total = 0.0
    for r in range(yard.free.shape[1]):
        total += (yard.free[m, r] - yard.request[s, r]) * yard.unit[m, r]
    return total


@kernel
def pick(yard, s, sign):
    """The emptiest machine (sign 1) or the fullest one (sign -1) on which the service fits; the first of equals; -1 if none."""
    best, most = -1, -np.inf
    for m in range(yard.free.shape[0]):
        value = sign * emptiness(yard, s, m)
        if value > most and fits(yard, s, m):
            best, most = m, value
    return best


@kernel
def best_fit(yard, service, machine_out):
    """One container of each service of the list, in its order, to the fullest machine that takes it; -1 where none does."""
    for c in range(service.shape[0]):
        machine_out[c] = pick(yard, service[c], -1.0)
        if machine_out[c] >= 0:
            book(yard, service[c], machine_out[c], 1)


@kernel
def go_home(yard, service, home, machine_out):
    """Containers without a machine go back to where they stood, in the order of the list, if they still fit there."""
    for c in range(service.shape[0]):
        if machine_out[c] < 0 and home[c] >= 0 and fits(yard, service[c], home[c]):
            book(yard, service[c], home[c], 1)
            machine_out[c] = home[c]


def smallest_yard() -> Yard:
    """Two services that talk, one machine; arrays of the types that a problem has."""
    row_of, allow = np.zeros(2, dtype=np.int64), np.ones((1, 1), dtype=np.bool_)
    for array in (row_of, allow):
        array.flags.writeable = False  # like those of the model: numba compiles once more for what is read-only
    return Yard(
        request=np.ones((2, 1), dtype=np.int64),
        one_over=np.ones(2),
        row_of=row_of,
        allow=allow,
        set_start=np.zeros(3, dtype=np.int64),
        set_of=np.zeros(0, dtype=np.int64),
        edge_start=np.arange(3),
        neighbour=np.array([1, 0]),
        weight=np.ones(2),
        line_of=np.arange(2),
        unit=np.ones((1, 1)),
        free=np.full((1, 1), 9, dtype=np.int64),
        spare=np.zeros((0, 1), dtype=np.int32),
        standing=np.zeros((2, 1), dtype=np.int32),
    )


def warm_up() -> None:
    """Compile what is called from outside, with the types it uses."""
    yard, service, machine = smallest_yard(), np.arange(2), np.full(2, -1)
    best_fit(yard, service, machine)
    go_home(yard, service, machine, machine.copy())
    pick(yard, service[0], 1.0)
    fits(yard, service[0], 0)
    book(yard, service[0], 0, 1)
    book(yard, 0, machine[0], -1)
