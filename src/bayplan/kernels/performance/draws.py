"""Random choices of a simulation: sizes, the next call, the machine that is called. One uniform number for each."""

import numpy as np

from bayplan.kernels.jit import kernel
from bayplan.kernels.performance.arrays import CONSTANT, PREFER_LOCAL, SPILL_OVER, TWO_PHASES
from bayplan.kernels.random import below, uniform

HEAVY = 0.8872983346207417  # probability of the first of two balanced phases with a squared coefficient of variation of 4


@kernel
def exponential(rng, mean):
    """An exponential random number."""
    return -mean * np.log(uniform(rng))


@kernel
def visit_size(rng, mean, kind):
    """CPU time of one visit."""
    if kind == CONSTANT:
        return mean
    if kind == TWO_PHASES:
        if uniform(rng) <= HEAVY:
            return exponential(rng, mean / (2.0 * HEAVY))
        return exponential(rng, mean / (2.0 * (1.0 - HEAVY)))
    return exponential(rng, mean)


@kernel
def chosen(cumulative, start, end, value):
    """The first place of start..end-1 whose cumulative number is at least the value; `end` if none is."""
    low, high = start, end
    while low < high:
        middle = (low + high) // 2
        if cumulative[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def containers_at(cells, row, machine):
    """Containers of a row on a machine."""
    at = chosen(cells.machine, cells.first[row], cells.first[row + 1], machine)
    if at == cells.first[row + 1] or cells.machine[at] != machine:
        return 0
    return cells.ends[at] - (cells.ends[at - 1] if at > cells.first[row] else 0)


@kernel
def containers_of(cells, row):
    """Containers of a row that run."""
    return cells.ends[cells.first[row + 1] - 1] if cells.first[row + 1] > cells.first[row] else 0


@kernel
def any_machine(cells, row, rng):
    """The machine of any container of a row, each as likely."""
    number = below(rng, containers_of(cells, row)) + 1
    return cells.machine[chosen(cells.ends, cells.first[row], cells.first[row + 1], number)]


@kernel
def peer_machine(cells, row, machine, rng):
    """The machine of any other container of the row of a container on a machine; its own if there is no other."""
    others = containers_of(cells, row) - 1
    if others < 1:
        return machine
    number = below(rng, others) + 1
    at = chosen(cells.machine, cells.first[row], cells.first[row + 1], machine)
    if number >= cells.ends[at]:  # the caller is the last container there
        number += 1
    return cells.machine[chosen(cells.ends, cells.first[row], cells.first[row + 1], number)]


@kernel
def spill_over(cells, caller_row, row, machine, rng):
    """The caller's machine until its replicas have had their fair share, else one where they have not.

    Another machine is drawn with its share of the replicas, and kept with the part of it that callers there leave.
    """
    of_caller, of_callee = containers_of(cells, caller_row), containers_of(cells, row)
    here = containers_at(cells, row, machine) / of_callee
    callers = containers_at(cells, caller_row, machine) / of_caller
    if uniform(rng) * callers <= here:
        return machine
    while True:
        other = any_machine(cells, row, rng)
        share = containers_at(cells, row, other) / of_callee
        if uniform(rng) * share <= share - min(share, containers_at(cells, caller_row, other) / of_caller):
            return other


@kernel
def called_machine(router, cells, caller_row, row, machine, rng):
    """The machine of the replica that a call from a machine goes to."""
    if router == SPILL_OVER:
        return spill_over(cells, caller_row, row, machine, rng)
    if router == PREFER_LOCAL and containers_at(cells, row, machine) > 0:
        return machine
    return any_machine(cells, row, rng)
