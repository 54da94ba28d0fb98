"""Services one after the other, each container where it gains most affinity (004 Definition 1) at this moment."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.kernels.search.compiled import kernel

SAME = 1e-12  # gains that differ by less are equal: the total affinity is 1


class Wanted(NamedTuple):
    """What is to be placed."""

    missing: npt.NDArray[np.int64]  # (service,) containers
    replicas: npt.NDArray[np.int64]  # (service,) d of 004 (1)
    request: npt.NDArray[np.int64]  # (service, resource)
    row_of: npt.NDArray[np.int64]  # (service,) row of `allow`
    allow: npt.NDArray[np.bool_]  # (row, machine)
    set_start: npt.NDArray[np.int64]  # (service + 1,) anti-affinity sets of a service
    set_of: npt.NDArray[np.int64]  # (entry,)
    edge_start: npt.NDArray[np.int64]  # (service + 1,) neighbours of a service
    other: npt.NDArray[np.int64]  # (entry,) service
    weight: npt.NDArray[np.float64]  # (entry,)


class Floor(NamedTuple):
    """What the machines have; all of it changes."""

    room: npt.NDArray[np.int64]  # (machine, resource)
    spare: npt.NDArray[np.int64]  # (set, machine)
    standing: npt.NDArray[np.int64]  # (service, machine) containers that count in (1)
    gain: npt.NDArray[np.float64]  # (machine,) scratch: of one more container of the service at hand; -1 if none fits
    takes: npt.NDArray[np.int64]  # (machine,) scratch: how many more of the service at hand its resources take


@kernel
def fits(wanted, floor, s, m):
    """May one more container of s come to machine m?"""
    if not wanted.allow[wanted.row_of[s], m]:
        return False
    for r in range(floor.room.shape[1]):
        if wanted.request[s, r] > floor.room[m, r]:
            return False
    for e in range(wanted.set_start[s], wanted.set_start[s + 1]):
        if floor.spare[wanted.set_of[e], m] <= 0:
            return False
    return True


@kernel
def gain_of(wanted, floor, s, m):
    """The affinity that one more container of s gains on machine m."""
    total = 0.0
    here = floor.standing[s, m] / wanted.replicas[s]
    then = (floor.standing[s, m] + 1) / wanted.replicas[s]
    for e in range(wanted.edge_start[s], wanted.edge_start[s + 1]):
        t = wanted.other[e]
        most = floor.standing[t, m] / wanted.replicas[t]
        if most > here:
            total += wanted.weight[e] * (min(then, most) - here)
    return total


@kernel
def times(wanted, floor, s, m):
    """How many more containers of s the resources of machine m take."""
    most = np.iinfo(np.int64).max
    for r in range(floor.room.shape[1]):
        if wanted.request[s, r] > 0:
            most = min(most, floor.room[m, r] // wanted.request[s, r])
    return most


@kernel
def look(wanted, floor, s, m):
    """Note what one more container of s is worth on machine m, and how many it takes."""
    floor.takes[m] = times(wanted, floor, s, m)
    floor.gain[m] = gain_of(wanted, floor, s, m) if fits(wanted, floor, s, m) else -1.0


@kernel
def best_machine(floor):
    """The machine of most gain; among equals the one that takes most, then the first; -1 if none fits."""
    best, most, left = -1, 0.0, np.int64(0)
    for m in range(floor.gain.shape[0]):
        by = floor.gain[m]
        if by < most - SAME or by < 0.0:
            continue
        if best < 0 or by > most + SAME or floor.takes[m] > left:
            best, most, left = m, max(by, most), floor.takes[m]
    return best


@kernel
def drop(wanted, floor, s, m):
    """One more container of s on machine m."""
    for r in range(floor.room.shape[1]):
        floor.room[m, r] -= wanted.request[s, r]
    for e in range(wanted.set_start[s], wanted.set_start[s + 1]):
        floor.spare[wanted.set_of[e], m] -= 1
    floor.standing[s, m] += 1


@kernel
def fill_by_gain(wanted, order, floor, count_out):
    """Place what is missing, service by service in the given order; what fits nowhere stays missing. `floor` changes."""
    for s in order:
        if wanted.missing[s] <= 0:
            continue
        for m in range(floor.gain.shape[0]):
            look(wanted, floor, s, m)
        for _ in range(wanted.missing[s]):
            m = best_machine(floor)
            if m < 0:
                break
            drop(wanted, floor, s, m)
            count_out[s, m] += 1
            look(wanted, floor, s, m)


def warm_up() -> None:
    """Compile the greedy pass, with the types it uses."""
    whole, none, table = np.ones(1, dtype=np.int64), np.zeros(0, dtype=np.int64), np.ones((1, 1), dtype=np.int64)
    starts, may = np.zeros(2, dtype=np.int64), np.ones((1, 1), dtype=np.bool_)
    wanted = Wanted(whole, whole, table, 0 * whole, may, starts, none, starts, none, np.zeros(0))
    floor = Floor(table.copy(), np.zeros((0, 1), dtype=np.int64), table.copy(), np.zeros(1), whole.copy())
    fill_by_gain(wanted, np.zeros(1, dtype=np.int64), floor, table.copy())
